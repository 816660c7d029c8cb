package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// PrepareDocument implements settings.Provider. An absent file is created empty,
// with the directories above it; of a link that leads nowhere, its target. The
// codes are those of Change.
func (p *Provider) PrepareDocument(ctx context.Context) (string, error) {
	began := time.Now()
	if err := p.enter(ctx); err != nil {
		return "", err
	}
	defer p.turn.give()
	at, err := locate(p.path)
	if err != nil {
		return "", err
	}
	if s, err := p.peek(at); err != nil || !s.absent {
		return p.path, err
	}
	w := &write{Provider: p, began: began, entered: time.Now()}
	files := p.filesOf(at)
	lock, err := w.lock(ctx, files)
	if err != nil {
		return "", err
	}
	defer lock.Release()
	if err := at.checkTarget(); err != nil {
		return "", err
	}
	s, err := p.create(at)
	if errors.Is(err, fs.ErrExist) {
		return p.path, nil
	}
	if err != nil {
		return "", p.unwritable(err)
	}
	c, err := p.parse(s)
	if err != nil {
		return "", err
	}
	l, _ := ledgerFor(files, c).advance(c.digest, c.hashes, p.known.entries)
	if err := p.store(files, l); err != nil {
		p.log.Debug("the revisions of the settings could not be stored", "error", err)
	}
	// A document that went a moment ago, and that has not been missed yet, is
	// found to be gone by the next look.
	if p.known.doc != nil && p.known.absent {
		c.number(l)
		p.known = c
	}
	return p.path, nil
}

// create makes the empty file at a place where none is.
func (p *Provider) create(at place) (snapshot, error) {
	step := p.hooks.step
	if step == nil {
		step = func(string) error { return nil }
	}
	if err := os.MkdirAll(filepath.Dir(at.target), 0o700); err != nil {
		return snapshot{}, err
	}
	dir, err := os.Open(filepath.Dir(at.target))
	if err != nil {
		return snapshot{}, err
	}
	defer dir.Close()
	if err := step("prepare-create"); err != nil {
		return snapshot{}, err
	}
	f, err := os.OpenFile(at.target, os.O_RDWR|os.O_CREATE|os.O_EXCL|openFlags, 0o600)
	if err != nil {
		return snapshot{}, err
	}
	err = step("prepare-sync")
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Sync(), syncDir(dir))
	}
	s, statErr := p.stat(f)
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return snapshot{}, errors.Join(err, os.Remove(at.target))
	}
	return s, nil
}
