//go:build unix

package host

import (
	"encoding/json"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/sandbox"
)

// confinement returns the confinement of a policy as it crossed.
func (c *client) confinement(data json.RawMessage) (sandbox.Confinement, error) {
	var policy sandbox.Policy
	if err := json.Unmarshal(data, &policy); err != nil {
		return nil, fault.New(fault.Invariant, "a policy cannot be read: %w", err)
	}
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	return c.server.provider.Confine(c.attached, policy)
}

// confine reports what a policy would enforce.
func (c *client) confine(m *hostwire.Message) {
	answer := &hostwire.Message{Request: m.Request}
	confinement, err := c.confinement(m.Confine.Policy)
	if err == nil {
		var report []byte
		report, err = json.Marshal(confinement.Report())
		answer.Confined = &hostwire.Confined{Report: report}
	}
	if err == nil {
		answer.Confined.Name = confinement.Confines()
	} else {
		answer.Confined = nil
		answer.Failure = hostwire.NewFailure(err, fault.SandboxUnavailable)
	}
	c.conn.Send(answer)
}

// denied judges an outcome. What cannot be judged was not denied.
func (c *client) denied(m *hostwire.Message) {
	answer := &hostwire.WasDenied{}
	var outcome sandbox.Outcome
	if json.Unmarshal(m.Denied.Outcome, &outcome) == nil {
		if confinement, err := c.confinement(m.Denied.Policy); err == nil {
			answer.Denied = confinement.Denied(outcome)
		}
	}
	c.conn.Send(&hostwire.Message{Request: m.Request, WasDenied: answer})
}
