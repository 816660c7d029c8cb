package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"hardshell/internal/fault"
)

type record struct {
	Writer string `json:"writer"`
	Index  int    `json:"index"`
	Text   string `json:"text"`
}

// longText makes lines of very different lengths, many of them longer than a
// page.
func longText(i int) string { return strings.Repeat("é<", i%7*1500) }

func TestAppendLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	for _, v := range []any{
		map[string]any{"a": "x\ny", "b": "<&>"},
		json.RawMessage("{\n \"c\" : 1\n}"),
		struct{}{},
	} {
		if err := appendLocked(path, v, Synced); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := read(t, path), "{\"a\":\"x\\ny\",\"b\":\"<&>\"}\n{\"c\":1}\n{}\n"; got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
	wantMode(t, path, 0o600)
	if got := names(t, filepath.Dir(path)); len(got) != 1 && runtime.GOOS != "windows" {
		t.Errorf("the directory holds %v", got)
	}
}

func TestAppendLineIsolatesWhatACrashLeft(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ before, after string }{
		"nothing":                     {"", "{}\n"},
		"whole lines":                 {"{\"a\":1}\n", "{\"a\":1}\n{}\n"},
		"a torn line":                 {"{\"a\":1}\n{\"b", "{\"a\":1}\n{\"b\n{}\n"},
		"a line without its newline":  {"{\"a\":1}", "{\"a\":1}\n{}\n"},
		"zeros, as after a power cut": {"\x00\x00", "\x00\x00\n{}\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			write(t, path, tt.before)
			if err := appendLocked(path, struct{}{}, Written); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != tt.after {
				t.Errorf("the log is %q, want %q", got, tt.after)
			}
		})
	}
}

func TestAppendLineRefusesWhatIsNoRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	for name, v := range map[string]any{
		"a number":                   12,
		"an array":                   []int{1},
		"a string":                   "{}",
		"nothing":                    nil,
		"what JSON cannot hold":      math.NaN(),
		"invalid JSON":               json.RawMessage("{\n"),
		"more than the longest line": map[string]string{"a": strings.Repeat("x", maxLine)},
	} {
		if err := appendLocked(path, v, Written); !errors.Is(err, fault.Invariant) {
			t.Errorf("%s: got %v, want %s", name, err, fault.Invariant)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused record created the log")
	}
	if err := checkLine([]byte("{\n}\n")); err == nil {
		t.Error("a newline inside a line was accepted")
	}
}

func TestAppendLineWithoutItsDirectory(t *testing.T) {
	t.Parallel()
	err := appendLocked(filepath.Join(t.TempDir(), "none", "log"), struct{}{}, Written)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestAppendsOfGoroutinesDoNotMix(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 25 {
				if err := appendLocked(path, record{fmt.Sprint(w), i, longText(i)}, Written); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantRecords(t, path, 4, 25)
}

func TestAppendsOfProcessesDoNotMix(t *testing.T) {
	t.Parallel()
	const writers, count = 4, 50
	path := filepath.Join(t.TempDir(), "log")
	var started []*exec.Cmd
	for w := range writers {
		cmd := process(t, "append", path, fmt.Sprint(w), fmt.Sprint(count))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, cmd)
	}
	for _, cmd := range started {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	wantRecords(t, path, writers, count)
}

// wantRecords checks that a log holds each writer's records, whole and in
// their order, and nothing else.
func wantRecords(t *testing.T, path string, writers, count int) {
	t.Helper()
	next := map[string]int{}
	for line, err := range ReadLines(path) {
		if err != nil || line.Broken != "" {
			t.Fatalf("line %d: %q, %v", line.Number, line.Broken, err)
		}
		var r record
		if err := json.Unmarshal(line.JSON, &r); err != nil {
			t.Fatal(err)
		}
		if r.Index != next[r.Writer] || r.Text != longText(r.Index) {
			t.Fatalf("line %d is record %d of writer %s, which is at %d", line.Number, r.Index, r.Writer, next[r.Writer])
		}
		next[r.Writer]++
	}
	if len(next) != writers {
		t.Errorf("%d writers left records, want %d", len(next), writers)
	}
	for w, n := range next {
		if n != count {
			t.Errorf("writer %s left %d records, want %d", w, n, count)
		}
	}
}

// collect reads a log as strings: the JSON of a good line, <offset breakage>
// of a broken one, !error.
func collect(path string) []string {
	var got []string
	for line, err := range ReadLines(path) {
		switch {
		case err != nil:
			got = append(got, "!"+err.Error())
		case line.Broken != "":
			got = append(got, fmt.Sprintf("<%d %s>", line.Offset, line.Broken))
		default:
			got = append(got, string(line.JSON))
		}
	}
	return got
}

func TestReadLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(" ", maxLine)
	exact := `{"a":"` + strings.Repeat("x", maxLine-8) + `"}`
	tests := map[string]struct {
		log  string
		want []string
	}{
		"an empty log has no lines":                        {"", nil},
		"whole lines are yielded":                          {"{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		"a torn last line is reported":                     {"{}\n{\"b\":", []string{"{}", "<3 torn>"}},
		"an isolated torn line is reported, the next read": {"{}\n{\"b\":\n{\"c\":3}\n", []string{"{}", "<3 corrupt>", `{"c":3}`}},
		"a last line that only lacks its newline is whole": {"{}\n{\"b\":2}", []string{"{}", `{"b":2}`}},
		"a document that is no object is corrupt":          {"12\n[]\n{}\n", []string{"<0 corrupt>", "<3 corrupt>", "{}"}},
		"a torn number is torn":                            {"12", []string{"<0 torn>"}},
		"zeros are corrupt":                                {"{}\n\x00\x00\n{}\n", []string{"{}", "<3 corrupt>", "{}"}},
		"two objects on a line are corrupt":                {"{}{}\n", []string{"<0 corrupt>"}},
		"empty lines are skipped":                          {"\n\n{}\n\n", []string{"{}"}},
		"a line that is too long is reported and skipped":  {"{" + long + "}\n{}\n", []string{"<0 too long>", "{}"}},
		"a torn line may be too long":                      {"{}\n{" + long + "}", []string{"{}", "<3 too long>"}},
		"the longest line is whole":                        {exact + "\n{}\n", []string{exact, "{}"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			write(t, path, tt.log)
			if got := collect(path); !slices.Equal(got, tt.want) {
				t.Errorf("got %.300q, want %.300q", got, tt.want)
			}
		})
	}
}

func TestReadLinesNumbersAndOwnership(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "{\"a\":1}\n\nx\n{\"b\":2}\n")
	var lines []Line
	for line, err := range ReadLines(path) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	got := fmt.Sprintf("%d@%d %s, %d@%d %s%s, %d@%d %s",
		lines[0].Number, lines[0].Offset, lines[0].JSON,
		lines[1].Number, lines[1].Offset, lines[1].JSON, lines[1].Broken,
		lines[2].Number, lines[2].Offset, lines[2].JSON)
	if want := `1@0 {"a":1}, 3@9 corrupt, 4@11 {"b":2}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReadLinesStopsWhenToldTo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "{}\n{}\n")
	n := 0
	for range ReadLines(path) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d lines", n)
	}
}

func TestReadLinesYieldsAFailureOnce(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if got := collect(path); len(got) != 1 || got[0][0] != '!' {
			t.Errorf("%s: got %q", path, got)
		}
	}
}

func FuzzReadLines(f *testing.F) {
	for _, s := range []string{"", "{}\n", "{\"a\":\"\\n\"}\n{", "\x00\n\n12\n{}{}\n{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		path := filepath.Join(t.TempDir(), "log")
		write(t, path, string(log))
		before := collect(path)
		for line, err := range ReadLines(path) {
			if err != nil {
				t.Fatal(err)
			}
			if (line.Broken == "") != (line.JSON != nil) || line.JSON != nil && !json.Valid(line.JSON) {
				t.Fatalf("line %d is %q and %q", line.Number, line.JSON, line.Broken)
			}
			if line.JSON != nil && !strings.HasPrefix(string(log[line.Offset:]), string(line.JSON)) {
				t.Fatalf("line %d is not at its offset %d", line.Number, line.Offset)
			}
		}
		// A further record is read whole, and changes nothing before it.
		if err := appendLocked(path, struct{}{}, Written); err != nil {
			t.Fatal(err)
		}
		after := collect(path)
		if n := len(before); n > 0 && strings.HasSuffix(before[n-1], " torn>") {
			before[n-1] = strings.Replace(before[n-1], "torn", "corrupt", 1)
		}
		if !slices.Equal(after, append(before, "{}")) {
			t.Fatalf("the log read %q, after an append %q", before, after)
		}
	})
}

func BenchmarkAppendLine(b *testing.B) {
	for name, d := range map[string]Durability{"written": Written, "synced": Synced} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "log")
			for b.Loop() {
				if err := appendLocked(path, record{Text: "some event"}, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
