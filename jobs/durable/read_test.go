//go:build unix

package durable_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/record"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/jobs/durable"
)

func TestWhatARecordTells(t *testing.T) {
	t.Parallel()
	const alive, dead = true, false
	now := time.Now().UnixMilli()
	running := &record.Process{PID: os.Getpid(), Boot: record.BootID(), Started: now}
	for _, c := range []struct {
		name    string
		host    bool
		process *record.Process
		also    func(t *testing.T, home state.Home, dir *record.Dir)
		status  jobs.Status
		detail  string
		lost    bool
	}{
		{name: "a job whose host lives", host: alive, process: running, status: jobs.Running},
		{name: "a job whose host died", host: dead, process: running, status: jobs.Failed, detail: "the session host died", lost: true},
		{name: "a job of another boot", host: alive, process: &record.Process{PID: 1, Boot: "another", Started: now}, status: jobs.Failed, detail: "lost: the machine was started again", lost: true},
		{name: "a job that is about to be started by a host that lives", host: alive, status: jobs.Running},
		{name: "a job whose starter died", host: dead, status: jobs.Failed, detail: "it was never started", lost: true},
		{name: "a job whose starter is at work", host: dead, also: func(t *testing.T, home state.Home, dir *record.Dir) {
			files := hostwire.FilesOf(home.Run(), session)
			if err := home.Ensure(files.Jobs); err != nil {
				t.Fatal(err)
			}
			lock, ok, err := state.TryLock(files.Starting(dir.Path()))
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			t.Cleanup(func() { lock.Release() })
		}, status: jobs.Running},
		{name: "a job that was told to stop", host: alive, process: running, also: func(t *testing.T, _ state.Home, dir *record.Dir) {
			if err := dir.MarkStopping("why"); err != nil {
				t.Fatal(err)
			}
		}, status: jobs.Stopping},
		{name: "a job of an earlier host", host: alive, process: &record.Process{PID: 1 << 30, Boot: record.BootID(), Started: now - 60_000}, also: listen,
			status: jobs.Failed, detail: "the session host died", lost: true},
		{name: "a job of an earlier host, of which a process lives", host: alive, process: &record.Process{PID: os.Getpid(), Boot: record.BootID(), Started: now - 60_000}, also: listen,
			status: jobs.Running},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			dir, _ := ask(t, home, "bash-1", "true")
			if c.process != nil {
				if err := dir.WriteProcess(c.process); err != nil {
					t.Fatal(err)
				}
			}
			if c.host {
				hold(t, home)
			}
			if c.also != nil {
				c.also(t, home, dir)
			}
			before := files(t, home)
			info, err := durable.ReadOne(home, session, "bash-1")
			if err != nil || info.Status != c.status || info.Detail != c.detail || info.Lost != c.lost || info.FinishedAt != 0 {
				t.Errorf("%+v, %v", info, err)
			}
			if diff := cmp.Diff(before, files(t, home)); diff != "" {
				t.Errorf("looking has changed something:\n%s", diff)
			}
		})
	}
}

func TestTheJobsOfASessionAreReadInTheirOrder(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	for _, id := range []string{"bash-10", "bash-9", "other-1", "bash-2"} {
		settle(t, home, id, "true "+id)
	}
	for _, name := range []string{"bash-3", ".run-0123", "no job", "bash-04"} { // bash-3 is just being reserved
		if err := os.Mkdir(filepath.Join(home.Jobs(session), name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	damaged := filepath.Join(home.Jobs(session), "bash-5")
	if err := errors.Join(os.Mkdir(damaged, 0o700), os.WriteFile(filepath.Join(damaged, "job.json"), []byte("{half"), 0o600)); err != nil {
		t.Fatal(err)
	}
	list, err := durable.Read(home, session)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, info := range list {
		ids = append(ids, info.ID)
		switch {
		case info.ID == "bash-5":
			if info.Status != jobs.Failed || info.Label != "(unknown)" || info.Lost {
				t.Errorf("%+v", info)
			}
		case info.Label != "true "+info.ID || info.Status != jobs.Completed || info.Detail != "exit code: 0" ||
			info.StartedAt != 1000 || info.FinishedAt != 3000 || info.Stdout.Bytes != 7 || info.Session != session || info.Workdir != "/":
			t.Errorf("%+v", info)
		}
	}
	if want := []string{"other-1", "bash-2", "bash-5", "bash-9", "bash-10"}; !slices.Equal(ids, want) {
		t.Errorf("the ids are %v, want %v", ids, want)
	}
}

func TestWhatIsNotThereIsNotMade(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	if list, err := durable.Read(home, session); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	for _, id := range []string{"bash-1", "../s/bash-1", "", ".run-1", "bash-1/x", "bash-01"} {
		if _, err := durable.ReadOne(home, session, id); !errors.Is(err, fault.UnknownJob) {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := durable.OpenLog(home, session, id, record.Stdout); !errors.Is(err, fault.UnknownJob) {
			t.Errorf("the log of %q: %v", id, err)
		}
	}
	if durable.HostLives(home, session) {
		t.Error("it has a host")
	}
	if _, err := os.Lstat(home.Root()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the home was made: %v", err)
	}
}

func TestALogThatIsNotThereYetIsNone(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	dir, a := ask(t, home, "bash-1", "true")
	if log, err := durable.OpenLog(home, session, "bash-1", record.Stderr); log != nil || err != nil {
		t.Errorf("%v, %v", log, err)
	}
	logs, err := dir.CreateLogs(a)
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	if _, err := logs.Stream(record.Stderr).Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	log, err := durable.OpenLog(home, session, "bash-1", record.Stderr)
	if err != nil || log.Size() != 4 {
		t.Fatalf("%v, %v", log, err)
	}
	log.Close()
}

func newHome(t testing.TB) state.Home {
	t.Helper()
	home, err := state.ResolveHome(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// hold holds the lock of a host.
func hold(t *testing.T, home state.Home) {
	t.Helper()
	if err := home.Ensure(home.Run()); err != nil {
		t.Fatal(err)
	}
	lock, ok, err := state.TryLock(hostwire.FilesOf(home.Run(), session).Lock)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	t.Cleanup(func() { lock.Release() })
}

// listen makes the file where a host begins to listen now.
func listen(t *testing.T, home state.Home, _ *record.Dir) {
	if err := os.WriteFile(hostwire.FilesOf(home.Run(), session).Socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// files lists all files of a home with their times.
func files(t *testing.T, home state.Home) (list []string) {
	t.Helper()
	err := filepath.WalkDir(home.Root(), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		list = append(list, fmt.Sprint(path, info.Mode(), info.ModTime(), info.Size()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// BenchmarkRead reads the records of a thousand settled jobs.
func BenchmarkRead(b *testing.B) {
	home := newHome(b)
	for i := range 1000 {
		settle(b, home, fmt.Sprintf("bash-%d", i+1), "true")
	}
	for b.Loop() {
		list, err := durable.Read(home, session)
		if err != nil || len(list) != 1000 {
			b.Fatalf("%d jobs, %v", len(list), err)
		}
	}
}

// settle writes the record of a job that has settled.
func settle(t testing.TB, home state.Home, id, label string) {
	t.Helper()
	dir, _ := ask(t, home, id, label)
	code := 0
	if _, err := dir.WriteStatus(&record.Status{
		Status: record.Completed, ExitCode: &code, Started: 1000, Finished: 3000, Stdout: record.StreamStatus{Bytes: 7},
	}); err != nil {
		t.Fatal(err)
	}
}

// ask writes the record of a job that is about to be started.
func ask(t testing.TB, home state.Home, id, label string) (*record.Dir, *record.Ask) {
	t.Helper()
	path := filepath.Join(home.Jobs(session), id)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	a := record.NewAsk()
	a.Kind, a.Label, a.Command, a.Workdir = "bash", label, label, "/"
	if err := dir.WriteAsk(a); err != nil {
		t.Fatal(err)
	}
	return dir, a
}
