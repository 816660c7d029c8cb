//go:build unix

package durable_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sessionhost "hardshell/host"
	"hardshell/internal/hostwire"
	"hardshell/internal/racecheck"
	"hardshell/internal/record"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/jobs/durable"
	"hardshell/jobs/jobstest"
	"hardshell/sandbox"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
)

// hang bounds every wait: far beyond what a slow machine needs.
const hang = 30 * time.Second

// TestMain makes this program the session host when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == hostwire.Argument {
		os.Exit(sessionhost.Run(func(state.Home, *slog.Logger) (sandbox.Provider, error) { return noSandbox{}, nil }))
	}
	os.Exit(racecheck.Main(m))
}

// noSandbox confines nothing.
type noSandbox struct{}

func (noSandbox) Confine(_ context.Context, policy sandbox.Policy) (sandbox.Confinement, error) {
	return nil, sandbox.Unavailable(policy.Mode, "this is a test")
}

func (noSandbox) Close() error { return nil }

func TestConformance(t *testing.T) {
	jobstest.Run(t, func(t *testing.T, o jobstest.Options) jobstest.Fixture {
		return newBench(t).fixture(t, o)
	})
}

// bench is a home with one session.
type bench struct{ home state.Home }

func newBench(t *testing.T) *bench {
	home, err := state.ResolveHome(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{home}
	t.Cleanup(func() { b.endAll(t) })
	return b
}

const session = "s"

// harness is a runtime with the records that it looks after.
func (b *bench) harness(t *testing.T) (*host.Runtime, *durable.Store) {
	runtime := host.New(host.Config{Home: b.home, SessionID: session, Keep: true})
	t.Cleanup(func() { runtime.Close(context.Background()) })
	return runtime, durable.New(durable.Config{
		Home: b.home, SessionID: session, MaxOutputBytes: 64000, MaxLogBytes: 1 << 20,
		Watch: func(path string) (durable.Command, error) { return runtime.Watch(path) },
		Keep:  100, Grace: func() time.Duration { return 200 * time.Millisecond },
	})
}

// endAll ends what lives, and waits for the end of the host.
func (b *bench) endAll(t *testing.T) {
	runtime := host.New(host.Config{Home: b.home, SessionID: session, Keep: true})
	records, _ := filepath.Glob(filepath.Join(b.home.Jobs(session), "*"))
	for _, path := range records {
		if record.Settled(path) {
			continue
		}
		if w, err := runtime.Watch(path); err == nil {
			w.Stop("the test is over", true)
			<-w.Done()
		}
	}
	runtime.Close(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	if b.home.Ensure(b.home.Run()) != nil {
		return
	}
	lock, err := state.Lock(ctx, hostwire.FilesOf(b.home.Run(), session).Lock)
	if err != nil {
		t.Errorf("the host lives on: %v", err)
		return
	}
	lock.Release()
}

func (b *bench) fixture(t *testing.T, o jobstest.Options) jobstest.Fixture {
	runtime, store := b.harness(t)
	owner := jobs.NewOwner(session)
	registry := jobs.New(jobs.Options{Limit: o.Limit, CancelBound: bound(o.CancelBound), Records: store, RecordsOwner: owner})
	t.Cleanup(func() { registry.Close(context.Background()) })
	return jobstest.Fixture{
		Registry: registry, Owner: owner, Rounds: 10,
		Start: func(a jobstest.Ask) (jobs.Job, jobstest.Work, error) {
			return start(t, runtime, store, registry, owner, a)
		},
		Again: func(t *testing.T) jobstest.Fixture { return b.fixture(t, jobstest.Options{}) },
	}
}

// script does what it reads: P prints, X exits.
const script = `: >"$1"; while IFS= read -r -d '' word; do
case $word in P*) printf %s "${word#P}";; X*) exit "${word#X}";; esac; done`

func start(t *testing.T, runtime *host.Runtime, store *durable.Store, registry *jobs.Registry, owner *jobs.Owner, a jobstest.Ask) (jobs.Job, jobstest.Work, error) {
	ready := filepath.Join(t.TempDir(), "ready")
	text := script
	if a.Stubborn {
		text = "trap '' TERM; " + text
	}
	job, err := registry.Start(jobs.Start{
		Kind: "bash", Label: a.Label, Owner: owner, OutputLimitBytes: a.OutputLimitBytes, Durable: true,
		Run: func(slot jobs.Slot) (jobs.Producer, error) {
			work := durable.Work{Kind: "bash", Label: a.Label, Command: text, Workdir: "/", Interactive: true}
			if err := store.Write(slot.Dir, work); err != nil {
				return nil, err
			}
			_, err := runtime.Spawn(context.Background(), spec(slot.Dir, text, ready))
			return nil, err
		},
	})
	if err != nil {
		return job, nil, err
	}
	w := &typed{t: t, store: store, registry: registry, owner: owner, id: job.ID}
	w.await("its command is ready", func() bool { _, err := os.Stat(ready); return err == nil })
	return job, w, nil
}

// spec is a recorded bash.
func spec(dir, text string, args ...string) subprocess.Spec {
	return subprocess.Spec{
		Argv: append([]string{"bash", "-c", text, "bash"}, args...), Dir: "/",
		Stdin:  subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Stdout: subprocess.Output{Mode: subprocess.OutputRecord, MaxBytes: 64000},
		Stderr: subprocess.Output{Mode: subprocess.OutputRecord, MaxBytes: 64000},
		Record: dir, Grace: 200 * time.Millisecond,
	}
}

// typed is a job that does what is typed into it.
type typed struct {
	t        *testing.T
	store    *durable.Store
	registry *jobs.Registry
	owner    *jobs.Owner
	id       string
}

// Print implements jobstest.Work.
func (w *typed) Print(text string) {
	w.t.Helper()
	before := w.size()
	w.typeIn("P" + text)
	w.await("it has printed", func() bool { return w.size() >= before+int64(len(text)) })
}

// Exit implements jobstest.Work.
func (w *typed) Exit(status int) { w.typeIn(fmt.Sprintf("X%d", status)) }

func (w *typed) typeIn(word string) {
	_, producer, err := w.store.Open(w.id)
	if err == nil {
		err = producer.(jobs.Interactive).Input(context.Background(), word+"\x00", false)
	}
	if err != nil && !strings.Contains(err.Error(), "finished") && !strings.Contains(err.Error(), "closed") {
		w.t.Errorf("typing %q: %v", word, err)
	}
}

func (w *typed) size() int64 {
	_, producer, err := w.store.Open(w.id)
	if err != nil {
		w.t.Error(err)
		return 0
	}
	piece, err := producer.(jobs.Recorded).ReadFrom(subprocess.Stdout, 0, 1)
	if err != nil {
		w.t.Error(err)
	}
	return piece.Size
}

func (w *typed) await(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(hang); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("job %s: waited %v in vain until %s", w.id, hang, what)
		}
	}
}

// bound is a bound that does not change; 0 is the default.
func bound(d time.Duration) func() time.Duration {
	if d == 0 {
		return nil
	}
	return func() time.Duration { return d }
}
