package subprocess

import (
	"maps"
	"slices"
	"strings"

	"hardshell/internal/fault"
)

// DshPrefix begins the name of every managed fact.
const DshPrefix = "DSH_"

// DshEnvironment is an immutable set of managed DSH_* facts. The zero value is
// empty.
type DshEnvironment struct {
	vars map[string]string
}

// NewDshEnvironment returns the managed facts of vars, which it copies. A name
// that is no managed key (DSH_ and then [A-Z][A-Z0-9_]*) or a value with a NUL
// byte is an INVALID_ARGUMENT error.
func NewDshEnvironment(vars map[string]string) (DshEnvironment, error) {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !ValidDshKey(name) {
			return DshEnvironment{}, fault.New(fault.InvalidArgument,
				"%q is no managed variable: its name must be DSH_ and then a capital letter, capitals, digits or underscores", name)
		}
		if strings.IndexByte(vars[name], 0) >= 0 {
			return DshEnvironment{}, nulInEnv(name)
		}
	}
	return DshEnvironment{vars: maps.Clone(vars)}, nil
}

// Get returns the value of a managed fact.
func (e DshEnvironment) Get(name string) (string, bool) {
	value, ok := e.vars[name]
	return value, ok
}

// Names lists the facts' names in ascending order.
func (e DshEnvironment) Names() []string { return slices.Sorted(maps.Keys(e.vars)) }

// Merge returns the facts of both, other's where they have the same name.
func (e DshEnvironment) Merge(other DshEnvironment) DshEnvironment {
	merged := maps.Clone(e.vars)
	if merged == nil {
		return other
	}
	maps.Copy(merged, other.vars)
	return DshEnvironment{vars: merged}
}

// ValidDshKey reports whether name is DSH_ followed by [A-Z][A-Z0-9_]*.
func ValidDshKey(name string) bool {
	rest, ok := strings.CutPrefix(name, DshPrefix)
	if !ok || rest == "" || rest[0] < 'A' || rest[0] > 'Z' {
		return false
	}
	for i := 1; i < len(rest); i++ {
		c := rest[i]
		if !(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_') {
			return false
		}
	}
	return true
}

// Environ returns the environment of a child, sorted by name: ambient (in the
// form of os.Environ) without what a command must not inherit and without the
// names in unset, then env, then dsh. It changes none of its arguments.
func Environ(ambient []string, env map[string]string, unset []string, dsh DshEnvironment) []string {
	merged := make(map[string]string, len(ambient)+len(env)+len(dsh.vars))
	for _, entry := range ambient {
		name, value, ok := strings.Cut(entry, "=")
		if ok && name != "" && inheritable(name) {
			merged[name] = value
		}
	}
	for _, name := range unset {
		delete(merged, name)
	}
	maps.Copy(merged, env)
	maps.Copy(merged, dsh.vars)

	out := make([]string, 0, len(merged))
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		out = append(out, name+"="+merged[name])
	}
	return out
}

// credentialWords mark a name as a credential, in any case and anywhere in it:
// the seeds' heuristic. It errs on the side of dropping (MONKEY goes too); an
// explicit entry is always honoured.
var credentialWords = []string{"KEY", "PASSWORD", "SECRET", "TOKEN"}

// hijackers change what bash does before or while it runs a script: they are
// sourced, preset options, replace commands or redirect cd. Exported functions
// (BASH_FUNC_name%%) are matched by prefix.
var hijackers = map[string]bool{
	"BASH_ENV": true, "ENV": true, "SHELLOPTS": true, "BASHOPTS": true,
	"POSIXLY_CORRECT": true, "CDPATH": true, "PS4": true,
	"PROMPT_COMMAND": true, "GLOBIGNORE": true, "TMOUT": true, "FUNCNEST": true,
	"BASH_COMPAT": true, "BASH_ARGV0": true, "TIMEFORMAT": true,
}

// inheritable reports whether an ambient variable may reach a command.
func inheritable(name string) bool {
	if hijackers[name] || strings.HasPrefix(name, "BASH_FUNC_") {
		return false
	}
	upper := strings.ToUpper(name)
	if strings.HasPrefix(upper, DshPrefix) {
		return false
	}
	for _, word := range credentialWords {
		if strings.Contains(upper, word) {
			return false
		}
	}
	return true
}

// validateEnv refuses entries that the kernel or a shell cannot hold. The text
// names the variable, never its value.
func validateEnv(env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fault.New(fault.InvalidArgument, "%q is no name for an environment variable", name)
		}
		if strings.IndexByte(env[name], 0) >= 0 {
			return nulInEnv(name)
		}
	}
	return nil
}

func nulInEnv(name string) error {
	return fault.New(fault.InvalidArgument, "the environment variable %s contains a NUL byte, which no program can be given: remove it", name)
}
