//go:build linux

package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hardshell/internal/fault"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
)

func TestClientsShareOneHostAndClosingOneLeavesTheOther(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	one, two := f.client(), f.client()
	if a, b := f.hostOf(one), f.hostOf(two); a != b {
		t.Fatalf("the hosts are %d and %d, want one", a, b)
	}
	other := f.start(two, f.spec(`sleep "$1"`))
	f.start(one, f.spec(`sleep "$1" & setsid sleep "$1" & wait`))
	f.awaitAlive(3)
	if err := one.Close(context.Background()); err != nil {
		t.Errorf("Close = %v", err)
	}
	if left := f.alive(); len(left) != 1 {
		t.Errorf("%d processes are alive, want that of the other client", len(left))
	}
	other.Kill()
	f.await(other)
	if f.output(two, "echo fine") != "fine" {
		t.Error("the other client is not served any more")
	}
}

func TestHostEndsWhenItsLastClientHasGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.client()
	pid := f.hostOf(r)
	if err := r.Close(context.Background()); err != nil {
		t.Errorf("Close = %v", err)
	}
	f.awaitNoHost()
	if second := f.client(); f.hostOf(second) == pid {
		t.Error("the same host still serves")
	}
}

func TestKilledClientTakesItsCommandsAlong(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} { // which is about recorded ones
		f := newFixture(t)
		// The first ignores SIGTERM, the last has left session and parent.
		h := f.harness(keep, `(trap "" TERM; sleep "$1"; sleep "$1") & sleep "$1" & (setsid sleep "$1" &) ; wait`)
		f.awaitAlive(3)
		h.kill()
		f.awaitNoHost()
		if left := f.alive(); len(left) != 0 {
			t.Errorf("%v are alive when the host has ended", left)
		}
	}
}

func TestClosingEndsAlsoWhatADetachWouldKeep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.client(func(c *host.Config) { c.Keep = true })
	h := f.start(r, f.spec(`setsid sleep "$1" & sleep "$1"`))
	f.awaitAlive(2)
	if err := r.Close(context.Background()); err != nil {
		t.Errorf("Close = %v", err)
	}
	if left := f.alive(); len(left) != 0 {
		t.Errorf("%v are alive", left)
	}
	f.await(h)
}

func TestKilledHostSettlesEverythingAndTheNextSpawnStartsAnother(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		f := newFixture(t)
		r := f.client(func(c *host.Config) { c.Keep = keep })
		pid := f.hostOf(r)
		h := f.start(r, f.spec(`echo out; sleep "$1" & (setsid sleep "$1" &); wait`))
		f.awaitAlive(2)
		f.waitFor("the output", func() bool { return h.Reader(subprocess.Stdout).Collected().Bytes > 0 })
		syscall.Kill(pid, syscall.SIGKILL)
		f.await(h)
		if e := h.Exit(); e.Code != -1 || e.Signal != "" || fault.CodeOf(e.Cause) != fault.SpawnFailed {
			t.Errorf("Exit = %+v, want code -1 and a cause of its own", e)
		}
		if text := h.Reader(subprocess.Stdout).Collected().Text; text != "out\n" {
			t.Errorf("stdout is %q", text)
		}
		if err := h.WaitTree(context.Background()); err != nil || len(f.alive()) != 0 || len(h.Survivors()) != 0 {
			t.Errorf("WaitTree = %v; %v are alive, survivors %v", err, f.alive(), h.Survivors())
		}
		// The dead host has left its socket and its key.
		if _, err := os.Stat(f.files.Socket); err != nil {
			t.Error(err)
		}
		if again := f.hostOf(r); again == pid {
			t.Error("a dead host serves")
		}
	}
}

func TestCommandsThatAreOverOutliveTheirHost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.client()
	pid := f.hostOf(r)
	h := f.start(r, f.spec(`(setsid sleep "$1" >/dev/null 2>&1 &); exit 3`))
	f.await(h)
	f.awaitAlive(1)
	syscall.Kill(pid, syscall.SIGKILL)
	f.awaitNoHost()
	if e := h.Exit(); e.Code != 3 || e.Cause != nil {
		t.Errorf("Exit = %+v", e)
	}
	h.Terminate()
	if err := h.WaitTree(context.Background()); err != nil || len(f.alive()) != 0 {
		t.Errorf("WaitTree = %v; %v are alive", err, f.alive())
	}
	f.hostOf(r) // cleans up what the dead host has left
}

func TestTerminatedHostEndsAlsoWhatWasToBeKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	h := f.harness(true, `(setsid sleep "$1" &); sleep "$1"; :`)
	f.awaitAlive(2)
	pid := f.hostOf(f.client())
	h.kill()
	syscall.Kill(pid, syscall.SIGTERM)
	f.awaitNoHost()
	if left := f.alive(); len(left) != 0 {
		t.Errorf("%v are alive", left)
	}
}

func TestManyWhoNeedAHostStartOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hosts := make([]int, 20)
	clients := make([]*host.Runtime, len(hosts))
	for i := range clients {
		clients[i] = f.client()
	}
	var starting sync.WaitGroup
	for i, r := range clients {
		starting.Go(func() { hosts[i] = f.hostOf(r) })
	}
	starting.Wait()
	for _, pid := range hosts {
		if pid != hosts[0] {
			t.Fatalf("the hosts are %v, want one", hosts)
		}
	}
}

// Each round attaches while the host of the round before may be ending.
func TestAttachingToAHostThatIsJustEnding(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var loops sync.WaitGroup
	for range 3 {
		loops.Go(func() {
			for range 20 {
				r := f.client()
				if f.output(r, "echo fine") != "fine" {
					t.Error("a command failed")
				}
				if err := r.Close(context.Background()); err != nil {
					t.Errorf("Close = %v", err)
				}
			}
		})
	}
	loops.Wait()
}

func TestHomeWithALongPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-", 40), "home")
	f := newFixtureIn(t, dir)
	one, two := f.client(), f.client()
	if a, b := f.hostOf(one), f.hostOf(two); a != b {
		t.Errorf("the hosts are %d and %d, want one", a, b)
	}
}

// A host that is stopped answers nothing; neither a deadline nor a Close may
// wait for it for ever.
func TestStoppedHostIsTakenForDead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped: takes the ten seconds that a host is waited for")
	}
	f := newFixture(t)
	r := host.New(host.Config{Home: f.home, SessionID: session})
	pid := f.hostOf(r)
	h := f.start(r, f.spec(`sleep "$1"`))
	f.awaitAlive(1)
	syscall.Kill(pid, syscall.SIGSTOP)
	defer syscall.Kill(pid, syscall.SIGCONT)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Close(ctx); err != nil {
		t.Errorf("Close = %v", err)
	}
	f.await(h)
	if left := f.alive(); len(left) != 0 {
		t.Errorf("%v are alive", left)
	}
}
