package native

import (
	"os"
	"path/filepath"
	"testing"

	"hardshell/internal/realpath"
	"hardshell/sandbox"
)

func TestDenied(t *testing.T) {
	t.Parallel()
	work := realpath.Canonical(t.TempDir())
	outside := realpath.Canonical(t.TempDir())
	if err := os.Mkdir(filepath.Join(work, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	pl := &plan{
		policy: sandbox.Policy{Mode: sandbox.WorkspaceWrite, WorkspaceRoot: work}, home: "/h",
		writable: []string{work}, protected: []string{work + "/.git/config"}, pinned: []string{work + "/.git"},
		hidden: []string{outside + "/secret"}, temp: "/h/tmp/s",
	}
	for _, c := range []struct {
		name   string
		tier   sandbox.Tier
		stderr string
		want   bool
	}{
		{"a path outside", sandbox.TierNamespaces, "touch: cannot touch '/etc/x': Read-only file system", true},
		{"in typographic quotes", sandbox.TierNamespaces, "mkdir: cannot create directory ‘/etc/x’: Read-only file system", true},
		{"as bash says it", sandbox.TierNamespaces, "bash: line 1: /etc/x: Read-only file system", true},
		{"as Python says it", sandbox.TierNamespaces, "OSError: [Errno 30] Read-only file system: '/etc/x'", true},
		{"in another letter case, among other lines", sandbox.TierNamespaces, "one\r\nEROFS: READ-ONLY FILE SYSTEM, open '/etc/x'\r\ntwo", true},
		{"a path inside of a root is refused by something else", sandbox.TierNamespaces, "touch: cannot touch '" + work + "/x': Read-only file system", false},
		{"so is a relative one", sandbox.TierNamespaces, "bash: line 1: ./sub/x: Read-only file system", false},
		{"that leads outside is denied", sandbox.TierNamespaces, "bash: line 1: ../../../../../../../../etc/x: Read-only file system", true},
		{"a protected path is denied", sandbox.TierNamespaces, "bash: line 1: .git/config: Read-only file system", true},
		{"git cannot replace its configuration", sandbox.TierNamespaces, "error: could not write config file .git/config: Device or resource busy", true},
		{"something else is busy", sandbox.TierNamespaces, "umount: '/mnt/x': Device or resource busy", false},
		{"no path is named", sandbox.TierNamespaces, "Read-only file system", true},
		{"ordinary permissions are no denial by mounts", sandbox.TierNamespaces, "cat: /etc/shadow: Permission denied", false},
		{"what is hidden is denied", sandbox.TierNamespaces, "cat: " + outside + "/secret/key: Permission denied", true},
		{"another message", sandbox.TierNamespaces, "touch: cannot touch '/etc/x': No such file or directory", false},
		{"Landlock says it like permissions do", sandbox.TierLandlock, "touch: cannot touch '" + outside + "/x': Permission denied", true},
		{"what this process cannot do either is no denial", sandbox.TierLandlock, "cat: /nonexistent/dir/x: Permission denied", false},
		{"hidden files are denied", sandbox.TierLandlock, "cat: " + outside + "/secret/key: Permission denied", true},
		{"no path, no denial", sandbox.TierLandlock, "git@example.com: Permission denied (publickey).", false},
		{"a root is no denial", sandbox.TierLandlock, "cat: " + work + "/x: Permission denied", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			confined := &confined{plan: pl, report: sandbox.Report{Tier: c.tier}}
			one := 1
			if got := confined.Denied(sandbox.Outcome{ExitCode: &one, Workdir: work, Stderr: c.stderr}); got != c.want {
				t.Errorf("denied is %v", got)
			}
			zero := 0
			if confined.Denied(sandbox.Outcome{ExitCode: &zero, Workdir: work, Stderr: c.stderr}) {
				t.Error("a success is denied")
			}
			if confined.Denied(sandbox.Outcome{Workdir: work, Stderr: c.stderr}) {
				t.Error("death by a signal is denied")
			}
		})
	}
}

func TestEnvironInside(t *testing.T) {
	t.Parallel()
	pl := &plan{
		policy:  sandbox.Policy{Sockets: sandbox.Sockets{Paths: []string{"/run/agent.sock"}}},
		temp:    "/h/tmp/s",
		sockets: []string{"/run/agent.sock"},
		caches:  []cache{{dir: "/u/.cache", private: "/h/cache/a", variable: "XDG_CACHE_HOME"}, {private: "/h/cache/b", variable: "GOMODCACHE"}},
	}
	env := []string{"A=1", "TMPDIR=/var/x", "SSH_AUTH_SOCK=/run/agent.sock", "DISPLAY=:0", "XDG_CACHE_HOME=/x", "GOMODCACHE=/y", "GOCACHE=/z"}
	for _, c := range []struct {
		name    string
		private bool
		want    []string
	}{
		{"the usual places are the sandbox's own", true, []string{"A=1", "GOCACHE=/u/.cache/go-build", "GOMODCACHE=/h/cache/b", "SSH_AUTH_SOCK=/run/agent.sock", "TMPDIR=/tmp", "XDG_CACHE_HOME=/u/.cache"}},
		{"variables lead to them", false, []string{"A=1", "GOCACHE=/h/cache/a/go-build", "GOMODCACHE=/h/cache/b", "SSH_AUTH_SOCK=/run/agent.sock", "TMPDIR=/h/tmp/s", "XDG_CACHE_HOME=/h/cache/a"}},
	} {
		got := newConfined(sandbox.TierNamespaces, pl, c.private).environ(env)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
				break
			}
		}
	}
}
