//go:build linux

package host_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hardshell/internal/hostwire"
	"hardshell/internal/state"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
	"hardshell/subprocess/local"
)

// program is the hardshell to measure; this program serves as well, and starts
// a little later than the small one.
func program() []string {
	if built := os.Getenv("HARDSHELL_BENCH"); built != "" {
		return []string{built, hostwire.Argument}
	}
	return []string{os.Args[0], nativeArgument}
}

func benchHome(b *testing.B) state.Home {
	home, err := state.ResolveHome(filepath.Join(b.TempDir(), "home"))
	if err != nil {
		b.Fatal(err)
	}
	return home
}

// bashTrue is what the measures are relative to.
func bashTrue(b *testing.B, r subprocess.Runtime) time.Duration {
	began := time.Now()
	collect := subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 64000}
	h, err := r.Spawn(context.Background(), subprocess.Spec{
		Argv:  []string{"/bin/bash", "-c", "true"},
		Stdin: subprocess.Stdin{Mode: subprocess.StdinIgnore}, Stdout: collect, Stderr: collect,
		Grace: time.Second,
	})
	if err != nil {
		b.Fatal(err)
	}
	<-h.Done()
	return time.Since(began)
}

func bare(b *testing.B) time.Duration {
	began := time.Now()
	if err := exec.Command("/bin/bash", "-c", "true").Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// report tells medians in milliseconds. They were taken in turns, so that their
// quotients mean something on a busy machine.
func report(b *testing.B, measures map[string][]time.Duration) {
	b.ReportMetric(0, "ns/op")
	for name, m := range measures {
		slices.Sort(m)
		b.ReportMetric(float64(m[len(m)/2])/1e6, name+"-ms")
	}
}

func BenchmarkSpawn(b *testing.B) {
	through := host.New(host.Config{Home: benchHome(b), SessionID: session, Command: program()})
	defer through.Close(context.Background())
	here := local.New(local.Config{})
	defer here.Close(context.Background())
	bashTrue(b, through)
	measures := map[string][]time.Duration{}
	for b.Loop() {
		measures["host"] = append(measures["host"], bashTrue(b, through))
		measures["local"] = append(measures["local"], bashTrue(b, here))
		measures["bare"] = append(measures["bare"], bare(b))
	}
	report(b, measures)
}

// BenchmarkStart measures from the need for a host to the end of its first
// command.
func BenchmarkStart(b *testing.B) {
	home := benchHome(b)
	if err := home.Ensure(home.Run()); err != nil {
		b.Fatal(err)
	}
	measures := map[string][]time.Duration{}
	for b.Loop() {
		r := host.New(host.Config{Home: home, SessionID: session, Command: program()})
		measures["first"] = append(measures["first"], bashTrue(b, r))
		r.Close(context.Background())
		lock, err := state.Lock(context.Background(), hostwire.FilesOf(home.Run(), session).Lock)
		if err != nil {
			b.Fatal(err)
		}
		lock.Release()
		measures["bare"] = append(measures["bare"], bare(b))
	}
	report(b, measures)
}
