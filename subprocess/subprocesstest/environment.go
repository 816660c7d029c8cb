//go:build unix

package subprocesstest

import (
	"maps"
	"os"
	"slices"
	"strings"

	"hardshell/subprocess"
)

// environmentChecks are about the variables that a child sees.
func environmentChecks() []check {
	return []check{
		{"credentials of the ambient environment are dropped by name", credentialsDropped},
		{"managed names of the ambient environment are dropped in any case", managedNamesDropped},
		{"names that hijack bash are dropped", hijackersDropped},
		{"what is no secret reaches the child as it is", restIsKept},
		{"explicit entries are honoured, whatever their name", explicitEntries},
		{"managed facts come last", managedFactsLast},
		{"unset takes a name away", unsetTakesAway},
		{"of an ambient name given twice the last counts", lastDuplicateCounts},
		{"a hostile environment does not reach a command", hostileEnvironment},
		{"this process's own environment stays as it is", ownEnvironmentUntouched},
		{"the caller's maps stay as they are", callersMapsUntouched},
	}
}

// path is what children need to be found at all.
const path = "PATH=/usr/local/bin:/usr/bin:/bin"

// environment runs env(1) under an ambient environment and returns what it
// tells.
func (f *fixture) environment(ambient []string, edit func(*subprocess.Spec)) map[string]string {
	f.Helper()
	f.use(Options{SpillDir: f.SpillDir, Ambient: append([]string{path}, ambient...)})
	spec := f.program("env", "-0")
	if edit != nil {
		edit(&spec)
	}
	h := f.run(spec)
	f.expectCode(h, 0)
	seen := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(stdout(h), "\x00"), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		if _, twice := seen[name]; twice {
			f.Errorf("the child has %s twice", name)
		}
		seen[name] = value
	}
	return seen
}

// entries gives every name the value "v".
func entries(names []string) (list []string) {
	for _, name := range names {
		list = append(list, name+"=v")
	}
	return list
}

// expectDropped expects that the names, ambient, do not reach the child.
func (f *fixture) expectDropped(names ...string) {
	f.Helper()
	seen := f.environment(entries(names), nil)
	for _, name := range names {
		if _, ok := seen[name]; ok {
			f.Errorf("%s reached the child", name)
		}
	}
}

func credentialsDropped(f *fixture) {
	f.expectDropped("API_KEY", "AWS_ACCESS_KEY_ID", "my_token", "GITHUB_TOKEN", "DB_PASSWORD", "password",
		"SECRET", "client_secret_id", "MONKEY", "Keyboard", "TOKENIZERS_PARALLELISM")
}

func managedNamesDropped(f *fixture) {
	f.expectDropped("DSH_STALE", "dsh_low", "Dsh_Mixed", "DSH_")
}

func hijackersDropped(f *fixture) {
	f.expectDropped("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "CDPATH", "PS4",
		"PROMPT_COMMAND", "GLOBIGNORE", "BASH_FUNC_ls%%", "BASH_FUNC_old()")
}

func restIsKept(f *fixture) {
	ambient := []string{"HOME=/home/x", "LANG=de_DE.UTF-8", "LC_ALL=C", "TERM=xterm-256color", "http_proxy=http://p:1",
		"SSH_AUTH_SOCK=/s", "GH_PAT=pat", "PASSPHRASE=pass", "passwd=pw", "EMPTY=", "WITH=a=b=c", "LINES3=1\n2\n3",
		"with.dot=1", "NO_COLOR_YET=1", "XDSH_A=1"}
	seen := f.environment(ambient, nil)
	for _, entry := range append(ambient, path) {
		name, want, _ := strings.Cut(entry, "=")
		if got, ok := seen[name]; !ok || got != want {
			f.Errorf("%s is %q (%v) in the child, want %q", name, got, ok, want)
		}
	}
}

func explicitEntries(f *fixture) {
	env := map[string]string{
		"MY_PASSWORD": "p", "MY_TOKEN": "t", "DSH_ONLY": "o", "BASH_ENV": "/dev/null", "CDPATH": "/x",
		"TERM": "q", "EMPTY": "", "MULTI": "a=b\nc",
	}
	seen := f.environment([]string{"TERM=ambient", "EMPTY=full", "CDPATH=/ambient"}, func(s *subprocess.Spec) { s.Env = env })
	for name, want := range env {
		if got, ok := seen[name]; !ok || got != want {
			f.Errorf("%s is %q (%v) in the child, want %q", name, got, ok, want)
		}
	}
}

func managedFactsLast(f *fixture) {
	dsh := f.managed(map[string]string{"DSH_A": "managed", "DSH_B": ""})
	seen := f.environment([]string{"DSH_C=ambient"}, func(s *subprocess.Spec) {
		s.Dsh = dsh
		s.Env = map[string]string{"DSH_A": "caller", "DSH_D": "caller"}
		s.Unset = []string{"DSH_B"}
	})
	for name, want := range map[string]string{"DSH_A": "managed", "DSH_B": "", "DSH_D": "caller"} {
		if got, ok := seen[name]; !ok || got != want {
			f.Errorf("%s is %q (%v) in the child, want %q", name, got, ok, want)
		}
	}
	if _, ok := seen["DSH_C"]; ok {
		f.Error("DSH_C reached the child")
	}
}

func (f *fixture) managed(vars map[string]string) subprocess.DshEnvironment {
	f.Helper()
	dsh, err := subprocess.NewDshEnvironment(vars)
	if err != nil {
		f.Fatal(err)
	}
	return dsh
}

func unsetTakesAway(f *fixture) {
	seen := f.environment([]string{"HOME=/home/x", "KEPT=1"}, func(s *subprocess.Spec) { s.Unset = []string{"HOME", "NEVER_SET"} })
	if _, ok := seen["HOME"]; ok || seen["KEPT"] != "1" {
		f.Errorf("HOME is there: %v; KEPT is %q, want only the latter", ok, seen["KEPT"])
	}
}

func lastDuplicateCounts(f *fixture) {
	if seen := f.environment([]string{"A=first", "A=last"}, nil); seen["A"] != "last" {
		f.Errorf("A is %q in the child, want %q", seen["A"], "last")
	}
}

func hostileEnvironment(f *fixture) {
	f.script("hook", "echo hooked")
	dsh := f.managed(map[string]string{"DSH_A": "managed"})
	f.use(Options{SpillDir: f.SpillDir, Ambient: []string{
		path, "DSH_STALE=x", "dsh_low=y", "API_KEY=k", "BASH_ENV=" + f.path("hook"), "ENV=" + f.path("hook"),
		"SHELLOPTS=errexit:xtrace", "BASH_FUNC_ls%%=() {  echo hijacked\n}", "CDPATH=/", "PS4=$(echo traced >&2)",
	}})
	spec := f.bash(`echo "${DSH_STALE-absent} ${dsh_low-absent} ${API_KEY-absent} $MY_TOKEN $DSH_A $DSH_ONLY"
false; echo ok; ls "$dir"; cd tmp 2>/dev/null || echo no cdpath; set -x; :`)
	spec.Dir = f.Dir
	spec.Env = map[string]string{"MY_TOKEN": "t", "DSH_A": "caller", "DSH_ONLY": "o"}
	spec.Dsh = dsh
	h := f.run(spec)
	f.expectStdout(h, "absent absent absent t managed o\nok\nhook\nno cdpath\n")
	f.expectStderr(h, "+ :\n")
}

func ownEnvironmentUntouched(f *fixture) {
	ambient := []string{path, "DSH_X=1", "A=1"}
	kept := slices.Clone(ambient)
	before := os.Environ()
	f.use(Options{SpillDir: f.SpillDir, Ambient: ambient})
	spec := f.program("true")
	spec.Env = map[string]string{"A": "2", "SUBPROCESSTEST_NEW": "1"}
	spec.Unset = []string{"HOME", "PATH"}
	spec.Env["PATH"] = "/usr/bin:/bin"
	f.run(spec)
	if !slices.Equal(ambient, kept) {
		f.Errorf("the ambient environment became %q", ambient)
	}
	if !slices.Equal(os.Environ(), before) {
		f.Error("this process's own environment has changed")
	}
}

func callersMapsUntouched(f *fixture) {
	spec := f.program("true")
	spec.Env = map[string]string{"A": "1", "DSH_A": "caller"}
	spec.Unset = []string{"HOME", "A"}
	spec.Dsh = f.managed(map[string]string{"DSH_A": "managed"})
	env, unset, argv := maps.Clone(spec.Env), slices.Clone(spec.Unset), slices.Clone(spec.Argv)
	f.run(spec)
	if !maps.Equal(spec.Env, env) || !slices.Equal(spec.Unset, unset) || !slices.Equal(spec.Argv, argv) {
		f.Errorf("the spec became %q, %q, %q", spec.Argv, spec.Env, spec.Unset)
	}
}
