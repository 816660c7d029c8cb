//go:build linux && amd64

package native

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/realpath"
	"hardshell/sandbox"
	"hardshell/sandbox/sandboxtest"
	"hardshell/subprocess"
	"hardshell/subprocess/local"
)

// bench is a workspace with a provider of namespaces.
type bench struct {
	*testing.T
	provider *Provider
	runtime  *local.Runtime
	work     string
	// sockets are open, but for tests about them: others make some meanwhile.
	sockets sandbox.Sockets
}

func newBench(t *testing.T) *bench {
	t.Helper()
	provider, err := New(Config{Home: filepath.Join(t.TempDir(), "home"), Tiers: []sandbox.Tier{sandbox.TierNamespaces}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, provider: provider, runtime: local.New(local.Config{}), work: realpath.Canonical(t.TempDir()), sockets: sandbox.Sockets{Host: true}}
	t.Cleanup(func() {
		b.runtime.Close(context.Background())
		provider.Close()
	})
	return b
}

func (b *bench) confine() *space {
	b.Helper()
	c, err := b.provider.Confine(b.Context(), sandbox.Policy{Mode: sandbox.WorkspaceWrite, WorkspaceRoot: b.work, SessionID: "s", Sockets: b.sockets})
	sandboxtest.Need(b.T, sandbox.TierNamespaces, err)
	return c.(*space)
}

func (b *bench) start(c subprocess.Confinement, script string) subprocess.Handle {
	b.Helper()
	collect := subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 1 << 16}
	child, err := b.runtime.Spawn(b.Context(), subprocess.Spec{
		Argv: []string{"bash", "-c", script}, Dir: b.work, Stdin: subprocess.Stdin{Mode: subprocess.StdinPipe},
		Stdout: collect, Stderr: collect, Grace: time.Second, Confinement: c,
	})
	if err != nil {
		b.Fatal(err)
	}
	return child
}

func (b *bench) run(c subprocess.Confinement, script string) string {
	b.Helper()
	child := b.start(c, script)
	child.Stdin().Close()
	<-child.Done()
	return child.Reader(subprocess.Stdout).Collected().Text + child.Reader(subprocess.Stderr).Collected().Text
}

func (b *bench) expectGone(s *space) {
	b.Helper()
	select {
	case <-s.ended:
	case <-time.After(30 * time.Second):
		b.Error("the sandbox that was replaced goes on")
	}
}

func TestCommandsOfOnePolicyShareASandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.confine()
	child := b.start(first, "read x")
	second := b.confine()
	if first != second {
		t.Error("the second command has a sandbox of its own")
	}
	if got := b.run(second, "ls -d /proc/[0-9]* | wc -l"); len(strings.TrimSpace(got)) < 2 && strings.TrimSpace(got) < "3" {
		t.Errorf("the second command sees %s processes, not the first one", got)
	}
	child.Stdin().Close()
	<-child.Done()
}

func TestASandboxIsRemade(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench, *space){
		"when its first process was killed": func(b *bench, s *space) {
			if err := unix.Kill(s.init.PID(), unix.SIGKILL); err != nil {
				b.Fatal(err)
			}
			<-s.ended
		},
		"when a protected file was replaced": func(b *bench, _ *space) {
			fresh := filepath.Join(b.work, ".git", "config.lock")
			if err := os.WriteFile(fresh, []byte("[core]\n\tbare = false\n"), 0o644); err != nil {
				b.Fatal(err)
			}
			if err := os.Rename(fresh, filepath.Join(b.work, ".git", "config")); err != nil {
				b.Fatal(err)
			}
		},
		"when the workspace was replaced": func(b *bench, _ *space) {
			if err := os.Rename(b.work, b.work+"-old"); err != nil {
				b.Fatal(err)
			}
			if err := os.Mkdir(b.work, 0o755); err != nil {
				b.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for _, dir := range []string{".git/objects", ".git/refs", ".git/hooks"} {
				if err := os.MkdirAll(filepath.Join(b.work, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n"} {
				if err := os.WriteFile(filepath.Join(b.work, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			old := b.confine()
			change(b, old)
			if got := b.run(old, "echo x > new && cat new"); got != "x\n" {
				t.Errorf("the command that was to run in the old one gives %q", got)
			}
			fresh := b.confine()
			if fresh == old {
				t.Fatal("the sandbox was not remade")
			}
			if got := b.run(fresh, "{ echo evil >> .git/config; } 2>/dev/null; mkdir -p sub && echo y > new && cat new"); !strings.HasPrefix(got, "y\n") {
				t.Errorf("the next command gives %q", got)
			}
			if data, _ := os.ReadFile(filepath.Join(b.work, ".git", "config")); strings.Contains(string(data), "evil") {
				t.Error("the configuration was written to")
			}
			b.confine()
			b.expectGone(old)
		})
	}
}

func TestASocketOfTheHostThatCameLaterIsOutOfReach(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sockets = sandbox.Sockets{}
	first := b.confine()
	dir, err := os.MkdirTemp("/var/lib", "hardshell-test-")
	if err != nil {
		t.Skipf("skipped: a directory that everybody sees is needed: %v", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	second := b.confine()
	if second != first {
		t.Error("the sandbox was remade: its processes and its network are lost")
	}
	if got := b.run(second, "test -S "+path+" && echo reachable || echo covered"); got != "covered\n" {
		t.Errorf("the socket is %s", got)
	}
	// Bound anew, it is another file, and a mount on the old one is gone.
	listener.Close()
	again, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := b.run(b.confine(), "test -S "+path+" && echo reachable || echo covered"); got != "covered\n" {
		t.Errorf("the socket that was bound anew is %s", got)
	}
}

func TestASandboxWithACommandIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.confine()
	child := b.start(old, "(setsid sleep 600 &) ; read x; echo still here")
	if err := os.Rename(b.work, b.work+"-old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.work, 0o755); err != nil {
		t.Fatal(err)
	}
	if b.confine() == old {
		t.Fatal("the sandbox was not remade")
	}
	child.Stdin().Close()
	<-child.Done()
	if got := child.Reader(subprocess.Stdout).Collected().Text; got != "still here\n" {
		t.Errorf("the command in the old one printed %q", got)
	}
	// The daemon that it left is alive, and keeps the old one.
	if old.idle() {
		t.Error("a sandbox with a daemon in it is idle")
	}
}
