//go:build unix

package subprocesstest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hardshell/subprocess"
)

const (
	// hang bounds every wait: far beyond what a slow machine needs.
	hang = 30 * time.Second
	// brief is a grace for checks that wait it out.
	brief = 300 * time.Millisecond
	// long is a grace that no check may wait out.
	long = 10 * time.Minute
	// drainWindow is what the seam promises to streams that a background
	// process holds open, when the grace is not shorter.
	drainWindow = 500 * time.Millisecond
)

// fixture is what one check works with: a runtime of its own, a directory, and
// a marker that all its processes carry in their arguments.
type fixture struct {
	*testing.T
	open func(*testing.T, Options) subprocess.Runtime

	// Runtime is the runtime under test. Its spill files go to SpillDir.
	Runtime  subprocess.Runtime
	SpillDir string
	// Dir is an empty directory of this check: argument 2 of its scripts.
	Dir string
	// Marker is argument 1 of its scripts; sleep takes it for ten minutes.
	Marker string
}

func newFixture(t *testing.T, open func(*testing.T, Options) subprocess.Runtime) *fixture {
	f := &fixture{T: t, open: open, Marker: newMarker()}
	t.Cleanup(f.expectNothingAlive)
	f.Dir = t.TempDir()
	f.SpillDir = filepath.Join(t.TempDir(), "spill")
	if err := os.Mkdir(f.SpillDir, 0o700); err != nil {
		t.Fatal(err)
	}
	f.use(Options{SpillDir: f.SpillDir})
	return f
}

// use replaces the runtime under test. The one that it opens is closed, at
// once and without a grace, at the end of the check.
func (f *fixture) use(o Options) {
	f.Helper()
	r := f.open(f.T, o)
	f.Runtime = r
	f.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := f.closing(r, ctx); err != nil {
			f.Errorf("Close at the end of the check: %v", err)
		}
	})
}

// closing closes a runtime, within bounds, and returns its error.
func (f *fixture) closing(r subprocess.Runtime, ctx context.Context) error {
	f.Helper()
	result := make(chan error, 1)
	go func() { result <- r.Close(ctx) }()
	select {
	case err := <-result:
		return err
	case <-time.After(hang):
		f.Fatalf("Close did not return within %v", hang)
		return nil
	}
}

// close closes the runtime under test and expects no error.
func (f *fixture) close() {
	f.Helper()
	if err := f.closing(f.Runtime, context.Background()); err != nil {
		f.Errorf("Close = %v, want no error", err)
	}
}

// path names a file in the check's directory.
func (f *fixture) path(name string) string { return filepath.Join(f.Dir, name) }

// touch opens the gate that a script waits for.
func (f *fixture) touch(name string) {
	f.Helper()
	if err := os.WriteFile(f.path(name), nil, 0o600); err != nil {
		f.Fatal(err)
	}
}

// exists reports whether the check's directory holds the file.
func (f *fixture) exists(name string) bool {
	_, err := os.Lstat(f.path(name))
	return err == nil
}

// read returns a file of the check's directory.
func (f *fixture) read(name string) string {
	f.Helper()
	data, err := os.ReadFile(f.path(name))
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}

// program is a spec of one program: no input, both outputs collected.
func (f *fixture) program(argv ...string) subprocess.Spec {
	return subprocess.Spec{
		Argv:   argv,
		Stdin:  subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Stdout: collect(64000),
		Stderr: collect(64000),
		Grace:  5 * time.Second,
	}
}

// prelude gives every script a gate: "await NAME" waits until the check has
// touched a file of that name.
const prelude = `await() { until [ -e "$dir/$1" ]; do sleep 0.01; done; }; marker=$1 dir=$2
`

// bash is a spec of one script. The script has the variables marker and dir,
// and the function await.
func (f *fixture) bash(script string) subprocess.Spec {
	return f.program("bash", "-c", prelude+script, "bash", f.Marker, f.Dir)
}

// start spawns spec and expects that it works.
func (f *fixture) start(spec subprocess.Spec) subprocess.Handle {
	f.Helper()
	return f.startIn(context.Background(), spec)
}

// startIn spawns spec under a context and expects that it works.
func (f *fixture) startIn(ctx context.Context, spec subprocess.Spec) subprocess.Handle {
	f.Helper()
	h, err := f.Runtime.Spawn(ctx, spec)
	if err != nil {
		f.Fatalf("Spawn(%.80q) = %v, want no error", spec.Argv[0], err)
	}
	return h
}

// run spawns spec and waits for its end.
func (f *fixture) run(spec subprocess.Spec) subprocess.Handle {
	f.Helper()
	h := f.start(spec)
	f.await(h)
	return h
}

// await waits for Done.
func (f *fixture) await(h subprocess.Handle) {
	f.Helper()
	select {
	case <-h.Done():
	case <-time.After(hang):
		f.Fatalf("Done did not come within %v; the streams so far: %q, %q", hang, stdout(h), stderr(h))
	}
}

// awaitExited waits for the end of the leader.
func (f *fixture) awaitExited(h subprocess.Handle) {
	f.Helper()
	select {
	case <-h.Exited():
	case <-time.After(hang):
		f.Fatalf("Exited did not come within %v", hang)
	}
}

// awaitTree waits until the tree is gone.
func (f *fixture) awaitTree(h subprocess.Handle) {
	f.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	if err := h.WaitTree(ctx); err != nil {
		f.Fatalf("WaitTree = %v, want nil", err)
	}
}

// awaitText waits until the collected stdout is text.
func (f *fixture) awaitText(h subprocess.Handle, text string) {
	f.Helper()
	for deadline := time.Now().Add(hang); stdout(h) != text; time.Sleep(2 * time.Millisecond) {
		select {
		case <-h.Done():
			if stdout(h) == text {
				return
			}
			f.Fatalf("the command ended with %+v, the stdout %q and the stderr %q: want the stdout %q", h.Exit(), stdout(h), stderr(h), text)
		default:
		}
		if time.Now().After(deadline) {
			f.Fatalf("waited %v in vain for the stdout %q: it is %q, the stderr %q, the processes %v",
				hang, text, stdout(h), stderr(h), f.states(h.PID()))
		}
	}
}

// states tells what a process and those with the marker do.
func (f *fixture) states(pid int) []string {
	var states []string
	for _, pid := range append(f.alive(), pid) {
		fields, _ := stat(pid)
		where, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
		states = append(states, fmt.Sprintf("%d %.200q %.12q in %s", pid, commandLine(pid), fields, where))
	}
	return states
}

// waitFor polls until the condition holds.
func (f *fixture) waitFor(what string, condition func() bool) {
	f.Helper()
	for deadline := time.Now().Add(hang); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("waited %v in vain for %s", hang, what)
		}
	}
}
