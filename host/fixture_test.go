//go:build linux

package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sessionhost "hardshell/host"
	"hardshell/internal/hostwire"
	"hardshell/internal/racecheck"
	"hardshell/internal/spawn"
	"hardshell/internal/state"
	"hardshell/sandbox"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
)

// hang bounds every wait: far beyond what a slow machine needs.
const hang = 30 * time.Second

// clientArgument makes this program a harness; see attachForEver.
const clientArgument = "a-harness"

// nativeArgument makes this program the session host as it is shipped.
const nativeArgument = "a-native-host"

// TestMain makes this program the session host, or a harness, when it is
// started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case sessionhost.Argument:
			os.Exit(sessionhost.Run(func(state.Home, *slog.Logger) (sandbox.Provider, error) { return fake{}, nil }))
		case nativeArgument:
			os.Exit(sessionhost.Main())
		case clientArgument:
			attachForEver(os.Args[2:])
		}
	}
	os.Exit(racecheck.Main(m))
}

// fake is a sandbox of which confined commands can tell: it sets a variable to
// the mode. It refuses a workspace of the name "refused".
type fake struct{}

type fakeConfinement struct{ policy sandbox.Policy }

func (fake) Confine(_ context.Context, policy sandbox.Policy) (sandbox.Confinement, error) {
	if filepath.Base(policy.WorkspaceRoot) == "refused" {
		return nil, sandbox.Unavailable(policy.Mode, "the test wants it so")
	}
	return fakeConfinement{policy}, nil
}

func (fake) Close() error { return nil }

func (c fakeConfinement) Confines() string { return "fake" }
func (c fakeConfinement) Report() sandbox.Report {
	return sandbox.Report{Mode: c.policy.Mode, Backend: "fake", Tier: sandbox.TierLandlock}
}
func (c fakeConfinement) Denied(o sandbox.Outcome) bool { return strings.Contains(o.Stderr, "denied") }
func (c fakeConfinement) Start(a *spawn.Attr) (*spawn.Child, error) {
	inside := *a
	inside.Env = append(inside.Env[:len(inside.Env):len(inside.Env)], "CONFINED="+string(c.policy.Mode))
	return spawn.Start(&inside)
}

// fixture is one session with its home.
type fixture struct {
	*testing.T
	home  state.Home
	files hostwire.Files
	// marker is argument 1 of all scripts; sleep takes it for ten minutes.
	marker string
}

var markers atomic.Int64

const session = "s"

func newFixture(t *testing.T) *fixture { return newFixtureIn(t, filepath.Join(t.TempDir(), "home")) }

func newFixtureIn(t *testing.T, dir string) *fixture {
	home, err := state.ResolveHome(dir)
	if err == nil {
		err = home.Ensure(home.Run())
	}
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{
		T: t, home: home, files: hostwire.FilesOf(home.Run(), session),
		marker: fmt.Sprintf("600.%07d%05d", os.Getpid(), markers.Add(1)),
	}
	t.Cleanup(f.expectEnd)
	return f
}

// expectEnd is the end of every test: no host, no command and no file of the
// run directory but locks is left.
func (f *fixture) expectEnd() {
	f.awaitNoHost()
	for _, pid := range f.alive() {
		f.Errorf("process %d is left", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	}
	entries, err := os.ReadDir(f.files.Dir)
	if err != nil {
		f.Error(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); !strings.HasSuffix(name, ".lock") && !strings.HasSuffix(name, ".start") {
			f.Errorf("%s is left in the run directory", name)
		}
	}
}

// awaitNoHost waits until no host holds the lock.
func (f *fixture) awaitNoHost() {
	f.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	lock, err := state.Lock(ctx, f.files.Lock)
	if err != nil {
		f.Fatalf("the host lives on: %v", err)
	}
	lock.Release()
}

// client returns a runtime that is closed, at once, at the end of the test.
func (f *fixture) client(edit ...func(*host.Config)) *host.Runtime {
	config := host.Config{Home: f.home, SessionID: session}
	for _, e := range edit {
		e(&config)
	}
	r := host.New(config)
	f.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := r.Close(ctx); err != nil {
			f.Errorf("Close = %v", err)
		}
	})
	return r
}

// spec is a script with the marker as argument 1 and the home as argument 2.
func (f *fixture) spec(script string) subprocess.Spec {
	collect := subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 64000}
	return subprocess.Spec{
		Argv:  []string{"bash", "-c", script, "bash", f.marker, f.home.Root()},
		Stdin: subprocess.Stdin{Mode: subprocess.StdinIgnore}, Stdout: collect, Stderr: collect,
		Grace: 5 * time.Second,
	}
}

func (f *fixture) start(r subprocess.Runtime, spec subprocess.Spec) subprocess.Handle {
	f.Helper()
	h, err := r.Spawn(context.Background(), spec)
	if err != nil {
		f.Fatalf("Spawn = %v", err)
	}
	return h
}

func (f *fixture) await(h subprocess.Handle) {
	f.Helper()
	select {
	case <-h.Done():
	case <-time.After(hang):
		f.Fatal("Done did not come")
	}
}

// output runs a script and returns what it prints.
func (f *fixture) output(r subprocess.Runtime, script string) string {
	f.Helper()
	h := f.start(r, f.spec(script))
	f.await(h)
	return strings.TrimSpace(h.Reader(subprocess.Stdout).Collected().Text)
}

// hostOf is the process id of the host that a runtime is attached to.
func (f *fixture) hostOf(r subprocess.Runtime) int {
	f.Helper()
	pid, err := strconv.Atoi(f.output(r, "echo $PPID"))
	if err != nil {
		f.Fatal(err)
	}
	return pid
}

func (f *fixture) waitFor(what string, condition func() bool) {
	f.Helper()
	for deadline := time.Now().Add(hang); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("waited %v in vain for %s", hang, what)
		}
	}
}

// alive lists the processes with the marker that are sleep.
func (f *fixture) alive() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if args := strings.Split(string(line), "\x00"); len(args) > 1 && args[0] == "sleep" && args[1] == f.marker {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (f *fixture) awaitAlive(n int) {
	f.Helper()
	f.waitFor(fmt.Sprintf("%d processes", n), func() bool { return len(f.alive()) == n })
}

// harness is another process that is attached.
type harness struct{ cmd *exec.Cmd }

// harness starts one whose command is running when this returns.
func (f *fixture) harness(keep bool, script string) *harness {
	f.Helper()
	argv, _ := json.Marshal(f.spec(script).Argv)
	h := &harness{exec.Command(os.Args[0], clientArgument, f.home.Root(), strconv.FormatBool(keep), string(argv))}
	h.cmd.Stderr = os.Stderr
	out, err := h.cmd.StdoutPipe()
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(h.kill)
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "running\n" {
		f.Fatalf("the harness says %q", line)
	}
	return h
}

func (h *harness) kill() {
	h.cmd.Process.Kill()
	h.cmd.Wait()
}

// attachForEver is the main of a harness.
func attachForEver(args []string) {
	home, err := state.ResolveHome(args[0])
	var argv []string
	if err == nil {
		err = json.Unmarshal([]byte(args[2]), &argv)
	}
	if err == nil {
		r := host.New(host.Config{Home: home, SessionID: session, Keep: args[1] == "true"})
		_, err = r.Spawn(context.Background(), subprocess.Spec{
			Argv:   argv,
			Stdin:  subprocess.Stdin{Mode: subprocess.StdinIgnore},
			Stdout: subprocess.Output{Mode: subprocess.OutputIgnore},
			Stderr: subprocess.Output{Mode: subprocess.OutputIgnore},
			Grace:  2 * time.Second,
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("running")
	select {}
}
