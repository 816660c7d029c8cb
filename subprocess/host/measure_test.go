//go:build linux

package host_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hardshell/internal/hostwire"
	"hardshell/internal/state"
	"hardshell/sandbox"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
	"hardshell/subprocess/local"
)

func TestMeasure(t *testing.T) {
	bin := os.Getenv("HS_BIN")
	if bin == "" {
		t.Skip()
	}
	home, _ := state.ResolveHome(filepath.Join(t.TempDir(), "home"))
	spec := subprocess.Spec{Argv: []string{"/bin/bash", "-c", "true"}, Grace: time.Second,
		Stdin:  subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Stdout: subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 64000},
		Stderr: subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 64000}}
	run := func(r subprocess.Runtime) time.Duration {
		b := time.Now()
		h, err := r.Spawn(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		<-h.Done()
		return time.Since(b)
	}
	med := func(d []time.Duration) time.Duration { slices.Sort(d); return d[len(d)/2] }
	var starts, firsts []time.Duration
	for range 15 {
		r := host.New(host.Config{Home: home, SessionID: "m", Command: []string{bin, "session-host"}})
		firsts = append(firsts, run(r))
		_ = starts
		r.Close(context.Background())
		awaitFreeSession(home, "m")
	}
	r := host.New(host.Config{Home: home, SessionID: "m", Command: []string{bin, "session-host"}})
	l := local.New(local.Config{})
	conf := spec
	cf, err := r.Sandbox().Confine(context.Background(), sandbox.Policy{Mode: sandbox.WorkspaceWrite, WorkspaceRoot: t.TempDir(), SessionID: "m"})
	if err != nil {
		t.Fatal(err)
	}
	conf.Confinement = cf
	var a, b, c, d []time.Duration
	for range 400 {
		a = append(a, run(r))
		b = append(b, run(l))
		plain := spec
		spec = conf
		d = append(d, run(r))
		spec = plain
		s := time.Now()
		exec.Command("/bin/bash", "-c", "true").Run()
		c = append(c, time.Since(s))
	}
	fmt.Println("first command with start", med(firsts), "host", med(a), "local", med(b), "os/exec", med(c), "host confined", med(d), cf.Report().Tier)
	out, _ := exec.Command("sh", "-c", "for p in $(pgrep -f 'session-host "+home.Root()+"'); do echo $p; grep -E 'Pss|Rss|Private' /proc/$p/smaps_rollup; grep -E Threads /proc/$p/status; ls /proc/$p/fd | wc -l; done").CombinedOutput()
	fmt.Println(string(out))
	r.Close(context.Background())
	l.Close(context.Background())
}

func awaitFreeSession(home state.Home, s string) {
	for {
		if l, ok, _ := state.TryLock(filepath.Join(home.Run(), fmt.Sprint(lockName(s)))); ok {
			l.Release()
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func lockName(s string) string {
	return filepath.Base(hostwireFiles(s))
}

func hostwireFiles(s string) string { return hostwire.FilesOf("x", s).Lock }
