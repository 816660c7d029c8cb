//go:build unix

package durable_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/jobs/durable"
)

// inPlace are what somebody may have put where a file of the run directory
// belongs. Opened the plain way, the first waits for ever, and the second is
// another file.
var inPlace = map[string]func(t *testing.T, path string){
	"a pipe": func(t *testing.T, path string) {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	},
	"a link": func(t *testing.T, path string) {
		err := errors.Join(os.WriteFile(path+".target", []byte("{}"), 0o600), os.Symlink(path+".target", path))
		if err != nil {
			t.Fatal(err)
		}
	},
	"a directory": func(t *testing.T, path string) {
		if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
			t.Fatal(err)
		}
	},
	"a file without end": func(t *testing.T, path string) {
		if err := errors.Join(os.WriteFile(path, []byte("{}"), 0o600), os.Truncate(path, 1<<40)); err != nil {
			t.Fatal(err)
		}
	},
}

func TestACursorThatIsNoPlainFileIsTheBeginningAndIsReplaced(t *testing.T) {
	t.Parallel()
	for name, put := range inPlace {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			settle(t, home, "bash-1", "true")
			places := hostwire.FilesOf(home.Run(), session).Jobs
			if err := home.Ensure(places); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(places, "bash-1.json")
			put(t, path)
			if info, err := durable.ReadOne(home, session, "bash-1"); err != nil || info.Reported {
				t.Errorf("the job is %+v, %v", info, err)
			}
			durable.New(durable.Config{Home: home, SessionID: session}).MarkNoticed("bash-1")
			info, err := durable.ReadOne(home, session, "bash-1")
			if want := name != "a directory"; err != nil || info.Reported != want {
				t.Errorf("then it is %+v, %v", info, err)
			}
			if name != "a link" {
				return
			}
			if target, err := os.ReadFile(path + ".target"); string(target) != "{}" {
				t.Errorf("the link was followed: %q, %v", target, err)
			}
		})
	}
}

func TestNumbersThatAreNoPlainFileAreAnError(t *testing.T) {
	t.Parallel()
	for name, put := range inPlace {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			places := hostwire.FilesOf(home.Run(), session).Jobs
			if err := home.Ensure(places); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(places, ".numbers.json")
			put(t, path)
			store := durable.New(durable.Config{Home: home, SessionID: session, Keep: 10})
			slot, err := store.Reserve("bash", 10)
			if slot != nil || !errors.Is(err, fault.Invariant) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, %v", slot, err)
			}
		})
	}
}

func TestNumbersAreWrittenBesideAPipe(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	places := hostwire.FilesOf(home.Run(), session).Jobs
	if err := home.Ensure(places); err != nil {
		t.Fatal(err)
	}
	inPlace["a pipe"](t, filepath.Join(places, ".numbers.json.new"))
	slot, err := durable.New(durable.Config{Home: home, SessionID: session, Keep: 10}).Reserve("bash", 10)
	if err != nil {
		t.Fatal(err)
	}
	slot.Keep()
	var numbers map[string]int
	data, err := os.ReadFile(filepath.Join(places, ".numbers.json"))
	if err != nil || json.Unmarshal(data, &numbers) != nil || numbers["bash"] != 1 {
		t.Errorf("the numbers are %q, %v", data, err)
	}
}

func TestRecordsThatAreNoDirectoryAreAnError(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	if err := home.Ensure(filepath.Dir(home.Jobs(session))); err != nil {
		t.Fatal(err)
	}
	inPlace["a pipe"](t, home.Jobs(session))
	if list, err := durable.Read(home, session); err == nil {
		t.Errorf("they are %v", list)
	}
}
