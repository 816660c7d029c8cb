package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hardshell/internal/fault"
)

func TestTryLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, ok, err := TryLock(path)
	if err != nil || !ok {
		t.Fatalf("a free lock: %v, %v", ok, err)
	}
	if second, ok, err := TryLock(path); err != nil || ok || second != nil {
		t.Errorf("a held lock: %v, %v, %v", second, ok, err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := first.Release(); err != nil {
		t.Errorf("a second release: %v", err)
	}
	second, ok, err := TryLock(path)
	if err != nil || !ok {
		t.Fatalf("a lock that was released: %v, %v", ok, err)
	}
	// A late release of the first holder must not free what is no longer its.
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := TryLock(path); ok {
		t.Error("a released lock released another")
	}
	if err := second.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the lock's file is gone: %v", err)
	}
	wantMode(t, path, 0o600)
}

func TestTryLockWithoutItsDirectory(t *testing.T) {
	t.Parallel()
	_, _, err := TryLock(filepath.Join(t.TempDir(), "none", "lock"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestLockExcludes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	var inside, total atomic.Int32 // the kernel's order is unknown to the race detector
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				lock, err := Lock(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				total.Add(1)
				inside.Add(-1)
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := total.Load(); n != 40 {
		t.Errorf("the lock was taken %d times, want 40", n)
	}
}

func TestLockGivesUpWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, _, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		lock, err := Lock(ctx, path)
		if lock != nil || !errors.Is(err, fault.LockTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, %v", lock, err)
		}
		if waited := time.Since(begin); waited != 3*time.Second {
			t.Errorf("it waited %v", waited)
		}
	})
}

func TestLockWaitsForItsTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, _, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(time.Minute, func() { held.Release() })
		lock, err := Lock(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		lock.Release()
	})
}

func TestAFreeLockIsTakenEvenWithAContextThatEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lock, err := Lock(ctx, filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	lock.Release()
}
