//go:build unix

package host

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/sandbox"
	"hardshell/subprocess"
)

// provider has the session's host confine. What the host said about a policy is
// asked once.
type provider struct {
	runtime *Runtime

	mu    sync.Mutex
	known map[string]*confinement // by policy, as it crosses
}

var _ sandbox.Provider = (*provider)(nil)

// Confine implements sandbox.Provider.
func (p *provider) Confine(ctx context.Context, policy sandbox.Policy) (sandbox.Confinement, error) {
	if ctx.Err() != nil {
		return nil, subprocess.AbortedBeforeSpawn(ctx)
	}
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	data, err := crossing(policy)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	known := p.known[string(data)]
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	c, err := p.ask(ctx, data)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[string(data)] = c
	return c, nil
}

// forget has the host asked again about a policy.
func (p *provider) forget(policy []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, string(policy))
}

// Close implements sandbox.Provider. The host ends what it made, when it ends.
func (p *provider) Close() error { return nil }

// crossing is a policy as it crosses. One that would arrive as another is
// refused: JSON holds no paths that are not UTF-8.
func crossing(policy sandbox.Policy) ([]byte, error) {
	data, err := json.Marshal(policy)
	if err != nil {
		return nil, fault.New(fault.SandboxUnavailable, "the sandbox policy cannot be sent to the session host: %w", err)
	}
	var back sandbox.Policy
	if err := json.Unmarshal(data, &back); err != nil || !same(policy, back) {
		return nil, fault.New(fault.SandboxUnavailable,
			"a path of the sandbox policy is not UTF-8, and the command was not run unconfined: rename it, or choose %s", sandbox.DangerFullAccess)
	}
	return data, nil
}

// same compares policies; an absent list is an empty one.
func same(a, b sandbox.Policy) bool {
	for _, p := range []*sandbox.Policy{&a, &b} {
		for _, list := range []*[]string{&p.WritableRoots, &p.Protect, &p.Hide, &p.Sockets.Paths} {
			if len(*list) == 0 {
				*list = nil
			}
		}
	}
	return reflect.DeepEqual(a, b)
}

func (p *provider) ask(ctx context.Context, policy []byte) (*confinement, error) {
	if err := p.runtime.enter(); err != nil {
		return nil, err
	}
	defer p.runtime.entered.Done()
	link, err := p.runtime.attached(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := link.begin(&hostwire.Message{Confine: &hostwire.Confine{Policy: policy}})
	if err != nil {
		return nil, link.lost()
	}
	select {
	case m := <-answer:
		return p.read(m, policy)
	case <-link.dead:
		return nil, link.lost()
	case <-ctx.Done():
		return nil, subprocess.AbortedBeforeSpawn(ctx)
	}
}

func (p *provider) read(m *hostwire.Message, policy []byte) (*confinement, error) {
	if m.Failure != nil {
		return nil, m.Failure.Err()
	}
	c := &confinement{runtime: p.runtime, policy: policy}
	if m.Confined == nil || json.Unmarshal(m.Confined.Report, &c.report) != nil {
		return nil, errAnswer
	}
	c.announced = m.Confined.Report
	c.name = m.Confined.Name
	return c, nil
}

// confinement is a policy that the host can enforce.
type confinement struct {
	runtime *Runtime
	policy  []byte
	name    string
	report  sandbox.Report
	// announced is the report as it came: each spawn says what it was told, and
	// a host that can give only something else refuses.
	announced []byte
}

var _ sandbox.Confinement = (*confinement)(nil)

// Confines implements subprocess.Confinement.
func (c *confinement) Confines() string { return c.name }

// Report implements sandbox.Confinement.
func (c *confinement) Report() sandbox.Report { return c.report }

// verdictBound is how long the host may take to judge an outcome.
const verdictBound = 5 * time.Second

// Denied implements sandbox.Confinement. It asks the host; without one nothing
// is known to have been denied.
func (c *confinement) Denied(outcome sandbox.Outcome) bool {
	data, err := json.Marshal(outcome)
	if err != nil {
		return false
	}
	c.runtime.mu.Lock()
	link := c.runtime.link
	c.runtime.mu.Unlock()
	if link == nil {
		return false
	}
	answer, err := link.begin(&hostwire.Message{Denied: &hostwire.Denied{Policy: c.policy, Outcome: data}})
	if err != nil {
		return false
	}
	select {
	case m := <-answer:
		return m.WasDenied != nil && m.WasDenied.Denied
	case <-link.dead:
	case <-time.After(verdictBound):
	}
	return false
}
