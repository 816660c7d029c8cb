package file

import (
	"context"
	"sync/atomic"
	"time"

	"hardshell/internal/fault"
)

// turn is a lock of this process. Those who wait get it in the order in which
// they came, and a context can end their wait.
type turn struct {
	slot  chan struct{}
	taken *atomic.Uint64
}

func newTurn() turn { return turn{slot: make(chan struct{}, 1), taken: new(atomic.Uint64)} }

// take waits for the turn. When stuck is not 0 and one holder keeps the turn for
// that long, it gives up: the wait for others that move on is not limited, but a
// holder who never ends would make every write hang. LOCK_TIMEOUT for either.
func (t turn) take(ctx context.Context, stuck time.Duration) error {
	select {
	case t.slot <- struct{}{}:
		t.taken.Add(1)
		return nil
	default:
	}
	var tick <-chan time.Time
	if stuck > 0 {
		ticker := time.NewTicker(stuck)
		defer ticker.Stop()
		tick = ticker.C
	}
	for holder := t.taken.Load(); ; {
		select {
		case t.slot <- struct{}{}:
			t.taken.Add(1)
			return nil
		case <-ctx.Done():
			return fault.New(fault.LockTimeout, "the settings file is busy in this process: try again (%w)", context.Cause(ctx))
		case <-tick:
			now := t.taken.Load()
			if now == holder {
				return fault.New(fault.LockTimeout, "a check or listener of settings in this process has not returned for %s: end it, then try again", stuck)
			}
			holder = now
		}
	}
}

func (t turn) give() { <-t.slot }
