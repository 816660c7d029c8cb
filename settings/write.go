package settings

import (
	"context"
	"fmt"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings/schema"
)

// Expect is the revision that a write was derived from. The zero value expects
// nothing: the write is applied to the section as it stands.
type Expect struct {
	revision uint64
	set      bool
}

// ExpectRevision refuses the write, with a *ConflictError, when the section has
// another revision when the write's turn comes.
func ExpectRevision(revision uint64) Expect { return Expect{revision, true} }

// Update lays patch, a map or struct of JSON data, over the user's section: maps
// are merged, anything else replaces what was there. The section that results is
// checked with all layers applied, stored, and seen by every reader before Update
// returns and before anybody is told.
//
// Writes of one namespace are applied in the order of their calls, each to what
// the one before has left. The patch is copied before Update waits for anything.
// What changes nothing writes nothing. After an error nothing has changed, but
// for an INVARIANT: that is of a listener, and the write is stored.
//
// When ctx ends before the section is being stored its cause is returned and
// nothing has changed; when it ends while listeners are being told, nil.
func (s *Service) Update(ctx context.Context, ns Namespace, patch any, expect Expect) error {
	r, err := s.find(ns)
	if err != nil {
		return err
	}
	return r.update(ctx, patch, expect)
}

// Replace makes section, a map or struct of JSON data, the user's whole section;
// keys that it does not have get the values of the layers below. In all else it
// is like Update. Whoever has seen only a redacted section must not replace it,
// but use Mutate.
func (s *Service) Replace(ctx context.Context, ns Namespace, section any, expect Expect) error {
	r, err := s.find(ns)
	if err != nil {
		return err
	}
	return r.replace(ctx, section, expect)
}

// Mutate applies edits to the user's section, all or none: each to what the one
// before it has left, the first to the section as it stands when the write's turn
// comes. A path that leads through anything but a map is a PATH_NOT_CONTAINER. In
// all else it is like Update.
func (s *Service) Mutate(ctx context.Context, ns Namespace, ops []Op, expect Expect) error {
	edits, err := readOps(ns, ops)
	if err != nil {
		return err
	}
	r, err := s.find(ns)
	if err != nil {
		return err
	}
	if err := r.writable(ctx); err != nil {
		return err
	}
	return r.write(ctx, expect, edits.nulls(), edits.apply)
}

func (s *Service) find(ns Namespace) (*registration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.registered[ns]; r != nil {
		return r, nil
	}
	return nil, errNotRegistered(ns)
}

func (r *registration) update(ctx context.Context, patch any, expect Expect) error {
	tree, err := r.input(ctx, "update", patch)
	if err != nil {
		return err
	}
	return r.write(ctx, expect, nullsIn(tree), func(section Section) (map[string]any, error) {
		current, err := asMap(r.ns, section)
		if err != nil {
			return nil, err
		}
		return jsontree.Merge(current, tree).(map[string]any), nil
	})
}

func (r *registration) replace(ctx context.Context, section any, expect Expect) error {
	tree, err := r.input(ctx, "replacement", section)
	if err != nil {
		return err
	}
	return r.write(ctx, expect, nullsIn(tree), func(Section) (map[string]any, error) {
		return tree, nil
	})
}

// input makes the calls' checks and takes the snapshot of what they were given.
func (r *registration) input(ctx context.Context, verb string, v any) (map[string]any, error) {
	if err := r.writable(ctx); err != nil {
		return nil, err
	}
	tree, err := jsontree.From(v)
	if err != nil {
		return nil, notJSON(r.ns, "$", err)
	}
	asMap, ok := tree.(map[string]any)
	if !ok {
		return nil, fault.New(fault.InvalidArgument, "the %s of the settings of %q is %s: give a map of settings", verb, string(r.ns), kindOf(tree))
	}
	return asMap, nil
}

// writable makes the checks that need no input.
func (r *registration) writable(ctx context.Context) error {
	s := r.service
	s.mu.Lock()
	live, closing := r.live, s.closing
	s.mu.Unlock()
	switch {
	case s.inListener(ctx):
		return ErrInListener
	case !live:
		return errNotRegistered(r.ns)
	case closing:
		return ErrClosed
	case !s.provider.Writable():
		return fault.New(fault.SettingsReadOnly, "the settings cannot be written: their document is read-only here")
	}
	return nil
}

// write queues a change and makes it. Nulls are the paths at which the change
// itself says null.
func (r *registration) write(ctx context.Context, expect Expect, nulls []jsontree.Path, derive func(Section) (map[string]any, error)) error {
	s := r.service
	if ctx.Err() != nil {
		return fmt.Errorf("the settings of %q were not written: %w", r.ns, context.Cause(ctx))
	}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return ErrClosed
	}
	s.writes.Add(1)
	defer s.writes.Done()
	if err := s.enter(ctx, r.ns); err != nil {
		return fmt.Errorf("the settings of %q were not written: %w", r.ns, err)
	}
	defer s.leave(r.ns)
	if err := r.stillWanted(false); err != nil {
		return err
	}

	// The owner's check may be slow: it runs before the document is locked, and
	// again only when the section turns out to be another one.
	s.mu.Lock()
	known := s.sections[string(r.ns)]
	s.mu.Unlock()
	try := r.try(known, expect, nulls, derive)
	var told *batch
	err := s.provider.Change(ctx, r.ns, func(section Section) (map[string]any, error) {
		if err := r.stillWanted(true); err != nil {
			return nil, err
		}
		if section.Revision != try.revision {
			try = r.try(section, expect, nulls, derive)
		}
		return try.next, try.err
	}, func(stored Section) {
		told = s.commit(r, stored, try.state)
	})
	if err != nil {
		return err
	}
	if told == nil {
		return nil
	}
	select {
	case <-told.done:
	case <-ctx.Done():
		return nil
	}
	if told.broken != nil {
		return fault.New(fault.Invariant, "the settings of %q are stored, but a listener found a broken invariant: %w", string(r.ns), told.broken)
	}
	return nil
}

// try is what a write makes of a section of some revision: the section to store
// and the state that comes of it, or why there is none.
type try struct {
	revision uint64
	next     map[string]any
	state    *state
	err      error
}

func (r *registration) try(section Section, expect Expect, nulls []jsontree.Path, derive func(Section) (map[string]any, error)) try {
	refuse := func(err error) try { return try{revision: section.Revision, err: err} }
	if expect.set && expect.revision != section.Revision {
		return refuse(&ConflictError{NS: r.ns, Expected: expect.revision, Actual: section.Revision})
	}
	next, err := derive(section)
	if err != nil {
		return refuse(err)
	}
	unchanged := section.Problem == nil && sameSection(section.Data, next)
	if unchanged && len(nulls) == 0 {
		return refuse(ErrUnchanged)
	}
	resolved, err := r.resolve(Section{Data: next})
	if err != nil {
		return refuse(err)
	}
	if problems := r.newNulls(resolved, section, nulls); len(problems) > 0 {
		return refuse(&InvalidError{NS: r.ns, Problems: problems})
	}
	if unchanged {
		return refuse(ErrUnchanged)
	}
	return try{section.Revision, next, resolved, nil}
}

// stillWanted refuses a write whose turn has come too late. One that is on its
// way to the document when the service closes is let through.
func (r *registration) stillWanted(onItsWay bool) error {
	r.service.mu.Lock()
	defer r.service.mu.Unlock()
	switch {
	case !r.live:
		return errGone(r.ns)
	case r.service.closing && !onItsWay:
		return errClosedBefore(r.ns)
	}
	return nil
}

// commit makes a stored section the one that everybody sees. A registration that
// has taken the place of the writer's meanwhile resolves it anew.
func (s *Service) commit(r *registration, stored Section, candidate *state) *batch {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	current := s.registered[r.ns]
	s.mu.Unlock()
	next, source := candidate, FromUpdate
	next.section = stored
	if current != nil && current != r {
		next, source = current.afterChange(stored), FromProvider
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.sections[string(r.ns)] = stored
	if current == nil || !current.live {
		return nil
	}
	return s.events.enqueue([]event{current.swap(next, source)})
}

// newNulls are the nulls of a write that the schema does not allow. Such nulls
// that are in the document already, and that the write does not repeat, hinder
// nobody: they count as absent.
func (r *registration) newNulls(candidate *state, was Section, said []jsontree.Path) []schema.Problem {
	if len(candidate.ignored) == 0 {
		return nil
	}
	tolerated := map[string]bool{}
	if user, ok := was.Data.(map[string]any); ok {
		for _, problem := range r.schema.Resolve(r.base, user).Ignored {
			tolerated[problem.Path] = true
		}
	}
	for _, path := range said {
		delete(tolerated, path.String())
	}
	var problems []schema.Problem
	for _, problem := range candidate.ignored {
		if !tolerated[problem.Path] {
			problems = append(problems, problem)
		}
	}
	return problems
}

// nullsIn are the paths of the nulls of tree, as far as maps lead.
func nullsIn(tree any) []jsontree.Path {
	var found []jsontree.Path
	var walk func(node any, path jsontree.Path)
	walk = func(node any, path jsontree.Path) {
		switch node := node.(type) {
		case nil:
			found = append(found, append(jsontree.Path(nil), path...))
		case map[string]any:
			for key, value := range node {
				walk(value, append(path, key))
			}
		}
	}
	walk(tree, nil)
	return found
}

// sameSection compares sections; an absent one is an empty one.
func sameSection(stored any, next map[string]any) bool {
	if stored == nil {
		return len(next) == 0
	}
	return jsontree.Equal(stored, next)
}

// asMap is a stored section as what an edit starts from.
func asMap(ns Namespace, section Section) (map[string]any, error) {
	if section.Problem != nil {
		return nil, notJSON(ns, "$", section.Problem)
	}
	if section.Data == nil {
		return map[string]any{}, nil
	}
	current, ok := section.Data.(map[string]any)
	if !ok {
		return nil, fault.New(fault.PathNotContainer, "the settings of %q are %s in the document, not a map: replace the section as a whole", string(ns), kindOf(section.Data))
	}
	return current, nil
}
