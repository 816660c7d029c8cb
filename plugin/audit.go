package plugin

import (
	"fmt"
	"slices"
	"strings"

	"hardshell/internal/fault"
)

// Audit returns an error that names every row that is pending, with what it
// waits for, and every row that failed; nil when there is none. Its code is that
// of the first failure that has one, else INVALID_ARGUMENT.
func (h *Host) Audit() error {
	a := &audit{}
	for _, s := range h.Status() {
		switch s.State {
		case Active, Disposed:
		case Pending:
			if len(s.Waiting) == 0 {
				a.lines = append(a.lines, s.ID+": pending (not applied yet)")
				continue
			}
			a.lines = append(a.lines, fmt.Sprintf("%s: pending (waiting for service: %s)", s.ID, strings.Join(s.Waiting, ", ")))
			for _, name := range s.Waiting {
				if hint := h.hint(name); hint != "" && !slices.Contains(a.hints, hint) {
					a.hints = append(a.hints, hint)
				}
			}
		case Failed:
			a.lines = append(a.lines, s.ID+": failed: "+s.Err.Error())
			a.errs = append(a.errs, s.Err)
		default:
			a.lines = append(a.lines, fmt.Sprintf("%s: %s", s.ID, s.State))
		}
	}
	if len(a.lines) == 0 {
		return nil
	}
	code := fault.CodeOf(a)
	if code == "" {
		code = fault.InvalidArgument
	}
	return &fault.Error{Code: code, Message: a.Error(), Err: a}
}

// audit is what Audit found. It has the codes of all failures.
type audit struct {
	lines, hints []string
	errs         []error
}

func (a *audit) Error() string   { return strings.Join(slices.Concat(a.lines, a.hints), "\n") }
func (a *audit) Unwrap() []error { return a.errs }

// hint says how to get a service that no row provides.
func (h *Host) hint(service string) string {
	h.mu.Lock()
	claimed := h.claims[service] != nil
	h.mu.Unlock()
	if claimed {
		return ""
	}
	var names []string
	for name, p := range h.plugins {
		if slices.ContainsFunc(p.Provides, func(k AnyKey) bool { return k.Name() == service }) {
			names = append(names, fmt.Sprintf("%q", name))
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return fmt.Sprintf("no plugin provides service %q", service)
	}
	return fmt.Sprintf("service %q: add or enable a row of plugin %s", service, strings.Join(names, " or "))
}
