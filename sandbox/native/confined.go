package native

import (
	"errors"
	"slices"
	"strings"
	"syscall"

	"hardshell/internal/fault"
	"hardshell/internal/hostsockets"
	"hardshell/internal/realpath"
	"hardshell/internal/spawn"
	"hardshell/sandbox"
)

// confined is what the confinements of all tiers have in common.
type confined struct {
	plan   *plan
	report sandbox.Report
	// private says that the private temp and caches stand at the usual paths.
	private bool
	// set and dropped are how the environment differs inside.
	set map[string]string
	// moved are variables that get another value when they are there: they name
	// caches, which are elsewhere.
	moved   map[string]string
	dropped func(name, value string) bool
}

// Confines implements subprocess.Confinement.
func (c *confined) Confines() string { return "native " + string(c.report.Tier) }

// Report implements sandbox.Confinement.
func (c *confined) Report() sandbox.Report { return c.report }

// newConfined describes a plan in a tier. Private says that the private temp and
// caches stand at the usual paths.
func newConfined(tier sandbox.Tier, pl *plan, private bool) *confined {
	c := &confined{
		plan: pl, private: private,
		report:  sandbox.Report{Mode: pl.policy.Mode, Backend: "native", Tier: tier, Network: sandbox.NetworkOpen},
		set:     map[string]string{"TMPDIR": "/tmp"},
		dropped: func(string, string) bool { return false },
	}
	if pl.policy.Network == sandbox.NetworkNone {
		c.report.Network = sandbox.NetworkNone
	}
	if !private {
		c.set["TMPDIR"] = pl.temp
	}
	c.moved = map[string]string{}
	for _, cache := range pl.caches {
		if cache.variable != "" && cache.private != "" {
			c.moved[cache.variable] = cache.dir
			if cache.dir == "" || !private {
				c.moved[cache.variable] = realpath.Canonical(cache.private)
			}
			if cache.variable == "XDG_CACHE_HOME" {
				c.moved["GOCACHE"] = c.moved[cache.variable] + "/go-build"
			}
		}
		if cache.variable != "" && cache.private != "" && (cache.dir == "" || !private) {
			c.set[cache.variable] = realpath.Canonical(cache.private)
		}
	}
	if !pl.policy.Sockets.Host {
		// What leads to a socket that may be reached stays.
		c.dropped = func(name, value string) bool {
			leads := func(path string) bool { return strings.Contains(value, path) }
			return hostsockets.IsVariable(name) && !slices.ContainsFunc(pl.sockets, leads)
		}
	}
	return c
}

// environ is an environment as it is inside.
func (c *confined) environ(env []string) []string {
	inside := make([]string, 0, len(env)+len(c.set))
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if moved, ok := c.moved[name]; ok {
			if _, replaced := c.set[name]; !replaced {
				inside = append(inside, name+"="+moved)
			}
			continue
		}
		if _, replaced := c.set[name]; !replaced && !c.dropped(name, value) {
			inside = append(inside, entry)
		}
	}
	for name, value := range c.set {
		inside = append(inside, name+"="+value)
	}
	slices.Sort(inside)
	return inside
}

// explain makes the failure of a step of the confinement a refusal: nothing was
// run, and nothing is run without that step.
func (c *confined) explain(err error) error {
	if err == nil {
		return nil
	}
	var failed *spawn.Error
	if errors.As(err, &failed) && (failed.Stage == spawn.StageConfine || failed.Stage == spawn.StageFork && failed.Errno != syscall.EAGAIN) {
		return sandbox.Unavailable(c.report.Mode, failed.Error())
	}
	return err
}

// errTerminal refuses to hand a terminal to a confined command, which could read
// what is typed there, and type itself.
var errTerminal = fault.New(fault.InvalidArgument, "a confined command is not given a terminal: copy its streams through pipes")
