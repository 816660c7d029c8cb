package settings

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

// Memory is a Provider whose document is in memory: for tests, and for a library
// user whose settings end with the process. It is safe for concurrent use.
type Memory struct {
	store    *memoryStore
	readOnly bool

	// turn is held while the service is called back. It is taken before the store.
	turn    semaphore
	publish func(Document)
	seen    uint64
	calls   sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// memoryStore is the document that several providers share, as processes share
// a file.
type memoryStore struct {
	lock semaphore // one writer, as the lock file of a file

	mu       sync.Mutex
	sections map[string]Section // replaced whole, never changed
	version  uint64
	open     map[*Memory]bool
}

// NewMemory returns a provider over a new document with the given sections. A
// value that is no JSON data makes a section with a Problem.
func NewMemory(sections map[string]any) *Memory {
	store := &memoryStore{lock: newSemaphore(), open: map[*Memory]bool{}}
	store.replace(sections)
	return store.provider(false)
}

// NewReadOnlyMemory is NewMemory, but that nothing can be written through the
// provider.
func NewReadOnlyMemory(sections map[string]any) *Memory {
	m := NewMemory(sections)
	m.readOnly = true
	return m
}

// Beside returns another provider over the same document, as another process or
// a later one would have.
func (m *Memory) Beside() *Memory { return m.store.provider(m.readOnly) }

// Edit replaces the document from outside, as an editor does. Every open provider
// has published it when Edit returns. It must not be called back from a service.
func (m *Memory) Edit(sections map[string]any) {
	m.store.replace(sections)
	for _, provider := range m.store.opened() {
		if provider.begin() {
			provider.refresh()
		}
	}
}

// Stored returns the sections as they are stored, in a copy.
func (m *Memory) Stored() map[string]any {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	stored := map[string]any{}
	for key, section := range m.store.sections {
		if section.Data != nil {
			stored[key] = jsontree.Clone(section.Data)
		}
	}
	return stored
}

// Version counts what was done to the document, by writes and by edits.
func (m *Memory) Version() uint64 {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	return m.store.version
}

// Writable implements Provider.
func (m *Memory) Writable() bool { return !m.readOnly }

// Path implements Provider: there is no file.
func (m *Memory) Path() string { return "" }

// PrepareDocument implements Provider: there is no file.
func (m *Memory) PrepareDocument(context.Context) (string, error) { return "", nil }

// Open implements Provider.
func (m *Memory) Open(ctx context.Context, publish func(Document)) (Document, error) {
	if err := m.turn.acquire(ctx); err != nil {
		return Document{}, err
	}
	defer m.turn.release()
	m.publish = publish
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	m.store.open[m] = true
	m.seen = m.store.version
	return Document{Sections: m.store.sections}, nil
}

// Change implements Provider.
func (m *Memory) Change(ctx context.Context, ns Namespace, derive func(Section) (map[string]any, error), commit func(Section)) error {
	if m.readOnly {
		return fault.New(fault.SettingsReadOnly, "these settings cannot be written")
	}
	if err := m.turn.acquire(ctx); err != nil {
		return fmt.Errorf("waiting for the turn to write settings: %w", err)
	}
	defer m.turn.release()
	if !m.begin() {
		return ErrClosed
	}
	defer m.calls.Done()
	stored, err := m.write(ctx, ns, derive)
	if err != nil || stored == nil {
		return err
	}
	commit(*stored)
	for _, provider := range m.store.opened() {
		if provider != m && provider.begin() {
			go provider.refresh()
		}
	}
	return nil
}

// Close implements Provider.
func (m *Memory) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.store.mu.Lock()
	delete(m.store.open, m)
	m.store.mu.Unlock()
	quiet := make(chan struct{})
	go func() {
		m.calls.Wait()
		close(quiet)
	}()
	select {
	case <-quiet:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the settings to come to rest: %w", ctx.Err())
	}
}

// begin reports whether a call may start; Done must follow when it may.
func (m *Memory) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.calls.Add(1)
	return true
}

// write is the part of Change that the store's lock covers. It returns nil when
// nothing changed.
func (m *Memory) write(ctx context.Context, ns Namespace, derive func(Section) (map[string]any, error)) (*Section, error) {
	if err := m.store.lock.acquire(ctx); err != nil {
		return nil, fmt.Errorf("waiting for another writer of the settings: %w", err)
	}
	defer m.store.lock.release()
	sections := m.fold()
	next, err := derive(sections[string(ns)])
	if err == ErrUnchanged { //nolint:errorlint // the seam says that it is returned as it is
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	stored := Section{Data: next, Revision: sections[string(ns)].Revision + 1}
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	grown := maps.Clone(m.store.sections)
	grown[string(ns)] = stored
	m.store.sections = grown
	m.store.version++
	m.seen = m.store.version
	return &stored, nil
}

// refresh publishes what changed without this provider. It has begun.
func (m *Memory) refresh() {
	defer m.calls.Done()
	_ = m.turn.acquire(context.Background())
	defer m.turn.release()
	m.fold()
}

// fold publishes the document if it is news, and returns its sections. The turn
// is held.
func (m *Memory) fold() map[string]Section {
	m.store.mu.Lock()
	sections, version := m.store.sections, m.store.version
	m.store.mu.Unlock()
	if version != m.seen && m.publish != nil {
		m.seen = version
		m.publish(Document{Sections: sections})
	}
	return sections
}

func (s *memoryStore) provider(readOnly bool) *Memory {
	return &Memory{store: s, readOnly: readOnly, turn: newSemaphore()}
}

func (s *memoryStore) opened() []*Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []*Memory
	for provider := range s.open {
		open = append(open, provider)
	}
	return open
}

// replace makes the document hold exactly the given sections.
func (s *memoryStore) replace(edited map[string]any) {
	_ = s.lock.acquire(context.Background())
	defer s.lock.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	next := map[string]Section{}
	for key, was := range s.sections {
		if _, stays := edited[key]; !stays {
			if was.Data != nil || was.Problem != nil {
				was = Section{Revision: was.Revision + 1}
			}
			next[key] = was
		}
	}
	for key, value := range edited {
		was := s.sections[key]
		tree, err := jsontree.From(value)
		section := Section{Data: tree, Revision: was.Revision, Problem: err, Null: tree == nil && err == nil}
		if !jsontree.Equal(tree, was.Data) || (err == nil) != (was.Problem == nil) {
			section.Revision++
		}
		next[key] = section
	}
	s.sections = next
	s.version++
}

// semaphore is a lock whose wait a context can end. Waiters get it in the order
// in which they came.
type semaphore chan struct{}

func newSemaphore() semaphore { return make(semaphore, 1) }

func (s semaphore) acquire(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	default:
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s semaphore) release() { <-s }
