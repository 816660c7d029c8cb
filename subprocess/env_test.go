package subprocess_test

import (
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

func TestEnviron(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		ambient []string
		env     map[string]string
		unset   []string
		dsh     map[string]string
		want    []string
	}{
		"nothing gives nothing": {want: []string{}},
		"ordinary variables are inherited": {
			ambient: []string{"PATH=/bin", "HOME=/root", "LANG=C", "LC_ALL=C", "http_proxy=p", "TERM=q", "PWD=/w", "EMPTY=", "EQ=a=b"},
			want:    []string{"EMPTY=", "EQ=a=b", "HOME=/root", "LANG=C", "LC_ALL=C", "PATH=/bin", "PWD=/w", "TERM=q", "http_proxy=p"},
		},
		"names that look like a credential are not inherited, in any case and anywhere": {
			ambient: []string{"AWS_ACCESS_KEY_ID=s", "my_token=s", "MONKEY=s", "Keyboard=s", "DB_PASSWORD=s", "Client_Secret=s", "TOKENIZERS_PARALLELISM=s"},
			want:    []string{},
		},
		"names that the heuristic does not know are inherited": {
			ambient: []string{"GH_PAT=s", "PASSPHRASE=s", "passwd=s", "SSH_AUTH_SOCK=s"},
			want:    []string{"GH_PAT=s", "PASSPHRASE=s", "SSH_AUTH_SOCK=s", "passwd=s"},
		},
		"managed names are not inherited, in any case": {
			ambient: []string{"DSH_STALE=x", "dsh_y=x", "Dsh_Z=x", "DSH_=x", "DSHELL=x", "XDSH_A=x"},
			want:    []string{"DSHELL=x", "XDSH_A=x"},
		},
		"names that hijack bash are not inherited": {
			ambient: []string{
				"BASH_ENV=f", "ENV=f", "SHELLOPTS=errexit", "BASHOPTS=x", "BASH_FUNC_ls%%=() { :; }", "POSIXLY_CORRECT=1",
				"CDPATH=/", "PS4=$(id)", "PROMPT_COMMAND=id", "GLOBIGNORE=*",
				"BASH_VERSION=5", "ENVIRONMENT=prod", "env=x", "PS1=$",
			},
			want: []string{"BASH_VERSION=5", "ENVIRONMENT=prod", "PS1=$", "env=x"},
		},
		"an explicit entry is honoured whatever its name": {
			env:  map[string]string{"MY_PASSWORD": "p", "BASH_ENV": "f", "DSH_ONLY": "o", "dsh_low": "l", "BASH_FUNC_ls%%": "() { :; }"},
			want: []string{"BASH_ENV=f", "BASH_FUNC_ls%%=() { :; }", "DSH_ONLY=o", "MY_PASSWORD=p", "dsh_low=l"},
		},
		"an explicit entry restores a name that is not inherited": {
			ambient: []string{"API_KEY=ambient"},
			env:     map[string]string{"API_KEY": "explicit"},
			want:    []string{"API_KEY=explicit"},
		},
		"explicit entries displace inherited ones, managed facts displace both": {
			ambient: []string{"TERM=ambient", "KEEP=k", "DSH_A=ambient"},
			env:     map[string]string{"TERM": "x", "DSH_A": "e", "DSH_ONLY": "o"},
			dsh:     map[string]string{"DSH_A": "m"},
			want:    []string{"DSH_A=m", "DSH_ONLY=o", "KEEP=k", "TERM=x"},
		},
		"an unset name is not inherited": {
			ambient: []string{"HOME=/root", "PATH=/bin"},
			unset:   []string{"HOME", "ABSENT"},
			want:    []string{"PATH=/bin"},
		},
		"a managed fact cannot be unset": {
			unset: []string{"DSH_A"},
			dsh:   map[string]string{"DSH_A": "m"},
			want:  []string{"DSH_A=m"},
		},
		"of entries that stand twice the last counts": {
			ambient: []string{"A=1", "A=2"},
			want:    []string{"A=2"},
		},
		"entries without a name are dropped": {
			ambient: []string{"", "=C:=C:\\", "NOVALUE", "A=1"},
			want:    []string{"A=1"},
		},
		"the order is that of the names, also where one continues another": {
			ambient: []string{"A_B=", "A1=", "A=", "A-=", "B="},
			want:    []string{"A=", "A-=", "A1=", "A_B=", "B="},
		},
		"all of it at once": {
			ambient: []string{
				"DSH_STALE=x", "dsh_low=y", "API_KEY=k", "BASH_ENV=f", "SHELLOPTS=errexit:xtrace", "BASH_FUNC_ls%%=() { echo no; }", "PATH=/bin",
			},
			env:  map[string]string{"MY_TOKEN": "t", "DSH_A": "caller", "DSH_ONLY": "o"},
			dsh:  map[string]string{"DSH_A": "managed"},
			want: []string{"DSH_A=managed", "DSH_ONLY=o", "MY_TOKEN=t", "PATH=/bin"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsh, err := subprocess.NewDshEnvironment(tt.dsh)
			if err != nil {
				t.Fatal(err)
			}
			ambient, env, unset := slices.Clone(tt.ambient), maps.Clone(tt.env), slices.Clone(tt.unset)
			got := subprocess.Environ(tt.ambient, tt.env, tt.unset, dsh)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if !slices.Equal(tt.ambient, ambient) || !maps.Equal(tt.env, env) || !slices.Equal(tt.unset, unset) {
				t.Errorf("an argument was changed: %q, %q, %q", tt.ambient, tt.env, tt.unset)
			}
		})
	}
}

func TestEnvironLeavesThisProcessAlone(t *testing.T) {
	t.Setenv("DSH_STALE", "x")
	t.Setenv("API_KEY", "k")
	before := os.Environ()
	got := subprocess.Environ(os.Environ(), map[string]string{"API_KEY": "other"}, []string{"PATH"}, subprocess.DshEnvironment{})
	if !slices.Equal(os.Environ(), before) {
		t.Error("this process's environment was changed")
	}
	if !slices.Contains(got, "API_KEY=other") || slices.Contains(got, "DSH_STALE=x") {
		t.Errorf("the child gets %q", got)
	}
}

func TestNewDshEnvironment(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"DSH_B": "2", "DSH_A": "", "DSH_C": "a=b\n"}
	env, err := subprocess.NewDshEnvironment(vars)
	if err != nil {
		t.Fatal(err)
	}
	vars["DSH_B"] = "changed"
	vars["DSH_D"] = "added"
	if got := env.Names(); !slices.Equal(got, []string{"DSH_A", "DSH_B", "DSH_C"}) {
		t.Errorf("the names are %q", got)
	}
	for name, want := range map[string]string{"DSH_A": "", "DSH_B": "2", "DSH_C": "a=b\n"} {
		if got, ok := env.Get(name); got != want || !ok {
			t.Errorf("%s is %q, %v", name, got, ok)
		}
	}
	if got, ok := env.Get("DSH_D"); got != "" || ok {
		t.Errorf("a fact that is not there is %q, %v", got, ok)
	}
}

func TestTheZeroDshEnvironmentIsEmpty(t *testing.T) {
	t.Parallel()
	none, err := subprocess.NewDshEnvironment(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range []subprocess.DshEnvironment{{}, none} {
		if _, ok := env.Get("DSH_A"); ok || len(env.Names()) != 0 {
			t.Errorf("it holds %q", env.Names())
		}
	}
}

func TestNewDshEnvironmentRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		vars map[string]string
		want string // part of the message
	}{
		"a name that is not managed":           {map[string]string{"PATH": "hush"}, `"PATH"`},
		"a name in small letters":              {map[string]string{"dsh_x": "hush"}, `"dsh_x"`},
		"a bad name beside a good one":         {map[string]string{"DSH_A": "hush", "DSH_1": "hush"}, `"DSH_1"`},
		"a value with a NUL byte":              {map[string]string{"DSH_A": "hush\x00"}, "DSH_A contains a NUL byte"},
		"the first of several, in their order": {map[string]string{"b": "", "a": "", "c": ""}, `"a"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, err := subprocess.NewDshEnvironment(tt.vars)
			if !errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %s with %q", err, fault.InvalidArgument, tt.want)
			}
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("%q shows a value", err)
			}
			if len(env.Names()) != 0 {
				t.Errorf("the refused set holds %q", env.Names())
			}
		})
	}
}

func TestValidDshKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"DSH_A": true, "DSH_SESSION_ID": true, "DSH_A1_": true, "DSH_Z9": true, "DSH_A__B": true,
		"": false, "DSH": false, "DSH_": false, "DSH_1": false, "DSH__A": false, "dsh_x": false, "DSH_x": false,
		"DSH_Ab": false, "DSH_A-B": false, "DSH_A=": false, "DSH_A\x00": false, "DSH_A\n": false, "DSH_É": false,
		" DSH_A": false, "XDSH_A": false, "DSH_@": false, "DSH_[": false, "DSH_A:": false, "DSH_A/": false,
	} {
		if got := subprocess.ValidDshKey(key); got != want {
			t.Errorf("ValidDshKey(%q) = %v", key, got)
		}
	}
}

// mustDrop and mayDrop describe the names that are not inherited from below
// and from above: letters beyond ASCII that fold to ASCII may count either way.
var (
	mustDrop = regexp.MustCompile(`[Kk][Ee][Yy]|[Pp][Aa][Ss][Ss][Ww][Oo][Rr][Dd]|[Ss][Ee][Cc][Rr][Ee][Tt]|[Tt][Oo][Kk][Ee][Nn]|^[Dd][Ss][Hh]_|^BASH_FUNC_|^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|CDPATH|PS4|PROMPT_COMMAND|GLOBIGNORE)$`)
	mayDrop  = regexp.MustCompile(`(?i)KEY|PASSWORD|SECRET|TOKEN|^DSH_`)
)

func FuzzEnviron(f *testing.F) {
	f.Add("PATH=/bin\nDSH_STALE=x\nAPI_KEY=k\nBASH_ENV=f\nA=1\nA=2\n=x\nnone", "MY_TOKEN=t\nDSH_A=caller", "PATH", "managed")
	f.Add("A1=\nA=\nmonKey=\n\u212Aey=\nBASH_FUNC_ls%%=() {\n}", "", "A\nA", "")
	f.Add("", "DSH_B=x\nA==", "DSH_A", "\xff")
	f.Fuzz(func(t *testing.T, ambientText, envText, unsetText, fact string) {
		ambient := strings.Split(ambientText, "\n")
		unset := strings.Split(unsetText, "\n")
		env := entries(strings.Split(envText, "\n"))
		facts := map[string]string{"DSH_A": fact, "DSH_SHELL": "1"}
		dsh, err := subprocess.NewDshEnvironment(facts)
		if strings.Contains(fact, "\x00") != (err != nil) {
			t.Fatalf("the fact %q: %v", fact, err)
		}
		if err != nil {
			return
		}
		ambientBefore, envBefore, unsetBefore := slices.Clone(ambient), maps.Clone(env), slices.Clone(unset)
		out := subprocess.Environ(ambient, env, unset, dsh)
		if !slices.Equal(ambient, ambientBefore) || !maps.Equal(env, envBefore) || !slices.Equal(unset, unsetBefore) {
			t.Fatal("an argument was changed")
		}

		got := entries(out)
		var names []string
		for _, entry := range out {
			name, _, _ := strings.Cut(entry, "=")
			names = append(names, name)
		}
		if len(got) != len(out) || !slices.IsSorted(names) {
			t.Fatalf("not sorted by name, or a name twice: %q", out)
		}
		inherited := entries(ambient)
		for name, value := range got {
			switch ambientValue, ok := inherited[name]; {
			case facts[name] != "" || name == "DSH_A":
				if value != facts[name] {
					t.Fatalf("the managed %s is %q", name, value)
				}
			case has(env, name):
				if value != env[name] {
					t.Fatalf("the explicit %s is %q, want %q", name, value, env[name])
				}
			case !ok || value != ambientValue || slices.Contains(unset, name) || mustDrop.MatchString(name):
				t.Fatalf("%s=%q must not be there", name, value)
			}
		}
		for name := range facts {
			if !has(got, name) {
				t.Fatalf("the managed %s is missing", name)
			}
		}
		for name := range env {
			if !has(got, name) && !slices.Contains(unset, name) {
				t.Fatalf("the explicit %s is missing", name)
			}
		}
		for name := range inherited {
			if !has(got, name) && !slices.Contains(unset, name) && !mustDrop.MatchString(name) && !mayDrop.MatchString(name) {
				t.Fatalf("the inherited %s is missing", name)
			}
		}
	})
}

// entries is the map of NAME=value lines; the last of a name counts.
func entries(lines []string) map[string]string {
	m := map[string]string{}
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, "="); ok && name != "" {
			m[name] = value
		}
	}
	return m
}

func has(m map[string]string, name string) bool {
	_, ok := m[name]
	return ok
}
