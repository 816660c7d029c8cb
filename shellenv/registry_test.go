package shellenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

// home is absolute on every system.
var home = filepath.Join(os.TempDir(), "home")

// fixed contributes the same variables to every command.
func fixed(name string, vars map[string]string) Contributor {
	keys := map[string]string{}
	for key := range vars {
		keys[key] = "About " + key + "."
	}
	return Contributor{Name: name, Keys: keys, Resolve: func(Execution) (map[string]string, error) { return vars, nil }}
}

func register(t *testing.T, r *Registry, c Contributor) (unregister func()) {
	t.Helper()
	unregister, err := r.Register(c)
	if err != nil {
		t.Fatal(err)
	}
	return unregister
}

// collect returns the facts of a collection that must go well.
func collect(t *testing.T, r *Registry, e Execution) map[string]string {
	t.Helper()
	env, err := r.Collect(e)
	if err != nil {
		t.Fatal(err)
	}
	return facts(env)
}

func facts(env subprocess.DshEnvironment) map[string]string {
	vars := map[string]string{}
	for _, name := range env.Names() {
		vars[name], _ = env.Get(name)
	}
	return vars
}

func wantFacts(t *testing.T, got map[string]string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestBuiltInFacts(t *testing.T) {
	t.Parallel()
	r := New(home)
	wantFacts(t, collect(t, r, Execution{}), map[string]string{"DSH_HOME": home, "DSH_SHELL": "1"})
	wantFacts(t, collect(t, r, Execution{SessionID: "s1"}),
		map[string]string{"DSH_HOME": home, "DSH_SHELL": "1", "DSH_SESSION_ID": "s1"})
	wantFacts(t, collect(t, r, Execution{}), map[string]string{"DSH_HOME": home, "DSH_SHELL": "1"})
}

func TestTheHomeIsAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	r := New("state")
	t.Chdir(os.TempDir())
	if got := collect(t, r, Execution{})["DSH_HOME"]; got != filepath.Join(dir, "state") {
		t.Errorf("DSH_HOME is %q", got)
	}
}

func TestContributionsAreCollectedAnew(t *testing.T) {
	t.Parallel()
	r := New(home)
	calls := 0
	register(t, r, Contributor{
		Name: "counter",
		Keys: map[string]string{"DSH_CALLS": "Calls so far.", "DSH_LOG": "The log."},
		Resolve: func(e Execution) (map[string]string, error) {
			calls++
			vars := map[string]string{"DSH_CALLS": fmt.Sprint(calls)}
			if e.SessionLog != "" {
				vars["DSH_LOG"] = e.SessionID + " " + e.SessionLog
			}
			return vars, nil
		},
	})
	wantFacts(t, collect(t, r, Execution{SessionID: "s1", SessionLog: "/l"}), map[string]string{
		"DSH_HOME": home, "DSH_SHELL": "1", "DSH_SESSION_ID": "s1", "DSH_CALLS": "1", "DSH_LOG": "s1 /l"})
	wantFacts(t, collect(t, r, Execution{}), map[string]string{
		"DSH_HOME": home, "DSH_SHELL": "1", "DSH_CALLS": "2"})
}

func TestTheSnapshotIsImmutable(t *testing.T) {
	t.Parallel()
	r := New(home)
	vars := map[string]string{"DSH_A": "before"}
	register(t, r, fixed("a", vars))
	env, err := r.Collect(Execution{})
	if err != nil {
		t.Fatal(err)
	}
	vars["DSH_A"] = "after"
	if got, _ := env.Get("DSH_A"); got != "before" {
		t.Errorf("the fact changed to %q", got)
	}
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	resolve := func(Execution) (map[string]string, error) { return nil, nil }
	keys := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	tests := map[string]struct {
		contributor Contributor
		want        []string // parts of the message
	}{
		"an empty name":                        {Contributor{Resolve: resolve}, []string{"name must be non-empty"}},
		"a blank name":                         {Contributor{Name: " \t", Resolve: resolve}, []string{"name must be non-empty"}},
		"a missing resolver":                   {Contributor{Name: "c"}, []string{`"c"`, "Resolve"}},
		"a key in small letters":               {Contributor{"c", keys("dsh_x", "d"), resolve}, []string{`"c" declared invalid key "dsh_x"`}},
		"the prefix alone":                     {Contributor{"c", keys("DSH_", "d"), resolve}, []string{`"c" declared invalid key "DSH_"`}},
		"a key that begins with a digit":       {Contributor{"c", keys("DSH_1", "d"), resolve}, []string{`"c" declared invalid key "DSH_1"`}},
		"a key without the prefix":             {Contributor{"c", keys("PATH", "d"), resolve}, []string{`"c" declared invalid key "PATH"`}},
		"the home":                             {Contributor{"c", keys("DSH_HOME", "d"), resolve}, []string{`"c" cannot own reserved key "DSH_HOME"`}},
		"the shell":                            {Contributor{"c", keys("DSH_SHELL", "d"), resolve}, []string{`"c" cannot own reserved key "DSH_SHELL"`}},
		"the session":                          {Contributor{"c", keys("DSH_SESSION_ID", "d"), resolve}, []string{`"c" cannot own reserved key "DSH_SESSION_ID"`}},
		"a missing description":                {Contributor{"c", keys("DSH_X", ""), resolve}, []string{`"c" must describe "DSH_X"`}},
		"a blank description":                  {Contributor{"c", keys("DSH_X", " "), resolve}, []string{`"c" must describe "DSH_X"`}},
		"a name that is taken":                 {Contributor{"first", keys("DSH_X", "d"), resolve}, []string{`"first" is already registered`}},
		"the registry's own name":              {Contributor{"shell-env", keys("DSH_X", "d"), resolve}, []string{`"shell-env" is already registered`}},
		"a key that is taken, with both names": {Contributor{"c", keys("DSH_FIRST", "d"), resolve}, []string{`"c"`, `"DSH_FIRST"`, `"first"`}},
		"a good key beside a bad one":          {Contributor{"c", keys("DSH_A", "d", "DSH_B", ""), resolve}, []string{`must describe "DSH_B"`}},
		"a free key beside a taken one":        {Contributor{"c", keys("DSH_A", "d", "DSH_FIRST", "d"), resolve}, []string{`"DSH_FIRST"`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New(home)
			register(t, r, fixed("first", map[string]string{"DSH_FIRST": "1"}))
			before := r.List()
			unregister, err := r.Register(tt.contributor)
			if unregister != nil || !errors.Is(err, fault.InvalidArgument) {
				t.Fatalf("got %v, want %s", err, fault.InvalidArgument)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if diff := cmp.Diff(before, r.List()); diff != "" {
				t.Errorf("the refused registration left something (-before +after):\n%s", diff)
			}
			register(t, r, fixed("next", map[string]string{"DSH_A": "1", "DSH_X": "1"}))
		})
	}
}

func TestARegistrationIsACopy(t *testing.T) {
	t.Parallel()
	r := New(home)
	c := fixed("a", map[string]string{"DSH_A": "1"})
	register(t, r, c)
	delete(c.Keys, "DSH_A")
	c.Keys["DSH_HOME"] = "stolen"
	wantFacts(t, collect(t, r, Execution{}), map[string]string{"DSH_HOME": home, "DSH_SHELL": "1", "DSH_A": "1"})
}

func TestUnregister(t *testing.T) {
	t.Parallel()
	r := New(home)
	unregister := register(t, r, fixed("a", map[string]string{"DSH_A": "old"}))
	register(t, r, fixed("b", map[string]string{"DSH_B": "b"}))
	unregister()
	wantFacts(t, collect(t, r, Execution{}), map[string]string{"DSH_HOME": home, "DSH_SHELL": "1", "DSH_B": "b"})

	register(t, r, fixed("a", map[string]string{"DSH_A": "new"}))
	unregister() // must not touch the new owner of its name
	wantFacts(t, collect(t, r, Execution{}), map[string]string{"DSH_HOME": home, "DSH_SHELL": "1", "DSH_A": "new", "DSH_B": "b"})
}

func TestAFaultyContributorCostsItsOwnVariables(t *testing.T) {
	t.Parallel()
	cause := errors.New("the disk is on fire")
	tests := map[string]struct {
		resolve func(Execution) (map[string]string, error)
		want    []string // parts of the message
		cause   error
	}{
		"that fails": {
			func(Execution) (map[string]string, error) { return map[string]string{"DSH_BAD": "x"}, cause },
			[]string{`"bad"`, "DSH_BAD, DSH_MORE", "the disk is on fire"}, cause,
		},
		"that panics": {
			func(Execution) (map[string]string, error) { panic("a bug") },
			[]string{`"bad"`, "DSH_BAD, DSH_MORE", "panic: a bug"}, nil,
		},
		"that panics with nothing": {
			func(Execution) (map[string]string, error) { panic(nil) },
			[]string{`"bad"`, "panic: "}, nil,
		},
		"that writes to a nil map": {
			func(Execution) (map[string]string, error) { return writeToNil(nil), nil },
			[]string{`"bad"`, "nil map"}, nil,
		},
		"that returns a key it did not declare": {
			func(Execution) (map[string]string, error) {
				return map[string]string{"DSH_BAD": "x", "DSH_OTHER": "y"}, nil
			},
			[]string{`"bad" returned undeclared key "DSH_OTHER"`}, nil,
		},
		"that returns another's key": {
			func(Execution) (map[string]string, error) { return map[string]string{"DSH_HOME": "/tmp/evil"}, nil },
			[]string{`"bad" returned undeclared key "DSH_HOME"`}, nil,
		},
		"that returns a name of no kind": {
			func(Execution) (map[string]string, error) { return map[string]string{"PATH": "/tmp/evil"}, nil },
			[]string{`"bad" returned undeclared key "PATH"`}, nil,
		},
		"that returns a NUL": {
			func(Execution) (map[string]string, error) {
				return map[string]string{"DSH_BAD": "hush\x00", "DSH_MORE": "x"}, nil
			},
			[]string{`"bad"`, "NUL", `"DSH_BAD"`}, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New(home)
			register(t, r, fixed("before", map[string]string{"DSH_A": "a"}))
			register(t, r, Contributor{Name: "bad", Resolve: tt.resolve,
				Keys: map[string]string{"DSH_BAD": "Bad.", "DSH_MORE": "More."}})
			register(t, r, fixed("after", map[string]string{"DSH_Z": "z"}))
			env, err := r.Collect(Execution{})
			wantFacts(t, facts(env), map[string]string{"DSH_HOME": home, "DSH_SHELL": "1", "DSH_A": "a", "DSH_Z": "z"})
			if !errors.Is(err, fault.InvalidArgument) || fault.CodeOf(err) != fault.InvalidArgument {
				t.Fatalf("got %v, want %s", err, fault.InvalidArgument)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("%v does not wrap its cause", err)
			}
			if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "/tmp/evil") {
				t.Errorf("%q shows a value", err)
			}
		})
	}
}

func TestEveryFaultyContributorIsNamed(t *testing.T) {
	t.Parallel()
	r := New(home)
	for _, name := range []string{"one", "two"} {
		register(t, r, Contributor{Name: name, Resolve: func(Execution) (map[string]string, error) {
			return nil, errors.New("no")
		}})
	}
	_, err := r.Collect(Execution{})
	if err == nil || !strings.Contains(err.Error(), `"one"`) || !strings.Contains(err.Error(), `"two"`) {
		t.Errorf("got %v", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	r := New(home)
	resolve := func(Execution) (map[string]string, error) {
		t.Error("List ran a resolver")
		return nil, nil
	}
	register(t, r, Contributor{"z", map[string]string{"DSH_B": "B.", "DSH_Z": "Z."}, resolve})
	unregister := register(t, r, Contributor{"gone", map[string]string{"DSH_GONE": "Gone."}, resolve})
	register(t, r, Contributor{"a", map[string]string{"DSH_I": "I."}, resolve})
	unregister()
	var got []string
	for _, v := range r.List() {
		if v.Description == "" {
			t.Errorf("%s has no description", v.Key)
		}
		got = append(got, fmt.Sprintf("%s %s %v", v.Key, v.Contributor, v.BuiltIn))
	}
	want := []string{
		"DSH_B z false", "DSH_HOME shell-env true", "DSH_I a false",
		"DSH_SESSION_ID shell-env true", "DSH_SHELL shell-env true", "DSH_Z z false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAContributorMayCallTheRegistry(t *testing.T) {
	t.Parallel()
	r := New(home)
	var unregister func()
	unregister = register(t, r, Contributor{
		Name: "self", Keys: map[string]string{"DSH_SELF": "Self."},
		Resolve: func(Execution) (map[string]string, error) {
			unregister()
			return map[string]string{"DSH_SELF": fmt.Sprint(len(r.List()))}, nil
		},
	})
	if got := collect(t, r, Execution{})["DSH_SELF"]; got != "3" {
		t.Errorf("it saw %s variables, want the 3 of the registry", got)
	}
	if _, still := collect(t, r, Execution{})["DSH_SELF"]; still {
		t.Error("it is still there")
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	r := New(home)
	register(t, r, fixed("stays", map[string]string{"DSH_STAYS": "yes"}))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			key := fmt.Sprintf("DSH_G%d", i)
			for range 200 {
				unregister, err := r.Register(fixed(key, map[string]string{key: "x"}))
				if err != nil {
					t.Error(err)
					return
				}
				env, err := r.Collect(Execution{SessionID: key})
				vars := facts(env)
				if err != nil || vars[key] != "x" || vars["DSH_STAYS"] != "yes" || vars["DSH_SESSION_ID"] != key {
					t.Errorf("%v: %v", err, vars)
				}
				r.List()
				unregister()
				unregister()
			}
		})
	}
	wg.Wait()
	if got := len(r.List()); got != 4 {
		t.Errorf("%d variables are left, want 4", got)
	}
}

// writeToNil panics as careless code does.
func writeToNil(vars map[string]string) map[string]string {
	vars["DSH_BAD"] = "x"
	return vars
}
