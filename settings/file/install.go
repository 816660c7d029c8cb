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
	if err := w.install(ctx, old, doc); err != nil {
		return err
	}
	if p.publish != nil {
		p.announce(before)
	}
	return nil
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
	c, err := w.replace(at, files, s, doc)
	if errors.Is(err, errMoved) {
		return w.errOther()
	}
	if err != nil {
		return err
	}
	w.enroll(files, ledgerFor(files, c), &c)
	w.known = c
	return nil
}

func (p *Provider) errOther() error {
	return fault.New(fault.SettingsConflict, "the settings file %s has changed meanwhile: it was left as it is; read it again, then repeat the change", p.path)
}
