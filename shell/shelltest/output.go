package shelltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hardshell/shell"
)

// output checks what is kept of a stream, and as which text.
func (s suite) output(t *testing.T) {
	t.Run("the window", s.window)
	t.Run("text", s.text)
	t.Run("a character at the cut", s.cutCharacter)
	t.Run("standard output has a budget of its own", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 100})
		res := r.run(t, shell.Request{Command: "printf '%0500d' 0; printf '%0500d' 1 >&2", StdoutMaxBytes: 500})
		wantStdout(t, res, strings.Repeat("0", 500))
		if !res.Stderr.Truncated || res.Stderr.Text != strings.Repeat("0", 99)+"1" || res.Stderr.Bytes != 500 {
			t.Errorf("stderr is %+v, want the last 100 bytes of 500", res.Stderr)
		}
		res = r.run(t, shell.Request{Command: "printf '%0500d' 0; printf '%050d' 1 >&2", StdoutMaxBytes: 10})
		if !res.Stdout.Truncated || len(res.Stdout.Text) != 10 {
			t.Errorf("stdout is %+v, want 10 bytes", res.Stdout)
		}
		wantStderr(t, res, strings.Repeat("0", 49)+"1")
	})
	t.Run("what comes within the drain is included", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Grace: time.Second})
		until(t, func() bool {
			start := time.Now()
			res := r.sh(t, "(sleep 0.1; echo late)& echo hi")
			// The drain ends with the stream, before its window of 500 ms does.
			if elapsed := time.Since(start); elapsed > 400*ms {
				t.Logf("took %v", elapsed)
				return false
			}
			wantExit(t, res, 0)
			wantStdout(t, res, "hi\nlate\n")
			return true
		})
	})
	t.Run("what an aborted command wrote last is included", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Grace: 5 * time.Second})
		const last = 60000
		for range 5 {
			res := r.runAborted(t, shell.Request{
				Command: fmt.Sprintf(`trap 'printf %%0%dd 7; exit 0' TERM; echo armed; while :; do sleep 0.01; done`, last),
			})
			wantExit(t, res, 0)
			wantStdout(t, res, "armed\n"+strings.Repeat("0", last-1)+"7")
		}
	})
	t.Run("an early part of the text is never lost", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 1 << 20})
		for range 20 {
			res := r.sh(t, "seq 1 3000; seq 1 3000 >&2")
			wantStdout(t, res, numbers(3000))
			wantStderr(t, res, numbers(3000))
		}
	})
}

func (s suite) window(t *testing.T) {
	t.Parallel()
	const size = 500
	r := s.rig(t, Options{MaxOutputBytes: size})
	whole := strings.TrimSuffix(numbers(5000), "\n")
	for _, bytes := range []int{0, 1, size - 1, size, size + 1, 2 * size, 2*size + 1, len(whole)} {
		for _, way := range []struct{ name, script string }{
			{"at once", "cat"},
			{"in small pieces", "dd bs=7 status=none"},
		} {
			t.Run(fmt.Sprintf("of %d bytes %s", bytes, way.name), func(t *testing.T) {
				text := whole[:bytes]
				res := r.run(t, shell.Request{Command: way.script, Stdin: strings.NewReader(text)})
				wantExit(t, res, 0)
				if want := text[max(0, bytes-size):]; res.Stdout.Text != want {
					t.Errorf("the text is %q, want %q", clip(res.Stdout.Text), clip(want))
				}
				if res.Stdout.Truncated != (bytes > size) || res.Stdout.Bytes != int64(bytes) {
					t.Errorf("truncated %v, bytes %d", res.Stdout.Truncated, res.Stdout.Bytes)
				}
				if bytes > size {
					wantFile(t, res.Stdout.SpillPath, text)
				} else if res.Stdout.SpillPath != "" {
					t.Errorf("there is a spill file %q", res.Stdout.SpillPath)
				}
			})
		}
	}
}

// text checks the decoding: one U+FFFD for each maximal invalid part, as the
// WHATWG encoding standard has it, and every other byte as it is.
func (s suite) text(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	for _, c := range []struct{ name, raw, want string }{
		{"plain", "plain\n", "plain\n"},
		{"several bytes", "é€𝄞", "é€𝄞"},
		{"bytes that begin nothing", "\xff\xfeabc\n", "\uFFFD\uFFFDabc\n"},
		{"a character that breaks off", "\xe2\x82a", "\uFFFDa"},
		{"a character that breaks off at the end", "a\xe2\x82", "a\uFFFD"},
		{"a long character that breaks off", "\xf0\x9d\x84|", "\uFFFD|"},
		{"continuations without a start", "\x80\x80", "\uFFFD\uFFFD"},
		{"an overlong form", "\xc0\xaf", "\uFFFD\uFFFD"},
		{"a surrogate", "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
		{"beyond Unicode", "\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"the replacement itself", "\uFFFD", "\uFFFD"},
		{"a byte order mark", "\uFEFFx", "\uFEFFx"},
		{"NUL and controls", "a\x00b\x01\x1b[31m\x7f\r\n\t\b", "a\x00b\x01\x1b[31m\x7f\r\n\t\b"},
		{"NUL beside invalid bytes", "a\x00\xff\xfeb\n", "a\x00\uFFFD\uFFFDb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for stream, script := range map[string]string{"stdout": "cat", "stderr": "cat >&2"} {
				res := r.run(t, shell.Request{Command: script, Stdin: strings.NewReader(c.raw)})
				out := res.Stdout
				if stream == "stderr" {
					out = res.Stderr
				}
				wantWhole(t, stream, out, c.want)
				if out.Bytes != int64(len(c.raw)) {
					t.Errorf("%s has %d bytes, want %d", stream, out.Bytes, len(c.raw))
				}
				wantSameInJSON(t, res)
			}
		})
	}
}

// wantSameInJSON checks that a result's text survives its wire form.
func wantSameInJSON(t *testing.T, res *shell.Result) {
	t.Helper()
	wire, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var back struct{ Stdout, Stderr shell.CollectedOutput }
	if err := json.Unmarshal(wire, &back); err != nil {
		t.Fatal(err)
	}
	if back.Stdout != res.Stdout || back.Stderr != res.Stderr {
		t.Errorf("the streams come back from JSON as %+v, %+v", back.Stdout, back.Stderr)
	}
}

// cutCharacter checks that a window which begins within a character begins with
// the next one, and that the file has every byte.
func (s suite) cutCharacter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw  string
		size int64
		want string
	}{
		{"€€", 1, ""},
		{"€€", 2, ""},
		{"€€", 3, "€"},
		{"€€", 4, "€"},
		{"€€", 5, "€"},
		{"€€", 6, "€€"},
		{"𝄞𝄞", 7, "𝄞"},
		{"éa", 2, "a"},
		{"é", 1, ""},
	} {
		t.Run(fmt.Sprintf("%s in %d", c.raw, c.size), func(t *testing.T) {
			r := s.rig(t, Options{MaxOutputBytes: c.size})
			res := r.run(t, shell.Request{Command: "cat", Stdin: strings.NewReader(c.raw)})
			if res.Stdout.Text != c.want || !utf8.ValidString(res.Stdout.Text) {
				t.Errorf("the text is %q, want %q", res.Stdout.Text, c.want)
			}
			cut := int64(len(c.raw)) > c.size
			if res.Stdout.Truncated != cut || res.Stdout.Bytes != int64(len(c.raw)) {
				t.Errorf("truncated %v, bytes %d", res.Stdout.Truncated, res.Stdout.Bytes)
			}
			if cut {
				wantFile(t, res.Stdout.SpillPath, c.raw)
			}
		})
	}
	t.Run("invalid bytes in a cut window", func(t *testing.T) {
		r := s.rig(t, Options{MaxOutputBytes: 2})
		res := r.sh(t, `printf 'a\0\xff\xfeb\n'`)
		if res.Stdout.Text != "b\n" || !res.Stdout.Truncated {
			t.Errorf("stdout is %+v", res.Stdout)
		}
		wantFile(t, res.Stdout.SpillPath, "a\x00\xff\xfeb\n")
	})
}
