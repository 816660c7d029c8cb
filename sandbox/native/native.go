package native

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hardshell/internal/fault"
	"hardshell/internal/realpath"
	"hardshell/internal/state"
	"hardshell/sandbox"
	"hardshell/subprocess"
)

// Config says where a provider keeps what it needs.
type Config struct {
	// Home is the home of hardshell; "" is $DSH_HOME, else ~/.hardshell. It is
	// hidden from every sandbox.
	Home string
	// Tiers are the tiers that may be used; nil is all. The most complete one
	// that the host allows is used.
	Tiers []sandbox.Tier
	// Ephemeral says that the sessions end with the provider: Close removes
	// their temps.
	Ephemeral bool
	// Log is told what a person debugging wants to know; nil discards.
	Log *slog.Logger
}

// Provider implements sandbox.Provider. It is made by New.
type Provider struct {
	config Config
	home   state.Home
	ownID  string // names the temp of policies without a session

	mu     sync.Mutex
	closed bool
	cells  map[string]*cell
	stale  []*cell // replaced, with commands in them perhaps
	temps  map[string]bool
	roots  map[string]string // physical paths by session and spelling
}

var _ sandbox.Provider = (*Provider)(nil)

// cell is one confinement while it is being made and after.
type cell struct {
	made        chan struct{} // closed when the rest is set
	confinement confinement
	err         error
}

// confinement is a sandbox.Confinement of one tier.
type confinement interface {
	sandbox.Confinement
	// usable reports whether it can still be spawned into: what it was made for
	// is still there.
	usable() bool
	// idle reports whether nothing runs in it.
	idle() bool
	// close ends it and all that runs in it.
	close()
}

// New returns a provider. It examines nothing yet. INVALID_ARGUMENT for a home
// that can be none.
func New(config Config) (*Provider, error) {
	home, err := state.ResolveHome(config.Home)
	if err != nil {
		return nil, err
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Provider{
		config: config, home: home, ownID: state.NewSessionID(),
		cells: map[string]*cell{}, temps: map[string]bool{}, roots: map[string]string{},
	}, nil
}

// Confine implements sandbox.Provider.
func (p *Provider) Confine(ctx context.Context, policy sandbox.Policy) (sandbox.Confinement, error) {
	if ctx.Err() != nil {
		return nil, subprocess.AbortedBeforeSpawn(ctx)
	}
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	if policy.Mode == sandbox.DangerFullAccess {
		return nil, fault.New(fault.Invariant, "%s is not confined: its caller spawns without a sandbox", policy.Mode)
	}
	if policy.SessionID != "" {
		if err := state.ValidateSessionID(policy.SessionID); err != nil {
			return nil, err
		}
	}
	policy, err := p.settleRoots(policy)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(policy)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "sandbox policy: %w", err)
	}
	key := string(data)
	for {
		c, mine, err := p.cell(key)
		if err != nil {
			return nil, err
		}
		if mine {
			p.fill(c, policy)
			if c.err != nil {
				p.drop(key, c) // a host that is put right is tried again
			}
		}
		select {
		case <-c.made:
		case <-ctx.Done():
			return nil, subprocess.AbortedBeforeSpawn(ctx)
		}
		if c.err != nil {
			return nil, c.err
		}
		if mine || c.confinement.usable() {
			return c.confinement, nil
		}
		p.drop(key, c)
	}
}

// fill makes what a cell is for, and tells those who wait for it.
func (p *Provider) fill(c *cell, policy sandbox.Policy) {
	defer close(c.made)
	c.err = fault.New(fault.Invariant, "making a sandbox panicked") // unless it returns
	c.confinement, c.err = p.make(policy)
}

// cell returns the confinement of a key, and whether the caller has to make it.
func (p *Provider) cell(key string) (c *cell, mine bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, fault.New(sandbox.ErrUnavailable, "the sandbox provider is closed: no more commands are confined")
	}
	if c, ok := p.cells[key]; ok {
		return c, false, nil
	}
	c = &cell{made: make(chan struct{})}
	p.cells[key] = c
	return c, true, nil
}

// drop forgets a confinement that cannot be used any more, and ends those of the
// forgotten in which nothing runs.
func (p *Provider) drop(key string, c *cell) {
	p.mu.Lock()
	if p.cells[key] == c {
		delete(p.cells, key)
		if c.confinement != nil {
			p.stale = append(p.stale, c)
		}
	}
	stale := slices.Clone(p.stale)
	p.mu.Unlock()
	for _, c := range stale {
		// A look may have to wait for a command that is just being started.
		if !c.confinement.idle() {
			continue
		}
		c.confinement.close()
		p.mu.Lock()
		p.stale = slices.DeleteFunc(p.stale, func(other *cell) bool { return other == c })
		p.mu.Unlock()
	}
}

// settleRoots returns the policy with its roots as physical paths. A root that is
// not there is refused: a sandbox for it could not be made, and one without it
// would be another. So is one that leads elsewhere than it did at first: commands
// may have put a link in its place.
func (p *Provider) settleRoots(policy sandbox.Policy) (sandbox.Policy, error) {
	root, err := p.settleRoot(&policy, policy.WorkspaceRoot)
	if err != nil {
		return policy, fault.New(sandbox.ErrUnavailable, "the workspace %q cannot be used: %w. %s, or choose another with --workspace", policy.WorkspaceRoot, err, rootRemedy(policy.WorkspaceRoot, err))
	}
	policy.WorkspaceRoot = root
	if policy.Mode != sandbox.WorkspaceWrite {
		policy.WritableRoots = nil
	}
	policy.WritableRoots = slices.Clone(policy.WritableRoots)
	for i, path := range policy.WritableRoots {
		if policy.WritableRoots[i], err = p.settleRoot(&policy, path); err != nil {
			return policy, fault.New(sandbox.ErrUnavailable, "the writable root %q cannot be used: %w. %s, or leave it out", path, err, rootRemedy(path, err))
		}
	}
	return policy, nil
}

// rootRemedy says what to do about a root that cannot be used.
func rootRemedy(path string, err error) string {
	if at, reached := realpath.Reach(path); errors.Is(err, fs.ErrPermission) && reached != nil {
		return remedy(at, err)
	}
	return "Create it"
}

// errReplaced refuses a root that leads elsewhere than it did.
var errReplaced = errors.New("it was replaced by a link")

// errHome refuses a root that would show what is hidden from every sandbox.
var errHome = errors.New("it lies in the home of hardshell, which no command may see")

func (p *Provider) settleRoot(policy *sandbox.Policy, path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if policy.Physical && real != path {
		return "", errReplaced
	}
	if realpath.Within(real, realpath.Canonical(p.home.Root())) {
		return "", errHome
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, spelling := range []string{path, real} {
		known := policy.SessionID + "\x00" + spelling
		if first, ok := p.roots[known]; ok && first != real {
			return "", errReplaced
		}
		p.roots[known] = real
	}
	return real, nil
}

// make makes a confinement in the most complete tier that this host has. A tier
// that the host has and that cannot be made for this policy is no reason for a
// lesser one: commands may have brought that about.
func (p *Provider) make(policy sandbox.Policy) (confinement, error) {
	if err := p.home.Ensure(p.home.Run()); err != nil {
		return nil, fault.New(sandbox.ErrUnavailable, "a sandbox needs a home for its temp, and the command was not run unconfined: %w", err)
	}
	var failures []string
	for _, tier := range p.tiers() {
		c, err := p.attempt(tier, policy)
		if err == nil {
			p.config.Log.Debug("a sandbox was made", "tier", tier, "mode", policy.Mode)
			return c, nil
		}
		p.config.Log.Debug("a sandbox could not be made", "tier", tier, "error", err)
		var blocked *obstacle
		if errors.As(err, &blocked) {
			return nil, blocked.refusal() // in every tier
		}
		failures = append(failures, string(tier)+": "+err.Error())
		if p.has(tier) {
			break
		}
	}
	if len(failures) == 0 {
		failures = []string{"no tier is allowed by the configuration"}
	}
	return nil, sandbox.Unavailable(policy.Mode, strings.Join(failures, "; "))
}

// has reports whether the host has a tier at all, by making it for a policy that
// asks for nothing.
func (p *Provider) has(tier sandbox.Tier) bool {
	c, err := p.attempt(tier, sandbox.Policy{
		Mode: sandbox.ReadOnly, WorkspaceRoot: "/", Sockets: sandbox.Sockets{Host: true},
	})
	if err == nil {
		c.close()
	}
	return err == nil
}

// tries is how often a plan is made anew because something that it names went
// away before it could be used: a socket, or a file that is being replaced.
const tries = 5

// attempt makes a confinement of one tier.
func (p *Provider) attempt(tier sandbox.Tier, policy sandbox.Policy) (c confinement, err error) {
	for range tries {
		plan, planErr := p.newPlan(policy)
		if planErr != nil {
			return nil, planErr
		}
		if c, err = p.build(tier, plan); err == nil {
			return c, nil
		}
		plan.unplace()
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errMoved) {
			break
		}
	}
	return nil, err
}

// Tiers lists all tiers, the most complete first.
func Tiers() []sandbox.Tier {
	return []sandbox.Tier{sandbox.TierNamespaces, sandbox.TierRoot, sandbox.TierLandlock}
}

// tiers lists those to try.
func (p *Provider) tiers() []sandbox.Tier {
	list := Tiers()
	if p.config.Tiers != nil {
		list = slices.DeleteFunc(list, func(t sandbox.Tier) bool { return !slices.Contains(p.config.Tiers, t) })
	}
	return list
}

// Close implements sandbox.Provider.
func (p *Provider) Close() error {
	p.mu.Lock()
	p.closed = true
	cells := p.stale
	for _, c := range p.cells {
		cells = append(cells, c)
	}
	p.cells, p.stale = map[string]*cell{}, nil
	p.mu.Unlock()
	for _, c := range cells {
		<-c.made
		if c.confinement != nil {
			c.confinement.close()
		}
	}
	p.mu.Lock()
	temps := p.temps
	p.temps = map[string]bool{}
	p.mu.Unlock()
	var failures []error
	for id := range temps {
		if p.config.Ephemeral || id == p.ownID {
			failures = append(failures, os.RemoveAll(p.home.Temp(id)))
			_ = os.Remove(p.home.Spill(id)) // when it is empty
		}
	}
	return errors.Join(failures...)
}

// tempID names the temp of a policy.
func (p *Provider) tempID(session string) string {
	if session == "" {
		return p.ownID
	}
	return session
}

// workspaceKey names the caches of a workspace.
func workspaceKey(root string) string {
	sum := sha256.Sum256([]byte(realpath.Canonical(root)))
	return hex.EncodeToString(sum[:8])
}
