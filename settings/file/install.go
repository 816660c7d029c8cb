package file

import (
	"bytes"
	"context"
	"errors"
	"time"

	"hardshell/internal/document"
	"hardshell/internal/fault"
)

// Content returns the text of the document as it stands, valid or not, for whoever
// shows or edits it as text; nil when it is absent. The codes are those of Open,
// but that the text need not be a document.
func (p *Provider) Content() ([]byte, error) {
	at, err := locate(p.path)
	if err != nil {
		return nil, err
	}
	s, err := p.read(at)
	if err != nil || s.absent {
		return nil, err
	}
	if s.data == nil {
		return []byte{}, nil
	}
	return s.data, nil
}

// Install makes text the whole document, byte for byte, if its content still is
// old, nil when it was absent: for a person who has edited a copy. It needs no
// Open; an open provider publishes what has changed. Whether the sections fit
// their schemas is not asked.
//
// SETTINGS_CONFLICT when the document is another than old by now.
// DOCUMENT_INVALID when text is no document. The other codes are those of Change.
func (p *Provider) Install(ctx context.Context, old, text []byte) error {
	began := time.Now()
	if ctx.Err() != nil {
		return fault.New(fault.Aborted, "the settings file was not written: %w", context.Cause(ctx))
	}
	doc, err := document.Parse(p.path, p.format, bytes.Clone(text))
	if err != nil {
		return err
	}
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.turn.give()
	before := p.known
	w := &write{Provider: p, began: began, entered: time.Now()}
	err = w.install(ctx, old, doc)
	if p.publish != nil {
		p.announce(before) // also what was taken in before a failure
	}
	return err
}

func (w *write) install(ctx context.Context, old []byte, doc *document.Document) error {
	at, err := locate(w.path)
	if err != nil {
		return err
	}
	files := w.filesOf(at)
	lock, err := w.lock(ctx, files)
	if err != nil {
		return err
	}
	defer lock.Release()
	s, err := w.read(at)
	if err != nil {
		return err
	}
	if s.torn || s.absent != (old == nil) || !bytes.Equal(s.data, old) {
		return w.errOther()
	}
	// What stands has its revisions, unless it is what the text is to mend.
	_, broken := w.takeIn(files, s)
	c, err := w.replace(at, files, s, doc)
	if errors.Is(err, errMoved) {
		return w.errOther()
	}
	if err != nil {
		return err
	}
	if broken != nil {
		w.ledger = ledgerFor(files, c)
	}
	w.enroll(files, w.ledger, &c)
	w.known = c
	return nil
}

func (p *Provider) errOther() error {
	return fault.New(fault.SettingsConflict, "the settings file %s has changed meanwhile: it was left as it is; read it again, then repeat the change", p.path)
}
