package settings

import (
	"context"
	"errors"
	"slices"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings/schema"
)

// Applies says when a change takes effect for the owner. It is a hint for people:
// an owner whose changes need a restart reads its value once.
type Applies string

// The two timings. The zero value of RegisterOptions.Applies means Live.
const (
	Live    Applies = "live"
	Restart Applies = "restart"
)

// RegisterOptions say what a namespace may hold.
type RegisterOptions[T any] struct {
	// Schema is what a section may hold; nil is what schema.For makes of T.
	Schema *schema.Schema

	// Base is the layer of the composition, below the user's: a map or a struct of
	// JSON data that has some of the keys. It is copied and never stored.
	Base any

	// Applies is a hint for people.
	Applies Applies

	// Tolerate lets a registration be made over a stored section that does not
	// resolve: for whoever mends it. The value is then that of an absent section,
	// and Descriptor.Problems says what is wrong.
	Tolerate bool

	// Validate refuses a value that fits the schema but that the owner cannot act
	// on. It is given a copy of the value, with all layers applied, and refuses
	// the write that the value would come from; a value from outside is refused
	// in favour of the last good one; at registration it fails the registration.
	//
	// The text of the error reaches people and must not quote values; a text that
	// quotes a secret is dropped. Validate has five seconds. It must not ask
	// anything of the service, which waits for it.
	Validate func(T) error
}

// validateLimit is how long a check of an owner may take.
const validateLimit = 5 * time.Second

// registration is a namespace that is registered, whatever the type of its value.
type registration struct {
	service *Service
	ns      Namespace
	schema  *schema.Schema
	base    any // tree, nil when there is none
	applies Applies
	owner   owner

	tolerate bool

	// Guarded by Service.mu; state changes only under Service.turn as well.
	state *state
	live  bool
	watch []*watcher

	// life ends when the registration does; it begins with the first watcher.
	life    context.Context
	endLife context.CancelFunc
}

// owner is what depends on the type of the value. Values are handed around boxed.
type owner interface {
	// decode makes a value of the owner's type.
	decode(tree map[string]any) (any, error)
	// checks reports whether the owner has a check.
	checks() bool
	// validate runs the owner's check on a value that it may keep or change.
	validate(value any) error
	// store makes value the one that Get returns.
	store(value any)
}

// state is a namespace at one moment. It is immutable.
type state struct {
	section Section
	value   map[string]any
	typed   any
	origin  map[string]schema.Origin
	unknown []string
	ignored []schema.Problem
	// refused is what is wrong with the section when the value is an older one's.
	refused []schema.Problem
}

// Register makes the caller the owner of a namespace, until the scope is closed.
// A namespace has one owner at a time. A stored section that does not resolve
// fails the registration with an *InvalidError, as does a base that does not.
func Register[T any](s *Service, ns Namespace, o RegisterOptions[T]) (*Scope[T], error) {
	if _, err := ParseNamespace(string(ns)); err != nil {
		return nil, err
	}
	applies := o.Applies
	switch applies {
	case "":
		applies = Live
	case Live, Restart:
	default:
		return nil, fault.New(fault.InvalidArgument, "settings of %q apply %q: say %q or %q", string(ns), string(applies), string(Live), string(Restart))
	}
	base, err := jsontree.From(o.Base)
	if err != nil {
		return nil, notJSON(ns, "$", err)
	}
	if _, ok := base.(map[string]any); !ok && base != nil {
		return nil, fault.New(fault.InvalidArgument, "the base of the settings of %q is %s: give a map or a struct", string(ns), kindOf(base))
	}
	known := o.Schema
	if known == nil {
		if known, err = schema.For[T](); err != nil {
			return nil, fault.New(fault.SettingsInvalid, "the schema of the settings of %q: %w", string(ns), err)
		}
	}
	scope := newScope[T](o.Validate)
	scope.registration = &registration{
		service: s, ns: ns, schema: known, base: base, applies: applies, owner: scope,
		tolerate: o.Tolerate,
	}
	if err := s.add(scope.registration); err != nil {
		return nil, err
	}
	return scope, nil
}

// add resolves the stored section for r and makes r the owner.
func (s *Service) add(r *registration) error {
	section, err := s.vacant(r.ns)
	if err != nil {
		return err
	}
	// The owner's check may be slow, so it runs before anything is held up by it.
	first, refusal := r.begin(section)

	// The turn keeps the section as it is until the registration sees changes.
	s.turn.Lock()
	defer s.turn.Unlock()
	now, err := s.vacant(r.ns)
	if err != nil {
		return err
	}
	if now.Revision != section.Revision {
		first, refusal = r.begin(now)
	}
	if refusal != nil {
		return refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return ErrClosed
	}
	r.owner.store(first.typed)
	r.state, r.live = first, true
	s.registered[r.ns] = r
	s.order = append(s.order, r)
	s.events.enqueue([]event{{registration: r, registered: &Registered{NS: r.ns}}})
	return nil
}

// begin is the first state of a registration.
func (r *registration) begin(section Section) (*state, error) {
	first, err := r.resolve(section)
	if err == nil || !r.tolerate {
		return first, err
	}
	without, broken := r.resolve(Section{})
	if broken != nil {
		return nil, broken
	}
	return r.keep(without, section, err), nil // whoever tolerates it tells of it
}

// vacant returns the section of a namespace that can be registered.
func (s *Service) vacant(ns Namespace) (Section, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return Section{}, ErrClosed
	case s.registered[ns] != nil:
		return Section{}, fault.New(fault.InvalidArgument, "the settings namespace %q is already registered: a namespace has one owner", string(ns))
	}
	return s.sections[string(ns)], nil
}

// remove ends a registration. Its namespace is free when it returns, and no call
// of a watcher starts any more.
func (s *Service) remove(r *registration) {
	s.mu.Lock()
	if r.live {
		r.live = false
		delete(s.registered, r.ns)
		s.order = slices.DeleteFunc(s.order, func(other *registration) bool { return other == r })
		s.events.enqueue([]event{{registration: r, registered: &Registered{NS: r.ns, Gone: true}}})
	}
	watchers, endLife := slices.Clone(r.watch), r.endLife
	s.mu.Unlock()
	if endLife != nil {
		endLife()
	}
	for _, w := range watchers {
		w.stop()
	}
}

// resolve makes a state of a section, or an *InvalidError. It calls the owner's
// check, so it may take its time.
func (r *registration) resolve(section Section) (*state, error) {
	if section.Problem != nil {
		return nil, notJSON(r.ns, "$", section.Problem)
	}
	user, isMap := section.Data.(map[string]any)
	if !isMap && section.Data != nil {
		return nil, r.invalid("$", "type", "must be a map of settings, not "+kindOf(section.Data))
	}
	var layer any
	if user != nil {
		layer = user
	}
	resolved := r.schema.Resolve(r.base, layer)
	if len(resolved.Problems) > 0 {
		return nil, &InvalidError{NS: r.ns, Problems: resolved.Problems}
	}
	next := &state{
		section: section, value: resolved.Value, origin: resolved.Origin,
		unknown: resolved.Unknown, ignored: resolved.Ignored,
	}
	if section.Null {
		next.ignored = append(next.ignored, schema.Problem{Path: "$", Keyword: "type", Message: "is null and counts as absent"})
	}
	var err error
	if next.typed, err = r.owner.decode(next.value); err != nil {
		return nil, r.invalid("$", "type", "must fit in the type of its owner: "+err.Error())
	}
	if err := r.check(next); err != nil {
		return nil, err
	}
	return next, nil
}

// check runs the owner's check, on a copy and for a limited time.
func (r *registration) check(candidate *state) error {
	if !r.owner.checks() {
		return nil
	}
	private, err := r.owner.decode(candidate.value)
	if err != nil {
		return r.invalid("$", "type", "must fit in the type of its owner: "+err.Error())
	}
	refusal := inTime(validateLimit, func() error { return r.owner.validate(private) })
	switch {
	case refusal == nil:
		return nil
	case errors.Is(refusal, errPanicked):
		return r.invalid("$", "validate", "could not be checked: the check of the owner panicked")
	case errors.Is(refusal, errTooLong):
		return r.invalid("$", "validate", "could not be checked: the check of the owner took longer than "+validateLimit.String())
	}
	message := refusal.Error()
	if r.quotesSecret(candidate.value, message) {
		message = "is refused by its owner, in words that quote a secret"
	}
	return r.invalid("$", "validate", message)
}

func (r *registration) invalid(path, keyword, message string) error {
	return &InvalidError{NS: r.ns, Problems: []schema.Problem{{Path: path, Keyword: keyword, Message: message}}}
}

// swap makes next what everybody sees, and returns what there is to tell. The
// service's turn and mu are held.
func (r *registration) swap(next *state, source Source) event {
	was := r.state
	r.state = next
	r.owner.store(next.typed)
	e := event{registration: r}
	if next.section.Revision != was.section.Revision {
		e.document = &DocumentUpdated{NS: r.ns, Revision: next.section.Revision}
	}
	if !jsontree.Equal(was.value, next.value) {
		e.updated, e.source = true, source
		e.prev, e.next = was, next
		e.watchers = slices.Clone(r.watch)
	}
	return e
}

func (r *registration) watchers() []*watcher {
	r.service.mu.Lock()
	defer r.service.mu.Unlock()
	return slices.Clone(r.watch)
}

func problemsOf(err error) []schema.Problem {
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return invalid.Problems
	}
	return []schema.Problem{{Path: "$", Keyword: "type", Message: "cannot be resolved"}}
}

func kindOf(tree any) string {
	switch tree.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}
