package shell_test

import (
	"strings"
	"testing"

	"hardshell/shell"
)

func TestExitMarker(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   *int
		signal string
		want   string
	}{
		{"a clean exit has none", ptr(0), "", ""},
		{"an exit status is named", ptr(3), "", "[exit code: 3]"},
		{"the largest too", ptr(255), "", "[exit code: 255]"},
		{"a signal is named", nil, "SIGTERM", "[killed by signal: SIGTERM]"},
		{"a real-time signal is named", nil, "SIGRTMIN+6", "[killed by signal: SIGRTMIN+6]"},
		{"a signal goes before a status", ptr(1), "SIGKILL", "[killed by signal: SIGKILL]"},
		{"when neither is known there is none", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shell.ExitMarker(c.code, c.signal); got != c.want {
				t.Errorf("the marker is %q, want %q", got, c.want)
			}
		})
	}
}

func TestParseExitStatus(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       shell.ParsedExitStatus
	}{
		{"nothing", "", shell.ParsedExitStatus{}},
		{"no marker", "hi\n\n", shell.ParsedExitStatus{Body: "hi\n\n"}},
		{"a status", "oops\n[exit code: 3]", shell.ParsedExitStatus{Body: "oops", ExitCode: 3}},
		{"a status after an empty line", "oops\n\n[exit code: 3]", shell.ParsedExitStatus{Body: "oops\n", ExitCode: 3}},
		{"a status after nothing but a newline", "\n[exit code: 3]", shell.ParsedExitStatus{ExitCode: 3}},
		{"a signal", "oops\n[killed by signal: SIGTERM]", shell.ParsedExitStatus{Body: "oops", Signal: "SIGTERM"}},
		{"any word as a signal", "\n[killed by signal: x y[z]", shell.ParsedExitStatus{Signal: "x y[z"}},
		{"a marker needs its newline", "[exit code: 5]", shell.ParsedExitStatus{Body: "[exit code: 5]"}},
		{"a signal needs its newline", "[killed by signal: SIGTERM]", shell.ParsedExitStatus{Body: "[killed by signal: SIGTERM]"}},
		{"a marker ends the text", "a\n[exit code: 5]\n", shell.ParsedExitStatus{Body: "a\n[exit code: 5]\n"}},
		{"a signal ends the text", "a\n[killed by signal: SIGTERM]\n", shell.ParsedExitStatus{Body: "a\n[killed by signal: SIGTERM]\n"}},
		{"other markers stay", "slow\n[timed out after 100ms]\n[exit code: 143]", shell.ParsedExitStatus{Body: "slow\n[timed out after 100ms]", ExitCode: 143}},
		{"a marker of another kind is none", "slow\n[timed out after 100ms]", shell.ParsedExitStatus{Body: "slow\n[timed out after 100ms]"}},
		{"only the last counts", "a\n[exit code: 1]\n[exit code: 2]", shell.ParsedExitStatus{Body: "a\n[exit code: 1]", ExitCode: 2}},
		{"a status after a signal", "a\n[killed by signal: SIGTERM]\n[exit code: 2]", shell.ParsedExitStatus{Body: "a\n[killed by signal: SIGTERM]", ExitCode: 2}},
		{"a signal after a status", "a\n[exit code: 2]\n[killed by signal: SIGTERM]", shell.ParsedExitStatus{Body: "a\n[exit code: 2]", Signal: "SIGTERM"}},
		{"a status of zero", "a\n[exit code: 0]", shell.ParsedExitStatus{Body: "a"}},
		{"a negative status is none", "a\n[exit code: -1]", shell.ParsedExitStatus{Body: "a\n[exit code: -1]"}},
		{"a status with a sign is none", "a\n[exit code: +1]", shell.ParsedExitStatus{Body: "a\n[exit code: +1]"}},
		{"an empty status is none", "a\n[exit code: ]", shell.ParsedExitStatus{Body: "a\n[exit code: ]"}},
		{"a status in words is none", "a\n[exit code: null]", shell.ParsedExitStatus{Body: "a\n[exit code: null]"}},
		{"an empty signal is none", "a\n[killed by signal: ]", shell.ParsedExitStatus{Body: "a\n[killed by signal: ]"}},
		{"a signal holds no bracket", "a\n[killed by signal: X]]", shell.ParsedExitStatus{Body: "a\n[killed by signal: X]]"}},
		{"a signal holds no newline", "a\n[killed by signal: X\nY]", shell.ParsedExitStatus{Body: "a\n[killed by signal: X\nY]"}},
		{"digits of another script are none", "a\n[exit code: ٣]", shell.ParsedExitStatus{Body: "a\n[exit code: ٣]"}},
		{"a carriage return belongs to the body", "b\r\n[exit code: 3]", shell.ParsedExitStatus{Body: "b\r", ExitCode: 3}},
		{"output that looks like a marker is taken for one", "a\n[exit code: 5]", shell.ParsedExitStatus{Body: "a", ExitCode: 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shell.ParseExitStatus(c.text); got != c.want {
				t.Errorf("%q is %+v, want %+v", c.text, got, c.want)
			}
		})
	}
}

func TestExitStatusRoundTrip(t *testing.T) {
	for _, body := range []string{"", "out", "out\n", "out\n[timed out after 100ms]", "\n", "a\n[exit code: 1]x"} {
		for _, c := range []struct {
			code   *int
			signal string
		}{{ptr(0), ""}, {ptr(7), ""}, {ptr(255), ""}, {nil, "SIGTERM"}, {nil, "SIGRTMIN+30"}} {
			got := shell.ParseExitStatus(rendered(body, shell.ExitMarker(c.code, c.signal)))
			want := shell.ParsedExitStatus{Body: body, Signal: c.signal}
			if c.code != nil {
				want.ExitCode = *c.code
			}
			if want.ExitCode != 0 || want.Signal != "" {
				// A marker takes the newline before it along.
				want.Body = strings.TrimSuffix(body, "\n")
			}
			if got != want {
				t.Errorf("%q with status %v, signal %q comes back as %+v", body, want.ExitCode, c.signal, got)
			}
		}
	}
}

// rendered puts a marker on a line of its own behind a body, as a shell tool
// does.
func rendered(body, marker string) string {
	if marker == "" {
		return body
	}
	return strings.TrimSuffix(body, "\n") + "\n" + marker
}

func FuzzParseExitStatus(f *testing.F) {
	for _, seed := range []string{
		"", "hi\n", "oops\n[exit code: 3]", "[exit code: 5]", "\n[exit code: 007]", "\n[exit code: 99999999999999999999]",
		"a\n[killed by signal: SIGTERM]", "a\n[killed by signal: ]", "a\n[exit code: 1]\n", "\xff\n[exit code: 2]",
		"a\n[exit code: 1]\n[killed by signal: X]",
	} {
		f.Add(seed, 3, "SIGTERM")
	}
	f.Fuzz(func(t *testing.T, text string, code int, signal string) {
		parsed := shell.ParseExitStatus(text)
		marker, found := strings.CutPrefix(text, parsed.Body)
		switch {
		case !found:
			t.Fatalf("the body %q does not begin %q", parsed.Body, text)
		case marker == "" && (parsed.ExitCode != 0 || parsed.Signal != ""):
			t.Fatalf("%q has no marker, and is %+v", text, parsed)
		case parsed.Signal != "" && marker != "\n"+shell.ExitMarker(nil, parsed.Signal):
			t.Fatalf("the marker %q is read as the signal %q", marker, parsed.Signal)
		case marker != "" && parsed.Signal == "":
			digits := strings.TrimSuffix(strings.TrimPrefix(marker, "\n[exit code: "), "]")
			if want := "\n" + shell.ExitMarker(&parsed.ExitCode, ""); strings.Trim(digits, "0") != "" &&
				"\n[exit code: "+strings.TrimLeft(digits, "0")+"]" != want {
				t.Fatalf("the marker %q is read as the status %d", marker, parsed.ExitCode)
			}
		}
		if parsed.ExitCode < 0 || parsed.ExitCode != 0 && parsed.Signal != "" {
			t.Fatalf("%q is %+v", text, parsed)
		}

		// What is rendered is found again, whatever the body is.
		if code > 0 {
			if got := shell.ParseExitStatus(text + "\n" + shell.ExitMarker(&code, "")); got != (shell.ParsedExitStatus{Body: text, ExitCode: code}) {
				t.Fatalf("status %d behind %q is %+v", code, text, got)
			}
		}
		if signal != "" && !strings.ContainsAny(signal, "]\n") {
			if got := shell.ParseExitStatus(text + "\n" + shell.ExitMarker(nil, signal)); got != (shell.ParsedExitStatus{Body: text, Signal: signal}) {
				t.Fatalf("signal %q behind %q is %+v", signal, text, got)
			}
		}
	})
}

func ptr(n int) *int { return &n }
