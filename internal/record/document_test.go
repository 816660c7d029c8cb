//go:build unix

package record

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hardshell/internal/fault"
)

var update = flag.Bool("update", false, "write the golden files")

func sampleAsk() *Ask {
	return &Ask{
		Key: strings.Repeat("0123456789abcdef", 2), Kind: "bash", Label: "serve <the> \"docs\" & more",
		Command: "python3 -m http.server\n", Workdir: "/home/me/project", Created: 1_760_000_000_123,
		Stdout: "log-stdout-0123456789ab", Stderr: "log-stderr-ba9876543210", Index: "log-index-00ff00ff00ff",
		MaxBytes: 64 << 20, OutputLimit: 1 << 30, Interactive: true, Foreground: true,
		Grace: 3000, Runtime: 600_000, Silence: 30_000, Memory: 1 << 30,
	}
}

func sampleStatus() *Status {
	code := 143
	return &Status{
		Status: Killed, ExitCode: &code, Signal: "SIGTERM", Detail: "it was stopped", Cause: "stopped", Reason: "no longer needed",
		Started: 1_760_000_000_200, Finished: 1_760_000_005_250, DurationMs: 5050,
		Usage:     &Usage{UserMs: 120, SystemMs: 30, MaxRSS: 12 << 20},
		Stdout:    StreamStatus{Bytes: 1 << 30, Gap: &Gap{From: 32 << 20, To: 900 << 20}},
		Stderr:    StreamStatus{Bytes: 12, Gap: &Gap{From: 5, To: 12}, Error: "no space left on device"},
		Survivors: []int{4711}, Sandbox: json.RawMessage(`{"mode":"confined"}`),
	}
}

func TestDocumentsAreWrittenAndReadAsInTheGoldenFiles(t *testing.T) {
	t.Parallel()
	process := &Process{PID: 4242, Tag: 1 << 60, Grace: 3000, Boot: "5f0c2f3e-0000-4000-8000-000000000000", Started: 1_760_000_000_200}
	d := newDir(t)
	if won, err := d.WriteStatus(sampleStatus()); !won || err != nil {
		t.Fatal(won, err)
	}
	if err := errors.Join(d.WriteAsk(sampleAsk()), d.WriteProcess(process)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{askFile, processFile, statusFile} {
		got, err := os.ReadFile(filepath.Join(d.Path(), name))
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if info, err := os.Stat(filepath.Join(d.Path(), name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
	ask, err := d.ReadAsk()
	if diff := cmp.Diff(sampleAsk(), ask); err != nil || diff != "" {
		t.Errorf("the ask: %v %s", err, diff)
	}
	again, err := d.ReadProcess()
	if diff := cmp.Diff(process, again); err != nil || diff != "" {
		t.Errorf("the process: %v %s", err, diff)
	}
	status, ok, err := d.ReadStatus()
	if diff := cmp.Diff(sampleStatus(), status); err != nil || !ok || diff != "" {
		t.Errorf("the status: %v %v %s", ok, err, diff)
	}
}

func TestANewAskNamesItsFiles(t *testing.T) {
	t.Parallel()
	a, b := NewAsk(), NewAsk()
	for _, ask := range []*Ask{a, b} {
		for i := range 2 {
			if _, err := ask.logName(i); err != nil {
				t.Error(err)
			}
		}
		if _, err := ask.indexName(); err != nil {
			t.Error(err)
		}
		if len(ask.Key) != 32 || !isLowerHex(ask.Key) || ask.Created == 0 {
			t.Errorf("%+v", ask)
		}
	}
	if a.Key == b.Key || a.Stdout == b.Stdout || a.Stderr == b.Stderr || a.Index == b.Index {
		t.Error("two asks share a name")
	}
}

func TestLogNamesOfADocumentAreChecked(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "log-stdout-", "log-stdout-0123456789a", "log-stdout-0123456789abc", "log-stdout-0123456789aB",
		"log-stdout-0123456789a/", "log-stderr-0123456789ab", "log-index-0123456789ab", "../log-stdout-0123456789ab",
		"log-stdout-../../../../x", "job.json", "/etc/passwd", "log-stdout-0123456789ab\x00",
	} {
		ask := NewAsk()
		ask.Stdout = name
		d := newDir(t)
		if _, err := d.CreateLogs(ask); !errors.Is(err, fault.Invariant) {
			t.Errorf("%q is created: %v", name, err)
		}
		if _, err := d.OpenLog(ask, Stdout); !errors.Is(err, fault.Invariant) {
			t.Errorf("%q is opened: %v", name, err)
		}
		if entries, _ := os.ReadDir(d.Path()); len(entries) != 0 {
			t.Errorf("%q leaves %v", name, entries)
		}
	}
	if _, err := newDir(t).OpenLog(NewAsk(), 2); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("stream 2: %v", err)
	}
}

func TestDamagedDocumentsAreReportedByPath(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"nothing":                 "",
		"zeros":                   strings.Repeat("\x00", 300),
		"half a document":         `{"status":"completed","exitC`,
		"two documents":           `{"status":"completed"}{"status":"failed"}`,
		"null":                    "null",
		"a list":                  "[]",
		"a number for a text":     `{"status":1,"key":1,"boot":1}`,
		"a number that overflows": `{"status":"failed","started":99999999999999999999,"created":99999999999999999999}`,
		"too much":                `{"status":"failed"}` + strings.Repeat(" ", maxDocument),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDir(t)
			for _, file := range []string{askFile, processFile, statusFile} {
				if err := os.WriteFile(filepath.Join(d.Path(), file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, askErr := d.ReadAsk()
			_, processErr := d.ReadProcess()
			_, ok, statusErr := d.ReadStatus()
			for file, err := range map[string]error{askFile: askErr, processFile: processErr, statusFile: statusErr} {
				if !errors.Is(err, fault.Invariant) || !strings.Contains(err.Error(), filepath.Join(d.Path(), file)) {
					t.Errorf("%s: %v", file, err)
				}
			}
			if ok {
				t.Error("the status counts")
			}
		})
	}
}

func TestDocumentsOfNewerVersionsAreRead(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	content := `{"status":"paused","novelty":{"a":[1]},"stdout":{"bytes":5,"more":1}}`
	if err := os.WriteFile(filepath.Join(d.Path(), statusFile), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	status, ok, err := d.ReadStatus()
	if err != nil || !ok || status.Status != "paused" || status.Stdout.Bytes != 5 {
		t.Errorf("%+v, %v, %v", status, ok, err)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	_, askErr := d.ReadAsk()
	_, processErr := d.ReadProcess()
	_, logErr := d.OpenLog(NewAsk(), Stdout)
	_, dirErr := Open(filepath.Join(d.Path(), "none"))
	for what, err := range map[string]error{"ask": askErr, "process": processErr, "log": logErr, "directory": dirErr} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the %s: %v", what, err)
		}
	}
	if _, ok, err := d.ReadStatus(); ok || err != nil {
		t.Errorf("the status: %v, %v", ok, err)
	}
	if reason, ok := d.Stopping(); ok {
		t.Errorf("it is stopped: %q", reason)
	}
}

func TestLimitsNeverRoundToOff(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]Millis{0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, 3 * time.Second: 3000, -time.Second: -1000} {
		if got := MillisOf(d); got != want {
			t.Errorf("%v is %d, want %d", d, got, want)
		}
	}
	if d := Millis(1<<63 - 1).Duration(); d < 290*365*24*time.Hour {
		t.Errorf("the longest duration is %v", d)
	}
}

func FuzzDocuments(f *testing.F) {
	for _, name := range []string{askFile, processFile, statusFile} {
		seed, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		roundTrip(t, data, decode[Ask])
		roundTrip(t, data, decode[Process])
		roundTrip(t, data, decodeStatus)
	})
}

// roundTrip checks that what is read is written so that the same is read.
func roundTrip[T any](t *testing.T, data []byte, decode func(string, []byte) (*T, error)) {
	v, err := decode("x", data)
	if err != nil {
		if !errors.Is(err, fault.Invariant) {
			t.Errorf("%v has no code", err)
		}
		return
	}
	once, err := encode("x", v)
	if err != nil {
		return // a large one
	}
	again, err := decode("x", once)
	if err != nil {
		t.Fatalf("%q is not read again: %v", once, err)
	}
	if twice, err := encode("x", again); err != nil || string(once) != string(twice) {
		t.Errorf("%q becomes %q, %v", once, twice, err)
	}
}
