package shell_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hardshell/sandbox"
	"hardshell/shell"
)

var update = flag.Bool("update", false, "write the golden files anew")

// results are outcomes by the name of their golden file.
func results() map[string]*shell.Result {
	const timeout = 120 * time.Second
	quick := 12*time.Millisecond + 999*time.Microsecond
	return map[string]*shell.Result{
		"clean-exit": {
			ExitCode: ptr(0), Timeout: timeout, Duration: quick,
			Stdout: shell.CollectedOutput{Text: "hi\n", Bytes: 3},
		},
		"nonzero-exit": {
			ExitCode: ptr(3), Timeout: timeout, Duration: quick,
			Stderr: shell.CollectedOutput{Text: "oops\n", Bytes: 5},
		},
		"signal": {Signal: "SIGSEGV", Timeout: timeout, Duration: quick},
		"timed-out": {
			Signal: "SIGTERM", TimedOut: true, Timeout: 1500 * time.Microsecond, Duration: 2 * time.Millisecond,
		},
		"timed-out-and-exit": {ExitCode: ptr(0), TimedOut: true, Timeout: time.Second, Duration: time.Second},
		"aborted-with-survivors": {
			Signal: "SIGKILL", Aborted: true, Timeout: timeout, Duration: time.Hour, Survivors: []int{4711, 4712},
		},
		"without-timeout": {ExitCode: ptr(0), Timeout: shell.NoTimeout},
		"a-month":         {ExitCode: ptr(0), Timeout: 30 * 24 * time.Hour, Duration: 29 * 24 * time.Hour},
		"truncated": {
			ExitCode: ptr(0), Timeout: timeout,
			Stdout: shell.CollectedOutput{Text: "tail\n", Truncated: true, Bytes: 1 << 40, SpillPath: "/spill/out.log"},
			Stderr: shell.CollectedOutput{Text: "tail\n", Truncated: true, Bytes: 70 << 20},
		},
		"odd-text": {
			ExitCode: ptr(0), Timeout: timeout,
			Stdout: shell.CollectedOutput{Text: "a\x00\uFFFD\x1b[31m\u2028<&>\"\\\t€𝄞\n", Bytes: 99},
		},
		"confined": {
			ExitCode: ptr(1), Timeout: timeout,
			Sandbox: &sandbox.Info{Mode: sandbox.WorkspaceWrite, Denied: true, Enforcement: sandbox.Full},
		},
		"runner-failed": {
			ExitCode: ptr(125), Timeout: timeout,
			Sandbox: &sandbox.Info{Mode: sandbox.ReadOnly, Enforcement: sandbox.Partial, RunnerFailed: true},
		},
	}
}

func TestResultJSON(t *testing.T) {
	for name, result := range results() {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(result, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := filepath.Join("testdata", "result", name+".json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the wire form is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Scripts find every outcome without knowing which came about.
func TestResultJSONAlwaysHasTheOutcomes(t *testing.T) {
	for name, result := range results() {
		t.Run(name, func(t *testing.T) {
			wire, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(wire, &fields); err != nil {
				t.Fatal(err)
			}
			for _, field := range []string{"kind", "exitCode", "signal", "timedOut", "aborted", "timeoutMs", "durationMs", "stdout", "stderr"} {
				if _, ok := fields[field]; !ok {
					t.Errorf("there is no field %s", field)
				}
			}
			if string(fields["exitCode"]) != "null" && string(fields["signal"]) != "null" {
				t.Errorf("exitCode %s and signal %s exclude each other", fields["exitCode"], fields["signal"])
			}
			if _, ok := fields["survivors"]; ok != (result.Survivors != nil) {
				t.Errorf("survivors are there: %v", ok)
			}
			if _, ok := fields["sandbox"]; ok != (result.Sandbox != nil) {
				t.Errorf("sandbox facts are there: %v", ok)
			}
		})
	}
}

func TestResultJSONKeepsTheText(t *testing.T) {
	for name, result := range results() {
		t.Run(name, func(t *testing.T) {
			wire, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			var back struct {
				Stdout, Stderr shell.CollectedOutput
				Survivors      []int
				Sandbox        *sandbox.Info
			}
			if err := json.Unmarshal(wire, &back); err != nil {
				t.Fatal(err)
			}
			if back.Stdout != result.Stdout || back.Stderr != result.Stderr || !slices.Equal(back.Survivors, result.Survivors) {
				t.Errorf("it comes back as %+v", back)
			}
			if (back.Sandbox == nil) != (result.Sandbox == nil) || back.Sandbox != nil && *back.Sandbox != *result.Sandbox {
				t.Errorf("sandbox facts come back as %+v", back.Sandbox)
			}
		})
	}
}

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]float64{
		0: 0, time.Millisecond: 1, 1500 * time.Microsecond: 1.5, 1: 1e-6, 120 * time.Second: 120000, time.Hour: 3600000,
	} {
		if got := shell.Milliseconds(d); got != want {
			t.Errorf("%v is %v ms, want %v", d, got, want)
		}
	}
}
