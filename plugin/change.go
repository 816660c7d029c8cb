package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hardshell/internal/fault"
)

// change is one change of a composition. It holds the turn of the host.
type change struct {
	*Host
	ctx    context.Context
	number int
	// verbose says that the log wants to know each step.
	verbose bool
	errs    []error // of the rows that failed on the way
}

func (c *change) end() {
	c.mu.Lock()
	c.running = nil // its context lives on: who was given it may have kept it
	c.mu.Unlock()
	<-c.turn
}

// note keeps an error for the caller.
func (c *change) note(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *change) set(r *row, s State, err error) {
	c.mu.Lock()
	r.state, r.err = s, err
	c.mu.Unlock()
	switch {
	case err != nil:
		c.log.Warn("row", "id", r.ID, "plugin", r.Plugin, "state", s, "error", err)
	case c.verbose: // asked once, for the arguments cost more than the change
		c.log.Debug("row", "id", r.ID, "plugin", r.Plugin, "state", s)
	}
}

// put makes next a row, in the place of the ended row with its id.
func (c *change) put(next Row) {
	r := c.row(next.ID)
	c.mu.Lock()
	if r == nil {
		r = &row{rank: len(c.rows) + 1}
		c.rows = append(c.rows, r)
	}
	if r.plugin != nil {
		for _, k := range r.plugin.Provides {
			if c.claims[k.Name()] == r {
				delete(c.claims, k.Name())
			}
		}
	}
	r.Row, r.plugin, r.uses, r.conflict = next, c.plugins[next.Plugin], nil, false
	c.mu.Unlock()
	switch {
	case r.Disabled:
		c.set(r, Disposed, nil)
	case r.plugin == nil:
		c.fail(r, fault.New(fault.InvalidArgument, "there is no plugin %q", r.Plugin))
	default:
		c.claim(r)
	}
	for _, o := range c.rows {
		if o.conflict && o != r {
			c.claim(o)
		}
	}
}

// claim makes r the one provider of its services, and pending, or failed when
// another row claims one of them.
func (c *change) claim(r *row) {
	for _, k := range r.plugin.Provides {
		if o := c.claims[k.Name()]; o != nil && o != r {
			err := errProvided(k.Name(), o.ID, r.ID)
			if r.conflict {
				c.set(r, Failed, err) // no news for the caller, but the other row may be another one
			} else {
				c.fail(r, err)
			}
			r.conflict = true
			return
		}
	}
	c.mu.Lock()
	for _, k := range r.plugin.Provides {
		c.claims[k.Name()] = r
	}
	c.mu.Unlock()
	r.conflict = false
	c.set(r, Pending, nil)
}

func (c *change) fail(r *row, err error) {
	c.note(fmt.Errorf("row %q: %w", r.ID, err))
	c.set(r, Failed, err)
}

// settle applies rows until none is left that can be, and returns what failed.
func (c *change) settle() error {
	for r := c.next(); r != nil; r = c.next() {
		if c.ctx.Err() != nil {
			c.note(fault.New(fault.Aborted, "row %q was not applied: %w", r.ID, c.ctx.Err()))
			break
		}
		c.activate(r)
	}
	return errors.Join(c.errs...)
}

// next returns a row that can be applied. One whose optional service may still
// come has its turn when there is no other.
func (c *change) next() *row {
	var patient *row
	for _, r := range c.rows {
		if r.state != Pending || !c.ready(r) {
			continue
		}
		if !slices.ContainsFunc(r.plugin.Optional, c.mayCome) {
			return r
		}
		if patient == nil {
			patient = r
		}
	}
	return patient
}

func (c *change) ready(r *row) bool {
	return !slices.ContainsFunc(r.plugin.Needs, func(k AnyKey) bool { return c.provider(k) == nil })
}

func (c *change) mayCome(k AnyKey) bool {
	r := c.claims[k.Name()]
	return r != nil && r.state == Pending
}

// activate applies the plugin of r.
func (c *change) activate(r *row) {
	c.set(r, Loading, nil)
	a := &Activation{Row: r.ID, Config: r.Config, plugin: r.plugin, uses: c.hand(r)}
	r.uses = a.uses
	scope, err := c.root.child(r.ID, r.rank, a)
	if err != nil {
		c.fail(r, err)
		return
	}
	a.Scope, r.scope = scope, scope
	c.mu.Lock()
	c.clock++
	r.since = c.clock
	c.mu.Unlock()
	if err := c.apply(r, a); err != nil {
		// What was begun is undone in full, above all when the end of ctx is why.
		undone := scope.close(context.WithoutCancel(c.ctx))
		r.scope = nil
		c.fail(r, errors.Join(err, undone))
		return
	}
	c.set(r, Active, nil)
	c.offer(r)
}

// hand returns the services that r uses when it is applied now.
func (c *change) hand(r *row) []use {
	uses := make([]use, 0, len(r.plugin.Needs)+len(r.plugin.Optional))
	for _, keys := range [2][]AnyKey{r.plugin.Needs, r.plugin.Optional} {
		for _, k := range keys {
			if p := c.provider(k); p != nil {
				v, _ := c.root.services.find(k)
				uses = append(uses, use{key: k, value: v, from: p})
			}
		}
	}
	return uses
}

func (c *change) apply(r *row, a *Activation) error {
	ctx, f := enter(c.ctx, a.Scope, nil)
	defer f.leave()
	if _, err := contain(c.log, "the plugin", func() error { return r.plugin.Apply(ctx, a) }); err != nil {
		return err
	}
	for _, k := range r.plugin.Provides {
		if _, ok := c.root.services.find(k); !ok {
			return fault.New(fault.Invariant, "plugin %q did not provide service %q: provide in Apply what Provides declares", r.Plugin, k.Name())
		}
	}
	return nil
}

// offer ends the rows that would use a service of r, which has just come, to be
// applied again with it. Rows that r itself uses stay as they are, and no row is
// ended for this twice in a change: so a change comes to its end.
func (c *change) offer(r *row) {
	for _, o := range c.rows {
		wants := o.state == Active && slices.ContainsFunc(o.plugin.Optional, func(k AnyKey) bool {
			return slices.Contains(r.plugin.Provides, k)
		})
		if wants && o.again != c.number && !slices.Contains(c.users(o), r) {
			o.again = c.number
			c.unload(o)
		}
	}
}

// unload ends r, and before it the rows that use its services, the latest first.
// All are pending then. So are the rows that failed with its services.
func (c *change) unload(r *row) {
	set := c.users(r)
	for _, o := range slices.Backward(set) {
		c.close(o)
	}
	for _, o := range c.rows {
		if o.state == Failed && slices.ContainsFunc(o.uses, func(u use) bool { return slices.Contains(set, u.from) }) {
			c.set(o, Pending, nil)
		}
	}
}

// close ends one row.
func (c *change) close(r *row) {
	if r.scope == nil {
		return
	}
	c.set(r, Unloading, nil)
	if err := r.scope.close(c.ctx); err != nil {
		err = fmt.Errorf("row %q did not end well: %w", r.ID, err)
		c.log.Warn("row", "id", r.ID, "plugin", r.Plugin, "error", err)
		c.note(err)
	}
	r.scope = nil
	c.set(r, Pending, nil)
}
