package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hardshell/internal/document"
	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/internal/state"
	"hardshell/settings"
)

// Change implements settings.Provider. The wait for the lock ends with ctx, and
// without a deadline of ctx after 2 s.
//
// LOCK_TIMEOUT when another process keeps the lock for too long. DOCUMENT_INVALID
// when the file cannot be parsed or edited, and, with ErrUnrest, when it is being
// changed by another program all the time. SETTINGS_READ_ONLY when the file
// system refuses the write, or the file is another user's, or a link into a
// directory that others can write to.
func (p *Provider) Change(
	ctx context.Context, ns settings.Namespace,
	derive func(settings.Section) (map[string]any, error), commit func(settings.Section),
) error {
	began := time.Now()
	if ctx.Err() != nil {
		return fault.New(fault.Aborted, "the write of settings was given up before it began: %w", context.Cause(ctx))
	}
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.turn.give()
	if p.publish == nil {
		return fault.New(fault.Invariant, "the settings file %s was not opened", p.path)
	}
	w := &write{Provider: p, key: string(ns), derive: derive, began: began, entered: time.Now()}
	stored, err := w.run(ctx)
	if err != nil || stored == nil {
		return err
	}
	commit(*stored)
	return nil
}

// write is one call of Change, which may need several attempts.
type write struct {
	*Provider
	key            string
	derive         func(settings.Section) (map[string]any, error)
	began, entered time.Time

	derived  bool
	from     uint64 // the revision of the section that derive was given
	next     map[string]any
	attempts int
	restBy   time.Time // when a file that is never at rest is given up
	ledger   ledger    // as this attempt found it
}

// outcome is how an attempt ended that did not fail. The zero value is another
// attempt at once.
type outcome struct {
	done   bool
	stored *settings.Section
	wait   time.Duration // for the file to come to rest
	news   bool          // what is known must be published
}

// run makes attempts until one ends in a way that is final. The lock is not held
// between them: who waits for an editor or the checks of owners lets others
// write.
func (w *write) run(ctx context.Context) (*settings.Section, error) {
	for {
		before := w.known
		out, err := w.attempt(ctx)
		if out.news {
			w.announce(before)
		}
		switch {
		case err != nil:
			return nil, err
		case out.done:
			return out.stored, nil
		case out.news:
			continue
		}
		// Another program is at work on the file.
		if w.restBy.IsZero() {
			w.restBy = time.Now().Add(w.times.latest)
		}
		if !time.Now().Before(w.restBy) {
			return nil, w.errUnrest()
		}
		if out.wait > 0 {
			if err := pause(ctx, out.wait); err != nil {
				return nil, fault.New(fault.LockTimeout, "the settings file %s is being changed by another program: try again (%w)", w.path, err)
			}
		}
	}
}

// attempt is one turn with the lock.
func (w *write) attempt(ctx context.Context) (outcome, error) {
	before := w.known
	at, err := locate(w.path)
	if err != nil {
		return outcome{}, err
	}
	files := w.filesOf(at)
	lock, err := w.lock(ctx, files)
	if err != nil {
		return outcome{}, err
	}
	defer lock.Release()
	s, err := w.read(at)
	if err != nil {
		return outcome{}, err
	}
	if wait := w.restless(files, s); wait > 0 {
		return outcome{wait: wait}, nil
	}
	news, err := w.takeIn(files, s)
	if err != nil {
		return outcome{}, err
	}
	// What others changed is published before anything is derived from it, and
	// without holding them up. If they never cease, that must wait.
	if w.attempts++; news {
		if w.attempts <= 3 {
			return outcome{news: true}, nil
		}
		w.announce(before)
	}
	return w.put(at, files)
}

// restless is how much longer another program must leave the file alone before it
// counts; 0 when it does. What one of us wrote is complete.
func (w *write) restless(files ledgerFiles, s snapshot) time.Duration {
	if s.same(w.known.snapshot) && !s.torn {
		return 0
	}
	wait := w.unrest(s)
	if wait <= 0 {
		return 0
	}
	if l, _ := readLedger(files.ledger); l.knows(s) && !s.torn {
		return 0
	}
	return wait
}

// takeIn makes s what is known, and reports whether it is news. The lock is held.
func (w *write) takeIn(files ledgerFiles, s snapshot) (news bool, err error) {
	c, err := w.parse(s)
	if err != nil {
		return false, err
	}
	before := w.known
	w.lockedOut = lockout{}
	w.ledger = w.enroll(files, ledgerFor(files, c), &c)
	w.known = c
	return c.differs(before), nil
}

// put derives the next section, and replaces the file. The lock is held, and what
// is known is what the file holds.
func (w *write) put(at place, files ledgerFiles) (outcome, error) {
	section := w.known.sections[w.key]
	if !w.derived {
		next, err := w.derive(section)
		if errors.Is(err, settings.ErrUnchanged) {
			return outcome{done: true}, nil
		}
		if err != nil {
			return outcome{}, err
		}
		w.derived, w.from, w.next = true, section.Revision, next
	} else if section.Revision != w.from {
		return outcome{}, w.errUnrest()
	}
	doc, err := w.edit(section)
	if err != nil {
		return outcome{}, err
	}
	if doc == w.known.doc {
		return outcome{done: true, stored: &section}, nil
	}
	c, err := w.replace(at, files, w.known.snapshot, doc)
	if errors.Is(err, errMoved) {
		return outcome{}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	w.enroll(files, w.ledger, &c)
	w.known = c
	section = c.sections[w.key]
	return outcome{done: true, stored: &section}, nil
}

// edit is the document with the next section in place of the one that stands. It
// is the same document when nothing in it changes.
func (w *write) edit(section settings.Section) (*document.Document, error) {
	path := jsontree.Path{w.key}
	var edits []document.Edit
	switch {
	case w.next != nil && section.Problem != nil:
		edits = []document.Edit{{Path: path, Value: w.next}}
	case w.next != nil:
		edits = document.Diff(path, section.Data, w.next)
	case w.known.has(w.key):
		edits = []document.Edit{{Path: path, Unset: true}}
	}
	if len(edits) == 0 {
		return w.known.doc, nil
	}
	return w.known.doc.Apply(edits)
}

// replace writes the document to the disk, in place of the file as old has it.
func (w *write) replace(at place, files ledgerFiles, old snapshot, doc *document.Document) (content, error) {
	if err := errors.Join(at.checkTarget(), old.owner.check(w.path)); err != nil {
		return content{}, err
	}
	mode := old.mode.Perm() & 0o700
	if old.absent {
		mode = 0o600
		if err := os.MkdirAll(filepath.Dir(at.target), 0o700); err != nil {
			return content{}, w.unwritable(err)
		}
	}
	if err := sweep(tempOf(at, files)); err != nil {
		return content{}, w.unwritable(err)
	}
	info, err := w.swap(swap{
		target: at.target, temp: tempOf(at, files), data: doc.Bytes(), mode: mode, owner: old.owner,
		check: func() error { return w.unmoved(at, old) },
	})
	if errors.Is(err, errMoved) {
		return content{}, errMoved
	}
	if err != nil {
		return content{}, w.unwritable(err)
	}
	if wide := old.mode.Perm() & 0o077; wide != 0 && !w.narrow {
		w.narrow = true
		w.log.Warn("the settings file could be read or written by others: now only its owner can", "file", w.path, "mode", fmt.Sprintf("%04o", old.mode.Perm()))
	}
	s := snapshot{mode: mode, owner: old.owner, data: doc.Bytes(), young: true}
	if info != nil {
		s.stamp, s.owner = stampOf(info), ownerOf(info)
	}
	c := content{snapshot: s}
	c.adopt(doc, w.known)
	return c, nil
}

// unmoved reports whether the file is still the one that old was read of.
func (w *write) unmoved(at place, old snapshot) error {
	now, err := w.peek(at)
	if err != nil || now.absent != old.absent || now.stamp != old.stamp {
		return errMoved
	}
	return nil
}

// lock waits for the lock. Every write has its time, but writes that waited
// behind one that gave up have had theirs: one deadline for all of them.
func (w *write) lock(ctx context.Context, files ledgerFiles) (*state.HeldLock, error) {
	if err := w.home.Ensure(w.home.Run()); err != nil {
		return nil, w.unwritable(err)
	}
	from := w.entered
	if w.gaveUp.After(w.began) {
		from = w.began
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, from.Add(w.times.lock), fmt.Errorf("%s have passed", w.times.lock))
		defer cancel()
	}
	lock, err := state.Lock(ctx, files.lock)
	switch {
	case errors.Is(err, fault.LockTimeout):
		w.gaveUp = time.Now()
		return nil, err
	case err != nil:
		return nil, w.unwritable(err)
	}
	return lock, nil
}
