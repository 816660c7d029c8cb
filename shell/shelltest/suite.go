package shelltest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hardshell/shell"
	"hardshell/subprocess"
)

// Options are the settings that a check asks a fixture for. A zero field takes
// the executor's default.
type Options struct {
	// Timeout and MaxTimeout are the default and the cap of a foreground run.
	Timeout    time.Duration
	MaxTimeout time.Duration
	// MaxOutputBytes is the window of each stream, MaxSpillBytes the size of
	// the longest stream that has a file.
	MaxOutputBytes int64
	MaxSpillBytes  int64
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration
	// Workdir is where commands run that name no place. All that the suite's
	// commands write, besides the null device, is below the Workdir of their
	// fixture or a directory that the check made for them.
	Workdir string
	// SpillDir is the directory for spill files.
	SpillDir string
	// Ambient is the environment of the harness, in the form of os.Environ; nil
	// is that of this process.
	Ambient []string
}

// Fixture is one executor to check, with what it stands on.
type Fixture struct {
	Executor shell.Executor
	// Runtime owns the children of Executor. Some checks close it.
	Runtime subprocess.Runtime
	// Reconfigure replaces the executor's settings; it fails and changes
	// nothing when they are invalid. It is nil when the executor has no such
	// way, and the checks of it are then skipped.
	Reconfigure func(Options) error
	// Close ends every tree and releases what the fixture holds. It is called
	// once, also after Runtime was closed. Nil closes Runtime.
	Close func(context.Context) error
}

// Run checks that the executors which newFixture builds keep the promises of
// the seam. It changes the working directory and the environment of this
// process for a while, so t must not be parallel. NewFixture is called from
// parallel subtests.
func Run(t *testing.T, newFixture func(t *testing.T, o Options) Fixture) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands of this suite are scripts for a POSIX system")
	}
	s := suite{newFixture}
	t.Run("resolve", s.resolve)
	t.Run("settings", s.settings)
	t.Run("outcome", s.outcome)
	t.Run("failure", s.failure)
	t.Run("workdir", s.workdir)
	t.Run("long", s.long)
	t.Run("argv", s.argv)
	t.Run("stdin", s.stdin)
	t.Run("descriptors", s.descriptors)
	t.Run("live", s.live)
	t.Run("output", s.output)
	t.Run("spill", s.spill)
	t.Run("environment", s.environment)
	t.Run("timeout", s.timeout)
	t.Run("drain", s.drain)
	t.Run("tree", s.tree)
	t.Run("close", s.close)
	t.Run("process", s.process)
	t.Run("read", s.read)
	t.Run("race", s.race)
	t.Run("harness", s.harness)
	t.Run("cost", s.cost)
}

type suite struct {
	newFixture func(t *testing.T, o Options) Fixture
}

// rig is a fixture in use by one check.
type rig struct {
	shell.Executor
	runtime     subprocess.Runtime
	reconfigure func(Options) error
	// dir is the workdir of the commands, empty at first; spill is the
	// directory of the spill files.
	dir, spill string
}

// rig builds a fixture for one check, with a short grace and directories of its
// own where o asks for nothing else.
func (s suite) rig(t *testing.T, o Options) *rig {
	t.Helper()
	if o.Grace == 0 {
		o.Grace = 300 * time.Millisecond
	}
	if o.Workdir == "" {
		o.Workdir = tempDir(t)
	}
	if o.SpillDir == "" {
		o.SpillDir = tempDir(t)
	}
	return s.bareRig(t, o)
}

// bareRig builds a fixture from exactly these options.
func (s suite) bareRig(t *testing.T, o Options) *rig {
	t.Helper()
	f := s.newFixture(t, o)
	if f.Executor == nil || f.Runtime == nil {
		t.Fatal("the fixture has no executor or no runtime")
	}
	closeAll := f.Close
	if closeAll == nil {
		closeAll = f.Runtime.Close
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := closeAll(ctx); err != nil {
			t.Errorf("closing the fixture: %v", err)
		}
	})
	return &rig{f.Executor, f.Runtime, f.Reconfigure, o.Workdir, o.SpillDir}
}

// try resolves and runs a request in the foreground.
func (r *rig) try(ctx context.Context, req shell.Request) (*shell.Result, error) {
	spec, err := r.Resolve(req)
	if err != nil {
		return nil, err
	}
	return r.Run(ctx, spec)
}

// run is try for a request that must yield a result.
func (r *rig) run(t *testing.T, req shell.Request) *shell.Result {
	t.Helper()
	return r.runIn(t, guard(t), req)
}

func (r *rig) runIn(t *testing.T, ctx context.Context, req shell.Request) *shell.Result {
	t.Helper()
	res, err := r.try(ctx, req)
	if err != nil {
		t.Fatalf("Run(%s): %v", describe(req), err)
	}
	if res == nil {
		t.Fatalf("Run(%s) gave neither a result nor an error", describe(req))
	}
	if res.TimedOut && res.Aborted {
		t.Fatalf("Run(%s): both timed out and aborted", describe(req))
	}
	return res
}

// sh runs a script that must yield a result.
func (r *rig) sh(t *testing.T, script string) *shell.Result {
	t.Helper()
	return r.run(t, shell.Request{Command: script})
}

// start resolves and starts a request in the background.
func (r *rig) start(t *testing.T, req shell.Request) shell.Process {
	t.Helper()
	return r.startIn(t, guard(t), req)
}

func (r *rig) startIn(t *testing.T, ctx context.Context, req shell.Request) shell.Process {
	t.Helper()
	spec, err := r.Resolve(req)
	if err != nil {
		t.Fatalf("Resolve(%s): %v", describe(req), err)
	}
	p, err := r.Start(ctx, spec)
	if err != nil || p == nil {
		t.Fatalf("Start(%s) = %v, %v; want a process", describe(req), p, err)
	}
	return p
}

// bg starts a script in the background.
func (r *rig) bg(t *testing.T, script string) shell.Process {
	t.Helper()
	return r.start(t, shell.Request{Command: script})
}

// path is the absolute name of a file in the rig's workdir.
func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

// confines reports whether the executor under test is a sandboxing one.
func (r *rig) confines() bool {
	_, ok := r.SandboxMode()
	return ok
}

// tempDir is a new directory by its physical name.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func touch(t *testing.T, path string) {
	t.Helper()
	write(t, path, "", 0o644)
}

func write(t *testing.T, path, content string, perm os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), perm); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func describe(req shell.Request) string {
	const longest = 120
	text := req.Command
	if req.Argv != nil {
		return "an argv"
	}
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return text
}
