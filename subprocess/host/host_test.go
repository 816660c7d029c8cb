//go:build unix

package host_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	sessionhost "hardshell/host"
	"hardshell/internal/hostwire"
	"hardshell/internal/racecheck"
	"hardshell/internal/state"
	"hardshell/sandbox"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
	"hardshell/subprocess/subprocesstest"
)

// TestMain makes this program the session host when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == hostwire.Argument {
		os.Exit(sessionhost.Run(func(state.Home, *slog.Logger) (sandbox.Provider, error) { return noSandbox{}, nil }))
	}
	os.Exit(racecheck.Main(m))
}

// noSandbox confines nothing.
type noSandbox struct{}

func (noSandbox) Confine(_ context.Context, policy sandbox.Policy) (sandbox.Confinement, error) {
	return nil, sandbox.Unavailable(policy.Mode, "this is a test")
}

func (noSandbox) Close() error { return nil }

func TestConformance(t *testing.T) {
	subprocesstest.Run(t, func(t *testing.T, o subprocesstest.Options) subprocess.Runtime {
		home, err := state.ResolveHome(filepath.Join(t.TempDir(), "home"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { awaitFree(t, home) })
		r := host.New(host.Config{Home: home, SessionID: "s", SpillDir: o.SpillDir, Ambient: o.Ambient})
		start(t, r)
		return r
	})
}

// start runs a first command: the deadlines of the suite are for commands, and
// not for the start of a host.
func start(t *testing.T, r *host.Runtime) {
	h, err := r.Spawn(context.Background(), subprocess.Spec{
		Argv: []string{"/bin/sh", "-c", ":"}, Dir: "/",
		Stdin:  subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Stdout: subprocess.Output{Mode: subprocess.OutputIgnore},
		Stderr: subprocess.Output{Mode: subprocess.OutputIgnore},
		Grace:  time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	<-h.Done()
}

// awaitFree waits until no host of the session s lives.
func awaitFree(t *testing.T, home state.Home) {
	if home.Ensure(home.Run()) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	lock, err := state.Lock(ctx, hostwire.FilesOf(home.Run(), "s").Lock)
	if err != nil {
		t.Errorf("the host lives on: %v", err)
		return
	}
	lock.Release()
}
