//go:build unix

package host

import (
	"bytes"
	"encoding/json"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/sandbox"
)

// confinement returns the confinement of a policy as it crossed.
func (c *client) confinement(data json.RawMessage) (sandbox.Confinement, error) {
	var policy sandbox.Policy
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields() // of a newer client: each may be a restriction
	if err := decoder.Decode(&policy); err != nil {
		return nil, fault.New(fault.SandboxUnavailable,
			"the session host cannot read the policy: %w. It may be older than this program: end the session, and start it again", err)
	}
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	return c.server.provider.Confine(c.attached, policy)
}

// announced returns the confinement of a spawn, if it is what was announced.
func (c *client) announced(policy, report json.RawMessage) (sandbox.Confinement, error) {
	confinement, err := c.confinement(policy)
	if err != nil {
		return nil, err
	}
	var want sandbox.Report
	if err := json.Unmarshal(report, &want); err != nil || want != confinement.Report() {
		return nil, sandbox.Unavailable(want.Mode, "what can be enforced has changed: run the command again")
	}
	return confinement, nil
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
