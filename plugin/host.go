package plugin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"hardshell/internal/fault"
)

// Host runs the rows of a composition. It is safe for concurrent use: what
// changes the composition happens one after the other, everything else never
// waits.
//
// Work that the host waits for cannot change the composition: an Apply, deferred
// work or a listener of a row that does, with the context it was given, gets an
// INVARIANT error. With another context it would wait until that is over.
type Host struct {
	plugins map[string]*Plugin
	log     *slog.Logger
	root    *Scope

	turn chan struct{} // holds one token while the composition is changed

	// mu guards what follows against readers; only the holder of the turn writes.
	mu     sync.Mutex
	rows   []*row // in their order
	claims map[string]*row
	clock  int // counts activations and changes
	closed bool
	err    error // what Close returned
	// running ends the context of the change that goes on; nil without one.
	running context.CancelFunc
}

// row is a Row and its life.
type row struct {
	Row
	rank     int
	plugin   *Plugin // nil when there is none of that name
	state    State
	err      error
	conflict bool // failed because another row provides the same
	// scope is that of the activation, nil without one; uses are the services of
	// the last one, since is when it was.
	scope *Scope
	uses  []use
	since int
	again int // the change in which it was ended for an optional service
}

// NewHost returns a host without rows for rows of the given plugins. An error
// names the plugin that is at fault. Log is told what rows do, nil for nothing.
func NewHost(plugins []Plugin, log *slog.Logger) (*Host, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &Host{
		plugins: make(map[string]*Plugin, len(plugins)), log: log, root: NewScope("host", log),
		turn: make(chan struct{}, 1), claims: map[string]*row{},
	}
	types := make(map[string]AnyKey, len(plugins))
	own := slices.Clone(plugins)
	for i := range own {
		p := &own[i]
		if err := p.check(types); err != nil {
			return nil, err
		}
		if h.plugins[p.Name] != nil {
			return nil, fault.New(fault.Invariant, "plugin %q stands twice: remove one", p.Name)
		}
		h.plugins[p.Name] = p
	}
	return h, nil
}

// Load adds rows and applies those that can be. A row id that stands twice, or
// belongs to a row already, is refused and nothing is added; a disposed row can
// be replaced. Otherwise all rows are added, and the errors of those that failed
// are joined: Audit tells of the pending ones. When ctx is over, no further row
// is applied, and the next change goes on.
func (h *Host) Load(ctx context.Context, rows []Row) error {
	c, err := h.begin(ctx)
	if err != nil {
		return err
	}
	defer c.end()
	added := make(map[string]Row, len(rows))
	for _, r := range rows {
		other, taken := added[r.ID]
		if old := h.row(r.ID); old != nil && old.state != Disposed {
			other, taken = old.Row, true
		}
		switch {
		case r.ID == "":
			return fault.New(fault.InvalidArgument, "a row of plugin %q has no id: give it one", r.Plugin)
		case taken:
			return fault.New(fault.InvalidArgument, "row id %q stands twice, for plugin %q and for plugin %q: rename or remove one", r.ID, other.Plugin, r.Plugin)
		}
		added[r.ID] = r
	}
	c.mu.Lock()
	c.rows = slices.Grow(c.rows, len(rows))
	c.mu.Unlock()
	for _, r := range rows {
		c.put(r)
	}
	return c.settle()
}

// Add adds one row, as Load does.
func (h *Host) Add(ctx context.Context, r Row) error { return h.Load(ctx, []Row{r}) }

// Reload replaces a row by one with the same id, disposed or not, at the same
// place. The rows that use its services end first, the latest first, then the
// row, and all come back; other rows are left alone. The error joins what failed
// on the way. When the new row fails it stays failed: reload the old one to go
// back.
func (h *Host) Reload(ctx context.Context, r Row) error {
	return h.replace(ctx, r.ID, func(Row) Row { return r })
}

// Unload ends a row, and first the rows that use its services; those come back
// with the next provider. It stays known as disposed, until Reload or Add.
func (h *Host) Unload(ctx context.Context, id string) error {
	return h.replace(ctx, id, func(r Row) Row {
		r.Disabled = true
		return r
	})
}

func (h *Host) replace(ctx context.Context, id string, next func(Row) Row) error {
	c, err := h.begin(ctx)
	if err != nil {
		return err
	}
	defer c.end()
	r := h.row(id)
	if r == nil {
		return fault.New(fault.InvalidArgument, "there is no row %q: add it", id)
	}
	c.unload(r)
	c.put(next(r.Row))
	return c.settle()
}

// Close ends all rows, the latest first, even when ctx is over. The host takes
// no rows after that. Later calls return the same.
//
// A change that goes on is waited for; when ctx is over, that one's context is too.
func (h *Host) Close(ctx context.Context) error {
	hurry := context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.running != nil {
			h.running()
		}
	})
	defer hurry()
	c, err := h.take(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer c.end()
	c.ctx = ctx
	if h.closed {
		return h.err
	}
	for _, r := range slices.Backward(h.byAge()) {
		c.close(r)
	}
	for _, r := range h.rows {
		c.set(r, Disposed, nil)
	}
	c.note(h.root.Close(c.ctx))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed, h.err = true, errors.Join(c.errs...)
	return h.err
}

// Status returns the rows in their order: that in which they were added first.
func (h *Host) Status() []Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Status, len(h.rows))
	for i, r := range h.rows {
		all[i] = Status{ID: r.ID, Plugin: r.Plugin, State: r.state, Err: r.err}
		if r.state == Pending {
			all[i].Waiting = h.waiting(r)
		}
	}
	return all
}

// Service returns a service of an active row of h. It must not be used after
// that row has ended; a plugin that needs it declares it instead.
func Service[T any](h *Host, k Key[T]) (T, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.provider(k) == nil {
		return as[T](nil), false
	}
	v, ok := h.root.services.find(k)
	return as[T](v), ok
}

// begin waits until the composition can be changed.
func (h *Host) begin(ctx context.Context) (*change, error) {
	c, err := h.take(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case h.closed:
		err = ErrInactive
	case ctx.Err() != nil:
		err = errOver(ctx)
	default:
		return c, nil
	}
	c.end()
	return nil, err
}

func (h *Host) take(ctx context.Context) (*change, error) {
	if runs(ctx, h.root) {
		return nil, fault.New(fault.Invariant, "the work of a row cannot change the composition: return first")
	}
	select {
	case h.turn <- struct{}{}:
	default:
		select {
		case h.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, errOver(ctx)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	ctx, h.running = context.WithCancel(ctx)
	return &change{Host: h, ctx: ctx, number: h.clock, verbose: h.log.Enabled(ctx, slog.LevelDebug)}, nil
}

func errOver(ctx context.Context) error {
	return fault.New(fault.Aborted, "the composition was not changed: %w", ctx.Err())
}

func (h *Host) row(id string) *row {
	for _, r := range h.rows {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// provider returns the active row that provides k, nil when there is none.
func (h *Host) provider(k AnyKey) *row {
	if r := h.claims[k.Name()]; r != nil && r.state == Active && slices.Contains(r.plugin.Provides, k) {
		return r
	}
	return nil
}

// waiting names the needs of r that no active row provides.
func (h *Host) waiting(r *row) (names []string) {
	for _, k := range r.plugin.Needs {
		if h.provider(k) == nil {
			names = append(names, k.Name())
		}
	}
	return names
}

// byAge returns the rows that have a scope in the order of their activation, in
// which no row comes before one that it uses.
func (h *Host) byAge() []*row {
	var rows []*row
	for _, r := range h.rows {
		if r.scope != nil {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.since, b.since) })
	return rows
}

// users returns r and the active rows that use its services, or those of its
// users, in the order of their activation.
func (h *Host) users(r *row) []*row {
	set := []*row{r}
	for _, o := range h.byAge() {
		if slices.ContainsFunc(o.uses, func(u use) bool { return slices.Contains(set, u.from) }) {
			set = append(set, o)
		}
	}
	return set
}
