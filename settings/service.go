package settings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

// Options are what Open may be told.
type Options struct {
	// Log receives what nobody is there to be told: a section from outside that
	// is refused, a listener that failed. Nil drops it.
	Log *slog.Logger
}

// Service resolves the sections of one document for the owners that have
// registered. It is safe for concurrent use.
type Service struct {
	provider Provider
	log      *slog.Logger
	events   delivery

	// turn is held over every change of what mu guards that a check of an owner
	// may take time over: a publication, a commit, a registration. It is taken
	// inside the provider's exclusion and before mu.
	turn sync.Mutex

	mu         sync.Mutex
	sections   map[string]Section // our own, unlike a Document's
	registered map[Namespace]*registration
	order      []*registration // in the order of registration
	queues     map[Namespace]*queue
	closing    bool
	sealed     bool // nothing is published any more

	writes   sync.WaitGroup // calls of write
	watching sync.WaitGroup // goroutines of watchers; none starts once all have stopped

	// life ends when Close begins. It marks the calls of listeners and watchers.
	life    context.Context
	endLife context.CancelFunc

	closed   chan struct{} // closed when everything has come to rest
	closeErr error
}

// Open loads the provider's document and returns the service over it, which
// closes the provider when it is closed. When loading fails there is no service.
func Open(ctx context.Context, provider Provider, options Options) (*Service, error) {
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Service{
		provider:   provider,
		log:        log,
		registered: map[Namespace]*registration{},
		queues:     map[Namespace]*queue{},
		closed:     make(chan struct{}),
	}
	s.life, s.endLife = context.WithCancel(context.WithValue(context.Background(), callbackMark{s}, true))
	s.events.service = s
	// A publication that comes before the first document waits for it.
	s.turn.Lock()
	defer s.turn.Unlock()
	document, err := provider.Open(ctx, s.publish)
	if err != nil {
		s.endLife()
		return nil, err
	}
	s.sections = document.copy()
	return s, nil
}

// Writable reports whether the document can be written.
func (s *Service) Writable() bool { return s.provider.Writable() }

// Path is where the document is for an editor, "" when it is no file.
func (s *Service) Path() string { return s.provider.Path() }

// PrepareDocument creates an absent document, so that an editor can be opened on
// it, and returns its path; "" when it is no file.
func (s *Service) PrepareDocument(ctx context.Context) (string, error) {
	if s.isClosing() {
		return "", ErrClosed
	}
	return s.provider.PrepareDocument(ctx)
}

// Get returns the value of a namespace as a tree of the caller's own, and whether
// it is registered.
func (s *Service) Get(ns Namespace) (value any, registered bool) {
	s.mu.Lock()
	r := s.registered[ns]
	if r == nil {
		s.mu.Unlock()
		return nil, false
	}
	tree := r.state.value
	s.mu.Unlock()
	return jsontree.Clone(tree), true
}

// Stored reports whether the document has a section of a namespace, whoever owns
// that.
func (s *Service) Stored(ns Namespace) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	section := s.sections[string(ns)]
	return section.Data != nil || section.Problem != nil
}

// Refused reports whether the stored section of a registered namespace is not in
// force, because it does not resolve.
func (s *Service) Refused(ns Namespace) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.registered[ns]
	return r != nil && len(r.state.refused) > 0
}

// Close refuses new writes, registrations and calls of watchers, lets the write
// that is being stored land, and closes the provider; it waits until every event
// has been delivered and every call that had started has returned. Writes that
// are still queued are refused. When ctx ends first its error is returned and the
// rest comes to an end by itself; calling Close again waits again.
//
// With the context of a listener's or watcher's own call Close begins all this
// and returns nil at once, as it would wait for its caller.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closing
	s.closing = true
	s.mu.Unlock()
	inside := s.inCallback(ctx)
	if first {
		s.endLife()
		s.stopWatchers()
		go s.comeToRest(context.WithoutCancel(ctx))
	}
	if inside {
		return nil
	}
	select {
	case <-s.closed:
		return s.closeErr
	case <-ctx.Done():
		return fmt.Errorf("waiting for the settings to come to rest: %w", context.Cause(ctx))
	}
}

func (s *Service) comeToRest(ctx context.Context) {
	defer close(s.closed)
	s.writes.Wait()
	s.closeErr = s.provider.Close(ctx)
	s.turn.Lock()
	s.mu.Lock()
	s.sealed = true
	s.mu.Unlock()
	s.turn.Unlock()
	s.events.wait()
	s.watching.Wait()
}

func (s *Service) stopWatchers() {
	s.mu.Lock()
	order := slices.Clone(s.order)
	s.mu.Unlock()
	for _, r := range order {
		for _, w := range r.watchers() {
			w.stop()
		}
	}
}

func (s *Service) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// callbackMark and listenerMark are the keys by which a context says that it
// belongs to a call by this service.
type (
	callbackMark struct{ of *Service }
	listenerMark struct{ of *Service }
)

func (s *Service) inCallback(ctx context.Context) bool {
	return ctx.Value(callbackMark{s}) != nil
}

func (s *Service) inListener(ctx context.Context) bool {
	return ctx.Value(listenerMark{s}) != nil
}

// publish takes a document that was changed by somebody else. All namespaces have
// their new values before anybody is told of one. The provider calls it.
func (s *Service) publish(document Document) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	if s.sealed {
		s.mu.Unlock()
		return
	}
	order := slices.Clone(s.order)
	s.mu.Unlock()

	// Only the turn lets a state change, so what is resolved here stays right.
	next := make([]*state, len(order))
	for i, r := range order {
		if section := document.Sections[string(r.ns)]; section.Revision != r.state.section.Revision {
			next[i] = r.afterChange(section)
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.sections = document.copy()
	var batch []event
	for i, r := range order {
		if next[i] != nil && r.live {
			batch = append(batch, r.swap(next[i], FromProvider))
		}
	}
	s.events.enqueue(batch)
}

// afterChange is the state after the section was changed by somebody else: the
// last good value stays when the section cannot be resolved.
func (r *registration) afterChange(section Section) *state {
	next, err := r.resolve(section)
	if err == nil {
		return next
	}
	kept := r.keep(r.state, section, err)
	log := r.service.log.With("ns", string(r.ns), "revision", section.Revision)
	for _, problem := range kept.refused {
		log.Warn("a settings section is refused, the last good value stays", "path", problem.Path, "rule", problem.Keyword)
	}
	return kept
}

// keep is the value of a state over a section that was refused.
func (r *registration) keep(good *state, section Section, refusal error) *state {
	kept := *good
	kept.section = section
	kept.refused = problemsOf(refusal)
	kept.unknown, kept.ignored = nil, nil
	if user, ok := section.Data.(map[string]any); ok {
		resolved := r.schema.Resolve(r.base, user)
		kept.unknown, kept.ignored = resolved.Unknown, resolved.Ignored
	}
	return &kept
}

// errorCode is what may be logged of an error that is not ours: its text may hold
// a setting.
func errorCode(err error) slog.Attr {
	if errors.Is(err, errPanicked) {
		return slog.Group("error", "type", "panic")
	}
	code := fault.CodeOf(err)
	if code == "" && errors.Is(err, context.Canceled) {
		code = fault.Aborted
	}
	return slog.Group("error", "code", string(code), "type", fmt.Sprintf("%T", err))
}
