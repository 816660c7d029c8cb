package state

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"hardshell/internal/fault"
)

func TestResolveHome(t *testing.T) {
	cwd := t.TempDir()
	t.Chdir(cwd)
	const user = "/home/someone"
	tests := map[string]struct{ explicit, env, want string }{
		"nothing given is ~/.hardshell":                 {"", "", user + "/.hardshell"},
		"a blank variable gives nothing":                {"", " \t\n", user + "/.hardshell"},
		"the variable counts":                           {"", "/srv/dsh", "/srv/dsh"},
		"the flag wins over the variable":               {"/opt/h", "/srv/dsh", "/opt/h"},
		"a blank flag gives nothing":                    {" ", "/srv/dsh", "/srv/dsh"},
		"a tilde is the user's home":                    {"~", "", user},
		"a tilde before a slash is the user's home":     {"~/a/b", "", user + "/a/b"},
		"a tilde before slashes stays below it":         {"~//a", "", user + "/a"},
		"a tilde before a backslash is the user's home": {`~\a`, "", user + "/a"},
		"a tilde in the variable is expanded too":       {"", "~/v", user + "/v"},
		"a tilde before a name is a file name":          {"~root", "", cwd + "/~root"},
		"a tilde elsewhere is a file name":              {"/a/~/b", "", "/a/~/b"},
		"a relative path is taken from the working dir": {"state", "", cwd + "/state"},
		"a relative variable is taken from there too":   {"", "./x/../state", cwd + "/state"},
		"the result is clean":                           {"/a//b/../c/", "", "/a/c"},
		"spaces around a name belong to it":             {"", "/a b ", "/a b "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", user)
			t.Setenv("USERPROFILE", user)
			t.Setenv("DSH_HOME", tt.env)
			home, err := ResolveHome(tt.explicit)
			if err != nil {
				t.Fatal(err)
			}
			if got := filepath.ToSlash(home.Root()); got != filepath.ToSlash(tt.want) {
				t.Errorf("ResolveHome(%q) with DSH_HOME=%q is %q, want %q", tt.explicit, tt.env, got, tt.want)
			}
			if _, err := os.Lstat(home.Root()); err == nil && home.Root() != cwd {
				t.Errorf("%s was created", home.Root())
			}
		})
	}
}

func TestResolveHomeRefusesNUL(t *testing.T) {
	_, err := ResolveHome("/a\x00b")
	if !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("got %v, want %s", err, fault.InvalidArgument)
	}
}

func TestResolveHomeWithoutAnEnvironmentAsksTheUserDatabase(t *testing.T) {
	current, err := user.Current()
	if err != nil || current.HomeDir == "" {
		t.Skip("this user is not in the user database")
	}
	t.Setenv("DSH_HOME", "")
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	home, err := ResolveHome("")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(current.HomeDir, ".hardshell"); home.Root() != want {
		t.Errorf("got %q, want %q", home.Root(), want)
	}
}

func TestHomePaths(t *testing.T) {
	t.Parallel()
	home := Home{root: filepath.FromSlash("/h")}
	for got, want := range map[string]string{
		home.Run():              "/h/run",
		home.Sessions():         "/h/sessions",
		home.Session("s-1"):     "/h/sessions/s-1",
		home.SessionLog("s-1"):  "/h/sessions/s-1/log.jsonl",
		home.Spills():           "/h/spill",
		home.Spill("Build.2_x"): "/h/spill/Build.2_x",
	} {
		if filepath.ToSlash(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAnInvalidSessionIDNeverBecomesAPath(t *testing.T) {
	t.Parallel()
	home := Home{root: "/h"}
	for _, path := range []func(string) string{home.Session, home.SessionLog, home.Spill} {
		func() {
			defer func() {
				err, _ := recover().(error)
				if !errors.Is(err, fault.Invariant) {
					t.Errorf("got %v, want a panic with %s", err, fault.Invariant)
				}
			}()
			t.Errorf("the path is %q", path("../../etc"))
		}()
	}
}

func TestEnsure(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	home := Home{root: filepath.Join(base, "new", "home")}
	if err := home.Ensure(home.Spill("s"), home.Run()); err != nil {
		t.Fatal(err)
	}
	if err := home.Ensure(home.Spill("s")); err != nil {
		t.Errorf("a second time: %v", err)
	}
	for _, dir := range []string{home.Root(), home.Spills(), home.Spill("s"), home.Run()} {
		wantMode(t, dir, 0o700)
	}
	if err := home.Check(); err != nil {
		t.Errorf("a home that was just created cannot be trusted: %v", err)
	}
	if _, err := os.Stat(home.Sessions()); err == nil {
		t.Error("Ensure created a directory that nobody asked for")
	}
}

func TestEnsureLeavesAnExistingHomeAsItIs(t *testing.T) {
	t.Parallel()
	home := Home{root: t.TempDir()}
	chmod(t, home.Root(), 0o777)
	if err := home.Ensure(); err != nil {
		t.Fatal(err)
	}
	wantMode(t, home.Root(), 0o777)
}

func TestEnsureSaysWhyAHomeCannotBeCreated(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	home := Home{root: filepath.Join(file, "home")}
	err := home.Ensure()
	if !errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), home.Root()) || !strings.Contains(err.Error(), "--home") {
		t.Errorf("got %v, want %s naming the home and the way out", err, fault.InvalidArgument)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	if err := (Home{root: filepath.Join(t.TempDir(), "none")}).Check(); err != nil {
		t.Errorf("a home that does not exist: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	if err := (Home{root: file}).Check(); !errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file as home: %v", err)
	}
}
