package file

import (
	"context"
	"errors"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/settings"
)

// load takes in the document for the first time.
func (p *Provider) load(ctx context.Context) error {
	for begun := time.Now(); ; {
		at, err := locate(p.path)
		if err != nil {
			return err
		}
		s, err := p.read(at)
		if err != nil {
			return err
		}
		l, _ := readLedger(p.filesOf(at).ledger)
		late := time.Since(begun) >= p.times.latest
		if wait := p.unrest(s); wait > 0 && !l.knows(s) && (!late || s.blank()) {
			if err := pause(ctx, wait); err != nil {
				return err
			}
			continue
		}
		settled, err := p.absorb(at, s)
		if settled || err != nil {
			return err
		}
	}
}

// knows reports whether the ledger's last writer left the document as s has it.
// What one of us wrote is complete.
func (l ledger) knows(s snapshot) bool {
	if s.absent {
		return l.Document == ""
	}
	return l.Document == digestOf(s.data)
}

// absorb makes s, which was read at a place without the lock, what is known. It
// takes the lock only when a revision must be given out. It reports false when
// the file has changed meanwhile, and for a while when others write: what they
// store may make the lock unnecessary.
func (p *Provider) absorb(at place, s snapshot) (settled bool, err error) {
	files := p.filesOf(at)
	c, err := p.parse(s)
	if err != nil {
		return true, err
	}
	stored := ledgerFor(files, c)
	next, moved := stored.advance(c.digest, c.hashes, p.known.entries)
	if !moved {
		p.lockedOut = lockout{}
		c.number(next)
		p.known = c
		return true, nil
	}
	lock, err := p.glance(files)
	if errors.Is(err, fault.LockTimeout) {
		// Content that changes all the time has writers that take turns; one that
		// stays has a writer that does not get on.
		if p.lockedOut.since.IsZero() || p.lockedOut.digest != c.digest {
			p.lockedOut = lockout{digest: c.digest, since: time.Now()}
		}
		if time.Since(p.lockedOut.since) < p.times.latest {
			return false, nil
		}
	}
	if err != nil {
		// A home that cannot be written, or a busy one, still has settings. The
		// time is above every revision that others give out for this content.
		p.log.Debug("the revisions of the settings could not be stored", "error", err)
		next.date(stored, p.known.entries, milliseconds())
		c.number(next)
		p.known = c
		return true, nil
	}
	defer lock.Release()
	p.lockedOut = lockout{}
	again, err := p.read(at)
	if err != nil {
		return true, err
	}
	if !again.same(s) || again.torn {
		return false, nil
	}
	p.enroll(files, ledgerFor(files, c), &c)
	p.known = c
	return true, nil
}

// lockout is since when a reader has not had the lock for one content.
type lockout struct {
	digest string
	since  time.Time
}

// enroll numbers the sections of c, following a ledger, stores what is new in
// that and returns it. The lock is held.
func (p *Provider) enroll(files ledgerFiles, l ledger, c *content) ledger {
	next, moved := l.advance(c.digest, c.hashes, p.known.entries)
	if moved {
		if err := p.store(files, next); err != nil {
			p.log.Debug("the revisions of the settings could not be stored", "error", err)
		}
	}
	c.number(next)
	return next
}

// ledgerFor reads the ledger, or begins the one that follows a lost one. A
// document without sections has nothing that could be lost.
func ledgerFor(files ledgerFiles, c content) ledger {
	l, found := readLedger(files.ledger)
	if !found {
		l = ledger{}
		if len(c.hashes) > 0 {
			l.Start = milliseconds()
		}
	}
	return l
}

// date replaces the revisions that are neither stored nor given out by now.
func (l *ledger) date(stored ledger, held map[string]entry, now uint64) {
	for key, e := range l.Sections {
		if stored.Sections[key] != e && held[key] != e {
			e.Revision = max(e.Revision, now)
			l.Sections[key] = e
		}
	}
}

// milliseconds is the time as a revision.
func milliseconds() uint64 { return uint64(max(time.Now().UnixMilli(), 1)) }

// glance takes the lock for a reader, who has something to show without it too.
func (p *Provider) glance(files ledgerFiles) (*state.HeldLock, error) {
	if err := p.home.Ensure(p.home.Run()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), p.times.glance, errors.New("it was held for too long"))
	defer cancel()
	return state.Lock(ctx, files.lock)
}

// announce publishes what is known when that is news.
func (p *Provider) announce(before content) {
	if p.known.differs(before) {
		p.publish(settings.Document{Sections: p.known.sections})
	}
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
