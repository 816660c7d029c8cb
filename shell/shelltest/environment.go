package shelltest

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"hardshell/shell"
)

// environment checks what a command inherits and what it is given.
func (s suite) environment(t *testing.T) {
	t.Run("credentials and managed facts are not inherited", s.scrubbed)
	t.Run("nothing that hijacks the shell is inherited", s.hijackers)
	t.Run("each layer displaces the one before", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Ambient: ambient(t, "A=ambient", "B=ambient", "TERM=xterm", "PAGER=less", "NO_COLOR=0")})
		got := r.environ(t, shell.Request{
			Env:    map[string]string{"B": "env", "C": "env", "GIT_PAGER": "env", "DSH_A": "env", "DSH_ONLY": "env"},
			DshEnv: managed(t, map[string]string{"DSH_A": "managed"}),
		})
		wantVars(t, got, map[string]string{
			"A": "ambient", "B": "env", "C": "env",
			"NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "env",
			"DSH_A": "managed", "DSH_ONLY": "env", "PWD": r.dir,
		})
		got = r.environ(t, shell.Request{Env: map[string]string{"TERM": "x", "NO_COLOR": "", "PAGER": "more"}})
		wantVars(t, got, map[string]string{"TERM": "x", "NO_COLOR": "", "PAGER": "more", "GIT_PAGER": "cat"})
	})
	t.Run("a malformed harness's is no trouble", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Ambient: ambient(t, "A=first", "", "JUNK", "=C:=C:\\", "A=last", "B=")})
		got := r.environ(t, shell.Request{})
		wantVars(t, got, map[string]string{"A": "last", "B": ""})
		wantNoVars(t, got, []string{"JUNK", ""})
	})
	t.Run("an explicit entry is honoured, whatever its name", func(t *testing.T) {
		t.Parallel()
		env := map[string]string{
			"MY_PASSWORD": "p", "AWS_SECRET_ACCESS_KEY": "k", "dsh_low": "l", "PS4": "4", "CDPATH": "/",
			"with-dash": "d", "1digit": "1", "EMPTY": "", "SPACE": " a\nb ", "EQUALS": "a=b", "BYTES": "\xff",
		}
		want := maps.Clone(env)
		got := s.rig(t, Options{}).environ(t, shell.Request{Env: env})
		want["BYTES"] = "\uFFFD" // as the text of the output has it
		wantVars(t, got, want)
		if len(env) != len(want) || env["BYTES"] != "\xff" {
			t.Error("the request's map was changed")
		}
	})
	t.Run("an explicit start-up file is read", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		write(t, r.path("rc"), "echo sourced", 0o644)
		wantStdout(t, r.run(t, shell.Request{Command: "echo command", Env: map[string]string{"BASH_ENV": r.path("rc")}}), "sourced\ncommand\n")
	})
	t.Run("is the same in the background", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Ambient: ambient(t, "A=ambient", "DSH_STALE=x")})
		p := r.start(t, shell.Request{
			Command: `echo "$A $B $DSH_C ${DSH_STALE-absent} $TERM $PWD"`,
			Env:     map[string]string{"B": "env"}, DshEnv: managed(t, map[string]string{"DSH_C": "c"}),
		})
		settle(t, p)
		if read := p.ReadOutput(); read.Delta != "ambient env c absent dumb "+r.dir+"\n" {
			t.Errorf("read %q", read.Delta)
		}
	})
	t.Run("does not go from one command to the next", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		r.run(t, shell.Request{Command: "true", Env: map[string]string{"A": "x"}, DshEnv: managed(t, map[string]string{"DSH_A": "x"})})
		wantStdout(t, r.sh(t, `echo "${A-absent} ${DSH_A-absent}"`), "absent absent\n")
	})
	t.Run("everything at once", s.everyLayer)
}

func (s suite) scrubbed(t *testing.T) {
	t.Parallel()
	dropped := []string{
		"AWS_ACCESS_KEY_ID", "my_token", "MONKEY", "Keyboard", "DB_PASSWORD", "client_Secret_x", "TOKENIZERS_PARALLELISM",
		"DSH_STALE", "dsh_low", "Dsh_Mixed", "DSH_", "DSH_HOME", "DSH_SESSION_ID",
	}
	kept := []string{"GH_PAT", "PASSPHRASE", "passwd", "SSH_AUTH_SOCK", "HTTP_PROXY", "LC_ALL", "HOME", "LANG", "DSHX", "XDSH_A"}
	var entries []string
	for _, name := range slices.Concat(dropped, kept) {
		entries = append(entries, name+"=C")
	}
	r := s.rig(t, Options{Ambient: ambient(t, entries...)})
	got := r.environ(t, shell.Request{})
	wantNoVars(t, got, dropped)
	for _, name := range kept {
		wantVars(t, got, map[string]string{name: "C"})
	}
}

func (s suite) hijackers(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	write(t, dir+"/rc", "echo sourced; exit 9", 0o644)
	if err := os.MkdirAll(dir+"/elsewhere/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	entries := []string{
		"BASH_ENV=" + dir + "/rc", "ENV=" + dir + "/rc",
		"SHELLOPTS=errexit:xtrace", "BASHOPTS=nullglob:extglob", "POSIXLY_CORRECT=y",
		"BASH_FUNC_ls%%=() {  echo hijacked\n}", "BASH_FUNC_echo%%=() {  builtin echo hijacked\n}",
		"CDPATH=" + dir + "/elsewhere", "PS4=hijacked", "PROMPT_COMMAND=echo hijacked", "GLOBIGNORE=*",
	}
	r := s.rig(t, Options{Workdir: dir, Ambient: ambient(t, entries...)})
	var names []string
	for _, entry := range entries {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	got := r.environ(t, shell.Request{})
	wantNoVars(t, got, names)

	if err := os.Mkdir(r.path("sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		`ls -d sub; false; echo ok; cd sub; set -- nosuch*; echo $#; pwd`,
		padded(`ls -d sub; false; echo ok; cd sub; set -- nosuch*; echo $#; pwd`, maxArgBytes),
	} {
		res := r.sh(t, script)
		wantExit(t, res, 0)
		wantStdout(t, res, "sub\nok\n1\n"+r.path("sub")+"\n")
		wantStderr(t, res, "")
	}
}

// everyLayer is one harness with everything that could be wrong about its
// environment.
func (s suite) everyLayer(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	write(t, dir+"/f", "echo sourced", 0o644)
	before := os.Environ()
	r := s.rig(t, Options{Workdir: dir, Ambient: ambient(t,
		"DSH_STALE=x", "dsh_low=y", "API_KEY=k", "BASH_ENV="+dir+"/f", "SHELLOPTS=errexit:xtrace",
		"BASH_FUNC_ls%%=() {  echo hijacked\n}",
	)})
	res := r.run(t, shell.Request{
		Command: `echo "${DSH_STALE-absent} ${dsh_low-absent} ${API_KEY-absent} $MY_TOKEN $DSH_A $DSH_ONLY"; false; echo ok; ls`,
		Env:     map[string]string{"MY_TOKEN": "t", "DSH_A": "caller", "DSH_ONLY": "o"},
		DshEnv:  managed(t, map[string]string{"DSH_A": "managed"}),
	})
	wantExit(t, res, 0)
	wantStdout(t, res, "absent absent absent t managed o\nok\nf\n")
	wantStderr(t, res, "")
	if !slices.Equal(os.Environ(), before) {
		t.Error("the environment of this process has changed")
	}
}

// environ returns what a program that no shell starts has in its environment.
func (r *rig) environ(t *testing.T, req shell.Request) map[string]string {
	t.Helper()
	req.Argv = []string{"env", "-0"}
	req.StdoutMaxBytes = 1 << 20
	res := r.run(t, req)
	wantExit(t, res, 0)
	vars := make(map[string]string)
	for entry := range strings.SplitSeq(strings.TrimSuffix(res.Stdout.Text, "\x00"), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		if _, twice := vars[name]; twice {
			t.Errorf("the variable %s is there twice", name)
		}
		vars[name] = value
	}
	return vars
}

// ambient is an environment of a harness: what programs need to be found, and
// these entries.
func ambient(t *testing.T, entries ...string) []string {
	t.Helper()
	path, ok := os.LookupEnv("PATH")
	if !ok {
		t.Fatal("there is no PATH")
	}
	return append([]string{"PATH=" + path}, entries...)
}

func wantVars(t *testing.T, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, ok := got[name]; !ok || value != want[name] {
			t.Errorf("the variable %s is %q (present %v), want %q", name, value, ok, want[name])
		}
	}
}

func wantNoVars(t *testing.T, got map[string]string, names []string) {
	t.Helper()
	for _, name := range names {
		if value, ok := got[name]; ok {
			t.Errorf("the variable %s is %q, want none", name, value)
		}
	}
}
