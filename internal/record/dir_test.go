//go:build unix

package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
)

func fileNames(t testing.TB, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestTheAskIsWrittenOnce(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	first := NewAsk()
	if err := d.WriteAsk(first); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteAsk(NewAsk()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	if got, err := d.ReadAsk(); err != nil || got.Key != first.Key {
		t.Errorf("%+v, %v", got, err)
	}
	if names := fileNames(t, d.Path()); !slices.Equal(names, []string{askFile}) {
		t.Errorf("there are %v", names)
	}
}

func TestOfManyWritersOfTheStatusOneWins(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]*string{
		"where there is none":                    nil,
		"where a power cut left an empty file":   new(string),
		"where a power cut left nothing but NUL": ptr(strings.Repeat("\x00", 500)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 {
				d := newDir(t)
				if before != nil {
					if err := os.WriteFile(filepath.Join(d.Path(), statusFile), []byte(*before), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				raceForStatus(t, d)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func raceForStatus(t *testing.T, d *Dir) {
	t.Helper()
	const writers = 6
	var won [writers]bool
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range writers {
		own := d
		if i%2 == 0 {
			own = openDir(t, d.Path())
		}
		all.Go(func() {
			<-start
			var err error
			if won[i], err = own.WriteStatus(&Status{Status: Completed, DurationMs: int64(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	status, ok, err := d.ReadStatus()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for i, w := range won {
		if w != (int64(i) == status.DurationMs) {
			t.Errorf("writer %d won is %v, and the status is of %d", i, w, status.DurationMs)
		}
	}
	if names := fileNames(t, d.Path()); !slices.Equal(names, []string{statusFile}) {
		t.Errorf("there are %v", names)
	}
}

func TestAHollowStatusIsReplaced(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	if err := os.WriteFile(filepath.Join(d.Path(), statusFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if won, err := d.WriteStatus(&Status{Status: Failed}); !won || err != nil {
		t.Error(won, err)
	}
}

func TestADamagedStatusIsNotReplaced(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	if err := os.WriteFile(filepath.Join(d.Path(), statusFile), []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if won, err := d.WriteStatus(&Status{Status: Failed}); won || err != nil {
		t.Error(won, err)
	}
}

func TestOnlyFinalStatesAreWritten(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	if _, err := d.WriteStatus(&Status{Status: "running"}); !errors.Is(err, fault.InvalidArgument) {
		t.Error(err)
	}
	if _, err := d.WriteStatus(&Status{Status: Failed, Detail: strings.Repeat("x", maxDocument)}); !errors.Is(err, fault.InvalidArgument) {
		t.Error(err)
	}
	if names := fileNames(t, d.Path()); len(names) != 0 {
		t.Errorf("there are %v", names)
	}
}

func TestTheFirstReasonStays(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	for _, reason := range []string{"first", "second"} {
		if err := d.MarkStopping(reason); err != nil {
			t.Fatal(err)
		}
	}
	if reason, ok := d.Stopping(); !ok || reason != "first" {
		t.Errorf("%q, %v", reason, ok)
	}
}

func TestALongReasonIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	if err := d.MarkStopping("x" + strings.Repeat("é", maxReason)); err != nil {
		t.Fatal(err)
	}
	if reason, ok := d.Stopping(); !ok || reason != "x"+strings.Repeat("é", maxReason/2-1) {
		t.Errorf("%d bytes, %v", len(reason), ok)
	}
}

func TestWhatIsNoPlainFileIsRefused(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"a symbolic link": func(path string) error {
			target := path + ".target"
			return errors.Join(os.WriteFile(target, []byte(`{"status":"completed"}`), 0o600), os.Symlink(target, path))
		},
		"a FIFO":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDir(t)
			ask := NewAsk()
			for _, file := range []string{askFile, statusFile, stoppingFile, ask.Stdout, ask.Index} {
				if err := put(filepath.Join(d.Path(), file)); err != nil {
					t.Fatal(err)
				}
			}
			_, askErr := d.ReadAsk()
			_, _, statusErr := d.ReadStatus()
			_, logErr := d.OpenLog(ask, Stdout)
			for what, err := range map[string]error{"ask": askErr, "status": statusErr, "log": logErr} {
				if !errors.Is(err, fault.Invariant) {
					t.Errorf("the %s: %v", what, err)
				}
			}
			if reason, ok := d.Stopping(); !ok || reason != "" {
				t.Errorf("stopping is %q, %v", reason, ok)
			}
			if _, err := d.CreateLogs(ask); !errors.Is(err, fs.ErrExist) {
				t.Errorf("it is written to: %v", err)
			}
		})
	}
}

func TestADirectoryThatIsALinkIsRefused(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	link := d.Path() + "-link"
	if err := os.Symlink(d.Path(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestARenamedDirectoryIsFollowed(t *testing.T) {
	t.Parallel()
	d, ask, logs, r := newLogs(t, 1<<20)
	feed(t, logs.Stream(Stdout), 1000, 100)
	moved := d.Path() + "-moved"
	if err := os.Rename(d.Path(), moved); err != nil {
		t.Fatal(err)
	}
	feed(t, logs.Stream(Stdout), 3<<20, 100_000)
	if won, err := d.WriteStatus(&Status{Status: Completed}); !won || err != nil {
		t.Error(won, err)
	}
	wantStream(t, readAt(t, r, 0, 1000).Data, 0)
	other := openDir(t, moved)
	if _, ok, err := other.ReadStatus(); !ok || err != nil {
		t.Error(ok, err)
	}
	if size := openLog(t, other, ask, Stdout).Size(); size != 1000+3<<20 {
		t.Errorf("the log has %d bytes", size)
	}
}

func TestARemovedDirectoryDoesNotDisturbTheWriter(t *testing.T) {
	t.Parallel()
	d, ask, logs, r := newLogs(t, 1<<20)
	feed(t, logs.Stream(Stdout), 1000, 100)
	if err := os.RemoveAll(d.Path()); err != nil {
		t.Fatal(err)
	}
	feed(t, logs.Stream(Stdout), 3<<20, 100_000)
	if status := logs.Stream(Stdout).Status(); status.Error != "" || status.Bytes != 1000+3<<20 {
		t.Errorf("%+v", status)
	}
	if r.Size() != 1000+3<<20 {
		t.Errorf("an open reader sees %d bytes", r.Size())
	}
	if _, err := d.OpenLog(ask, Stdout); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new reader: %v", err)
	}
	if _, err := d.WriteStatus(&Status{Status: Completed}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a status: %v", err)
	}
}

func TestFailedCreationOfLogsLeavesNothing(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	ask := NewAsk()
	if err := os.WriteFile(filepath.Join(d.Path(), ask.Index), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.CreateLogs(ask); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if names := fileNames(t, d.Path()); !slices.Equal(names, []string{ask.Index}) {
		t.Errorf("there are %v", names)
	}
	ask.MaxBytes = -1
	if _, err := d.CreateLogs(ask); !errors.Is(err, fault.InvalidArgument) {
		t.Error(err)
	}
}

func TestAClosedDirectoryRefuses(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	d.Close()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.WriteAsk(NewAsk()); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}
