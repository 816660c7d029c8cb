package file

import (
	"context"
	"errors"
	"time"

	"github.com/fsnotify/fsnotify"
)

// startWatch begins to look at the file whenever something may have happened to
// it. The turn is held.
func (p *Provider) startWatch() {
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.stopped = stop, make(chan struct{})
	go func() {
		defer close(p.stopped)
		p.watch(ctx)
	}()
}

// watch looks at the file until ctx ends: after every event, while it is coming
// to rest, and from time to time, because events can be missed and not every file
// system has them.
func (p *Provider) watch(ctx context.Context) {
	a := p.newArms()
	defer a.close()
	between := p.times.fallback
	if a.watcher == nil {
		between = p.times.blind
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var settleBy time.Time // the zero time while the file is at rest
	for {
		// Armed before looking: what happens after the look is an event.
		hops, _ := locate(p.path)
		a.update(hops.hops)
		wait := p.look(ctx, !settleBy.IsZero() && !time.Now().Before(settleBy))
		if p.hooks.looked != nil {
			p.hooks.looked()
		}
		switch {
		case wait <= 0:
			settleBy = time.Time{}
			wait = between
		case settleBy.IsZero():
			settleBy = time.Now().Add(p.times.latest)
		case time.Now().Before(settleBy):
			wait = min(wait, time.Until(settleBy)+time.Millisecond)
		}
		timer.Reset(min(wait, between))
		if !a.await(ctx, timer.C) {
			return
		}
	}
}

// look takes in what the file holds, and publishes it when it is news. It returns
// how long to wait before looking again, when the file is not at rest. Forced, it
// takes a file in that is not, unless there is nothing in it.
func (p *Provider) look(ctx context.Context, forced bool) (wait time.Duration) {
	if p.turn.take(ctx, 0) != nil {
		return 0
	}
	defer p.turn.give()
	if p.closed.Load() {
		return 0
	}
	wait, err := p.refresh(forced)
	if err == nil {
		if wait <= 0 {
			p.uneasy = ""
		}
		return wait
	}
	if text := err.Error(); text != p.uneasy {
		p.uneasy = text
		p.log.Warn("the settings file cannot be used: the settings stay as they were", "error", err)
	}
	return 0
}

// refresh is look with the turn held.
func (p *Provider) refresh(forced bool) (wait time.Duration, err error) {
	at, err := locate(p.path)
	if err != nil {
		return 0, err
	}
	s, err := p.peek(at)
	if err != nil {
		return 0, err
	}
	if s.absent == p.known.absent && s.stamp == p.known.stamp && !p.known.young {
		return 0, nil
	}
	if s.stamp == p.refused && !s.absent {
		return 0, nil
	}
	if wait := p.unrest(s); wait > 0 && (!forced || s.blank()) {
		return wait, nil
	}
	if s, err = p.read(at); err != nil {
		return 0, err
	}
	if wait := p.unrest(s); wait > 0 && (!forced || s.blank()) {
		return wait, nil
	}
	before := p.known
	settled, err := p.absorb(at, s)
	if err != nil {
		if !s.young {
			p.refused = s.stamp
		}
		return 0, err
	}
	if !settled {
		return time.Millisecond, nil
	}
	p.refused = stamp{}
	p.announce(before)
	return 0, nil
}

// newArms makes what gets events. Watching is a convenience: without it the file
// is looked at more often.
func (p *Provider) newArms() *arms {
	var watcher *fsnotify.Watcher
	err := error(nil)
	if p.hooks.watcher != nil {
		err = p.hooks.watcher()
	}
	if err == nil {
		watcher, err = fsnotify.NewWatcher()
	}
	a := &arms{log: p.log, watcher: watcher, dirs: map[string]identity{}, names: map[string]bool{}}
	if err != nil {
		a.watcher = nil
		p.log.Warn("the settings file cannot be watched: it is looked at every few seconds", "interval", p.times.blind, "error", err)
	}
	return a
}

// overflowed reports whether events were lost.
func overflowed(err error) bool { return errors.Is(err, fsnotify.ErrEventOverflow) }
