package settings

import (
	"context"
	"errors"
	"maps"
)

// Provider stores the document. It knows nothing of schemas and owners, and it
// is used by one Service.
//
// It calls its service back, by publish, derive and commit, never two at a time,
// and never from within Open. None of the three waits for a listener; derive and
// publish may take as long as the checks of owners do.
type Provider interface {
	// Writable reports whether Change can store anything. It does not change.
	Writable() bool

	// Path is where the document is for an editor, "" when it is no file. The
	// document may be absent.
	Path() string

	// Open loads the document. From then on publish is called with every document
	// that differs from the one before, one at a time and in order, until Close
	// has returned. An error means that nothing was opened.
	Open(ctx context.Context, publish func(Document)) (Document, error)

	// Change is one durable write of one section. It excludes every other writer
	// of the document, in this process and in others; reads the document again,
	// and calls publish first when anything in it differs from what was published
	// last; then calls derive, once, with the section as it stands.
	//
	// What derive returns becomes the section; it belongs to the provider from
	// then on. When derive returns ErrUnchanged nothing is written and Change
	// returns nil; when it returns another error nothing is written and Change
	// returns that error as it is.
	//
	// Once the section is stored, commit is called with it before Change returns:
	// still never beside a publish, but when writers of other processes are no
	// longer held up. No publish follows for what commit was told. When anything
	// fails, commit is not called and the document is as it was.
	//
	// ctx ends the wait for the turn; from the moment on at which the section is
	// being stored it is ignored. Change works in any namespace, and leaves every
	// other section as it is.
	Change(ctx context.Context, ns Namespace, derive func(Section) (map[string]any, error), commit func(Section)) error

	// PrepareDocument creates an absent document, empty, and returns its path, so
	// that an editor can be opened on it; "" when it is no file.
	PrepareDocument(ctx context.Context) (string, error)

	// Close stops watching and waits, until ctx ends, for the calls of publish,
	// derive and commit that have started. None starts after it has returned nil.
	// Closing again waits again.
	Close(ctx context.Context) error
}

// ErrUnchanged is how derive says that the section stays as it is.
var ErrUnchanged = errors.New("the section is unchanged")

// Document is the whole document at one moment. It is immutable once it has been
// handed over.
type Document struct {
	// Sections has every section by its key, whether the key is a legal namespace
	// or not. A section that was removed from the document stays here, with nil
	// Data and its own revision, for as long as the provider knows of it. A
	// namespace that is not here has revision 0, for Change too.
	Sections map[string]Section
}

// copy is the sections in a map of their own, never nil.
func (d Document) copy() map[string]Section {
	if d.Sections == nil {
		return map[string]Section{}
	}
	return maps.Clone(d.Sections)
}

// Section is one section as it is stored. It is immutable once it has been handed
// over.
type Section struct {
	// Data is a tree (see internal/jsontree), a map where all is well. It is nil
	// when the section is absent, null, or no JSON data.
	Data any

	// Null says that the section stands there and is null, which counts as absent:
	// all its keys commented out, for instance.
	Null bool

	// Revision counts the changes of the section's data, whoever made them, and
	// only grows: it is the same in every process and after a restart as long as
	// the section is the same.
	Revision uint64

	// Problem says why the section is no JSON data; Data is nil then. Its text
	// holds nothing of the document but places and kinds.
	Problem error
}
