package policy

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hardshell/internal/fault"
	"hardshell/sandbox"
)

func open(t *testing.T, config Config) *Service {
	t.Helper()
	s, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// top returns the real path of a new directory with a/b and the link l to it.
func top(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("a", "b"), filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheZeroConfigIsReadOnlyInTheWorkingDirectory(t *testing.T) {
	dir := top(t)
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	want := sandbox.Policy{Mode: sandbox.ReadOnly, WorkspaceRoot: dir, Hide: DefaultHide(dir)}
	if diff := cmp.Diff(want, open(t, Config{}).Default()); diff != "" {
		t.Error(diff)
	}
}

func TestTheStandingPolicyIsWhatTheConfigSays(t *testing.T) {
	dir := top(t)
	t.Setenv("HOME", dir)
	got := open(t, Config{
		Mode: sandbox.WorkspaceWrite, WorkspaceRoot: dir + "/l/..",
		WritableRoots: []string{dir + "/l", dir + "/a/b", "~/out", "~"},
		Protect:       []string{".husky", "~/keep", "/etc/x"},
		Hide:          []string{"~/.secret", "/srv/../srv/key"},
		Network:       sandbox.NetworkNone, Caches: sandbox.CachesShared, PIDs: 7, DenyPtrace: true,
		Sockets: sandbox.Sockets{Paths: []string{"~/agent.sock"}},
	}).Default()
	want := sandbox.Policy{
		Mode: sandbox.WorkspaceWrite, WorkspaceRoot: dir + "/a",
		WritableRoots: []string{dir + "/a/b", dir + "/out", dir},
		Protect:       []string{dir + "/a/.husky", dir + "/keep", "/etc/x"},
		Hide:          []string{dir + "/.secret", "/srv/../srv/key"},
		Network:       sandbox.NetworkNone, Caches: sandbox.CachesShared, PIDs: 7, DenyPtrace: true,
		Sockets: sandbox.Sockets{Paths: []string{dir + "/agent.sock"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmptyHideListHidesNothing(t *testing.T) {
	t.Parallel()
	if got := open(t, Config{Hide: []string{}}).Default().Hide; len(got) != 0 {
		t.Errorf("it hides %q", got)
	}
}

func TestTheModeOfACall(t *testing.T) {
	t.Parallel()
	const ro, ww, full = sandbox.ReadOnly, sandbox.WorkspaceWrite, sandbox.DangerFullAccess
	for _, c := range []struct {
		name                         string
		standing, override, approved sandbox.Mode
		want                         sandbox.Mode
		refused                      string
	}{
		{name: "is read-only when nobody says anything", want: ro},
		{name: "is the standing one", standing: ww, want: ww},
		{name: "is the session's override", standing: ww, override: ro, want: ro},
		{name: "may be wider by an override", standing: ro, override: full, want: full},
		{name: "is what was approved", standing: ww, override: ro, approved: full, want: full},
		{name: "is what was approved without an override", standing: ro, approved: ww, want: ww},
		{name: "is refused for an unknown override", standing: ww, override: "danger", refused: `sandbox/mode carries unknown mode "danger"`},
		{name: "is refused for an unknown override, approved or not", standing: ww, override: "none", approved: ro, refused: `unknown mode "none"`},
		{name: "is refused for an unknown approval", standing: ww, approved: "full", refused: `unknown sandbox mode "full"`},
		{name: "is spelled exactly", standing: ww, override: "Read-Only", refused: `unknown mode "Read-Only"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := top(t)
			s := open(t, Config{Mode: c.standing, WorkspaceRoot: dir})
			got, err := s.Resolve(&Session{ID: "s", Workspace: dir, Mode: c.override}, c.approved)
			if c.refused != "" {
				if !errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("the error is %v", err)
				}
				if got.Mode != "" {
					t.Errorf("a refusal has the mode %q", got.Mode)
				}
				return
			}
			if err != nil || got.Mode != c.want {
				t.Errorf("it is %q, %v", got.Mode, err)
			}
		})
	}
}

func TestAGrantChangesNothingButTheMode(t *testing.T) {
	t.Parallel()
	dir := top(t)
	s := open(t, Config{WorkspaceRoot: dir, WritableRoots: []string{dir + "/a"}, Protect: []string{"x"}, Network: sandbox.NetworkNone})
	session := &Session{ID: "s", Workspace: dir}
	before, err := s.Resolve(session, "")
	if err != nil {
		t.Fatal(err)
	}
	granted, err := s.Resolve(session, sandbox.DangerFullAccess)
	if err != nil {
		t.Fatal(err)
	}
	granted.Mode = before.Mode
	if diff := cmp.Diff(before, granted); diff != "" {
		t.Error(diff)
	}
	if after, err := s.Resolve(session, ""); err != nil || after.Mode != before.Mode {
		t.Errorf("the next call is %q, %v", after.Mode, err)
	}
}

func TestTheWorkspaceOfASession(t *testing.T) {
	t.Parallel()
	dir := top(t)
	s := open(t, Config{WorkspaceRoot: dir, Protect: []string{".husky"}})
	for _, c := range []struct{ name, workspace, want, refused string }{
		{name: "is its own", workspace: dir + "/a", want: dir + "/a"},
		{name: "is resolved as the file system does", workspace: dir + "/l/..", want: dir + "/a"},
		{name: "keeps its spelling while it does not exist", workspace: dir + "/l/../new", want: dir + "/l/../new"},
		{name: "must be absolute", workspace: "a", refused: `session header cwd must be an absolute path, got "a"`},
		{name: "must not be empty", workspace: "", refused: `session header cwd must be an absolute path, got ""`},
		{name: "is not below the home", workspace: "~/a", refused: `session header cwd must be an absolute path, got "~/a"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.Resolve(&Session{ID: "one", Workspace: c.workspace}, "")
			if c.refused != "" {
				if !errors.Is(err, fault.InvalidArgument) || err.Error() != c.refused {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil || got.WorkspaceRoot != c.want || got.SessionID != "one" {
				t.Errorf("%q of session %q, %v", got.WorkspaceRoot, got.SessionID, err)
			}
			if want := []string{c.want + "/.husky"}; !cmp.Equal(got.Protect, want) {
				t.Errorf("it protects %q, want %q", got.Protect, want)
			}
		})
	}
	if got, err := s.Resolve(nil, ""); err != nil || got.WorkspaceRoot != dir || got.SessionID != "" {
		t.Errorf("without a session it is %q of %q, %v", got.WorkspaceRoot, got.SessionID, err)
	}
}

func TestWhatIsNoPolicyIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"an unknown mode", Config{Mode: "yolo"}, `unknown sandbox mode "yolo"`},
		{"an unknown network", Config{Network: "lan"}, `unknown network "lan"`},
		{"unknown caches", Config{Caches: "all"}, `unknown caches "all"`},
		{"a negative number of processes", Config{PIDs: -1}, "pids"},
		{"a relative writable root", Config{WritableRoots: []string{"out"}}, `the writable root "out" is not absolute`},
		{"a relative hidden path", Config{Hide: []string{"key"}}, `the hidden path "key" is not absolute`},
		{"a relative socket", Config{Sockets: sandbox.Sockets{Paths: []string{"s"}}}, `the socket "s" is not absolute`},
		{"another user's home", Config{Hide: []string{"~root/x"}}, `"~root/x" is not absolute`},
		{"a NUL byte", Config{Protect: []string{"a\x00"}}, "NUL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := New(c.config)
			if !errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
			if s != nil {
				t.Error("there is a service all the same")
			}
		})
	}
}

func TestWithoutAHomeDirectory(t *testing.T) {
	t.Parallel()
	if _, err := newService(Config{Hide: []string{"~/x"}}, ""); !errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "set HOME") {
		t.Errorf("the error is %v", err)
	}
	s, err := newService(Config{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Default().Hide; len(got) != 0 {
		t.Errorf("it hides %q", got)
	}
}

func TestTheHomeDirectoryIsKnownWithoutTheVariable(t *testing.T) {
	u, err := user.Current()
	if err != nil || u.HomeDir == "" {
		t.Skip("the system knows no home of this user")
	}
	want := DefaultHide(u.HomeDir)
	for _, home := range []string{"", "relative"} {
		t.Setenv("HOME", home)
		if diff := cmp.Diff(want, open(t, Config{}).Default().Hide); diff != "" {
			t.Errorf("with HOME=%q: %s", home, diff)
		}
	}
}

func TestACallOwnsItsPolicy(t *testing.T) {
	t.Parallel()
	dir := top(t)
	s := open(t, Config{
		WorkspaceRoot: dir, WritableRoots: []string{dir + "/a"}, Protect: []string{"p"}, Hide: []string{"/h"},
		Sockets: sandbox.Sockets{Paths: []string{"/s"}},
	})
	want := s.Default()
	spoiled := s.Default()
	for _, list := range [][]string{spoiled.WritableRoots, spoiled.Protect, spoiled.Hide, spoiled.Sockets.Paths} {
		list[0] = "/spoiled"
	}
	if diff := cmp.Diff(want, s.Default()); diff != "" {
		t.Error(diff)
	}
}
