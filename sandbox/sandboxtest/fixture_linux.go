package sandboxtest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hardshell/internal/state"
	"hardshell/sandbox"
	"hardshell/subprocess"
)

const (
	// hang bounds every wait: far beyond what a slow machine needs.
	hang = 60 * time.Second
	// session is the session of most policies, stranger another one.
	session  = "session-1"
	stranger = "session-2"
	// secret is the content of everything that must not be read.
	secret = "MUST-NOT-BE-READ"
)

// fixture is what one check works with: a provider of its own and a small world
// of files around it, on a file system that no tier makes private.
type fixture struct {
	*testing.T
	Fixture
	home   state.Home
	tier   expectation
	binary string
	shared *shared

	// Base holds everything below.
	Base string
	// Workspace is the workspace of the policies: $ws of the scripts.
	Workspace string
	// Outside is a populated directory that no policy grants: $out.
	Outside string
	// UserHome is $HOME of the children.
	UserHome string
	// Marker is an argument that sleep takes for ten minutes: $marker.
	Marker string
}

func newFixture(t *testing.T, open func(*testing.T, string) Fixture, shared *shared) *fixture {
	t.Helper()
	f := &fixture{T: t, binary: shared.binary, shared: shared, Marker: newMarker()}
	t.Cleanup(f.expectNothingAlive)
	f.Base = directory(t, shown())
	f.Workspace, f.Outside, f.UserHome = f.Base+"/workspace", f.Base+"/outside", f.Base+"/user"
	for _, dir := range []string{f.Workspace, f.Outside + "/dir", f.UserHome} {
		f.mkdir(dir)
	}
	f.write(f.Outside+"/file", "before\n")
	f.write(f.Outside+"/dir/file", "before\n")
	f.write(f.UserHome+"/.gitconfig", "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n\ttemplateDir =\n[gc]\n\tauto = 0\n")

	given := f.Base + "/hardshell"
	f.Fixture = f.populateHome(given, open)
	tier, known := tiers[f.Tier]
	if !known {
		t.Fatalf("the fixture's tier %q is not in the table of the suite", f.Tier)
	}
	f.tier = tier
	t.Cleanup(f.close)
	return f
}

// populateHome makes a home with what sessions leave in one, and opens it.
func (f *fixture) populateHome(root string, open func(*testing.T, string) Fixture) Fixture {
	f.Helper()
	home, err := state.ResolveHome(root)
	if err != nil {
		f.Fatal(err)
	}
	f.home = home
	dirs := []string{home.Run(), home.Sessions(), home.Spills(), home.Caches(), filepath.Dir(home.Temp(session)), filepath.Dir(home.Jobs(session))}
	for _, id := range []string{session, stranger} {
		dirs = append(dirs, home.Session(id), home.Spill(id), home.Jobs(id)+"/bash-1")
	}
	if err := home.Ensure(dirs...); err != nil {
		f.Fatal(err)
	}
	for _, id := range []string{session, stranger} {
		text := secret
		if id == session {
			text = "of this session"
		}
		f.write(home.SessionLog(id), text+"\n")
		f.write(home.Spill(id)+"/spill", text+"\n")
		f.write(home.Jobs(id)+"/bash-1/log-stdout", text+"\n")
	}
	f.write(home.Run()+"/token", secret+"\n")
	f.write(root+"/settings.yaml", "# "+secret+"\n")
	opened := open(f.T, root)
	if opened.Home == "" {
		opened.Home = root
	}
	return opened
}

// close ends everything of the fixture, at once and without a grace.
func (f *fixture) close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f.within("Runtime.Close", func() { f.Runtime.Close(ctx) })
	f.within("Provider.Close", func() {
		if err := f.Provider.Close(); err != nil {
			f.Errorf("Provider.Close at the end of the check: %v", err)
		}
	})
}

// within runs what must not hang.
func (f *fixture) within(what string, do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(hang):
		f.Errorf("%s did not return within %v", what, hang)
	}
}

// policy is a policy for the workspace and the session of the fixture.
func (f *fixture) policy(mode sandbox.Mode) sandbox.Policy {
	return sandbox.Policy{Mode: mode, WorkspaceRoot: f.Workspace, SessionID: session}
}

// confine confines and expects that it works.
func (f *fixture) confine(policy sandbox.Policy) sandbox.Confinement {
	f.Helper()
	c, err := f.Provider.Confine(context.Background(), policy)
	if err != nil {
		f.Fatalf("Confine(%s) = %v, want no error", policy.Mode, err)
	}
	return c
}

// readOnly and workspaceWrite are the confinements of the plain policies.
func (f *fixture) readOnly() sandbox.Confinement { return f.confine(f.policy(sandbox.ReadOnly)) }
func (f *fixture) workspaceWrite() sandbox.Confinement {
	return f.confine(f.policy(sandbox.WorkspaceWrite))
}

// program is a spec of one program in the workspace, both outputs collected.
func (f *fixture) program(c sandbox.Confinement, argv ...string) subprocess.Spec {
	collect := subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 1 << 20}
	return subprocess.Spec{
		Argv: argv,
		Dir:  f.Workspace,
		Env: map[string]string{"HOME": f.UserHome, "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1",
			// With the race detector an attempt would sleep a second at its end.
			"GORACE": "atexit_sleep_ms=0"},
		Stdin:  subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Stdout: collect, Stderr: collect,
		Grace:       5 * time.Second,
		Confinement: c,
	}
}

// prelude gives every script its names and a gate: "await FILE" waits until
// the file exists, but not for ever: a test that was killed opens no gate.
const prelude = `await() { local n; for n in {1..6000}; do [ ! -e "$1" ] || return 0; sleep 0.02; done; exit 99; }; ws=$1 out=$2 marker=$3 dsh=$4
`

// bash is a spec of one script.
func (f *fixture) bash(c sandbox.Confinement, script string) subprocess.Spec {
	return f.program(c, "bash", "-c", prelude+script, "bash", f.Workspace, f.Outside, f.Marker, f.Home)
}

// start spawns and expects that it works.
func (f *fixture) start(spec subprocess.Spec) subprocess.Handle {
	f.Helper()
	h, err := f.Runtime.Spawn(context.Background(), spec)
	if err != nil {
		f.Fatalf("Spawn(%.80q) = %v, want no error", spec.Argv[0], err)
	}
	return h
}

// run spawns and waits for the end.
func (f *fixture) run(spec subprocess.Spec) result {
	f.Helper()
	return f.await(f.start(spec))
}

// sh runs a script under a confinement.
func (f *fixture) sh(c sandbox.Confinement, script string) result {
	f.Helper()
	return f.run(f.bash(c, script))
}

// await waits for Done.
func (f *fixture) await(h subprocess.Handle) result {
	f.Helper()
	select {
	case <-h.Done():
	case <-time.After(hang):
		f.Fatalf("Done did not come within %v; the streams so far: %q, %q", hang,
			h.Reader(subprocess.Stdout).Collected().Text, h.Reader(subprocess.Stderr).Collected().Text)
	}
	exit := h.Exit()
	return result{
		Code: exit.Code, Signal: exit.Signal,
		Stdout: h.Reader(subprocess.Stdout).Collected().Text,
		Stderr: h.Reader(subprocess.Stderr).Collected().Text,
	}
}

// waitFor polls until the condition holds.
func (f *fixture) waitFor(what string, condition func() bool) {
	f.Helper()
	for deadline := time.Now().Add(hang); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("waited %v in vain for %s", hang, what)
		}
	}
}

// baseVariable overrides where the directories of the checks are.
const baseVariable = "SANDBOXTEST_BASE"

// shown is a directory that this user may write to and that no tier makes
// private, as it does with those for temporary files.
func shown() string {
	if dir := os.Getenv(baseVariable); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return "/var/lib"
	}
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	return "/var/tmp"
}

// directory makes a directory that the whole world may enter, and removes it at the end of the check.
func directory(t *testing.T, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "sandboxtest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// What a child made may not be writable: an attempt at rm says why.
		filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				os.Chmod(path, 0o700)
			}
			return nil
		})
		if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("cleaning up: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (f *fixture) mkdir(dir string) {
	f.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) write(path, text string) {
	f.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) symlink(target, path string) {
	f.Helper()
	if err := os.Symlink(target, path); err != nil {
		f.Fatal(err)
	}
}

// exists reports whether the host has the path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
