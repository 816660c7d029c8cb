package shelltest

import (
	"fmt"
	"strings"
	"testing"

	"hardshell/shell"
)

// read checks the consuming read of a background process.
func (s suite) read(t *testing.T) {
	t.Run("before there is anything is empty", func(t *testing.T) {
		t.Parallel()
		p := s.rig(t, Options{}).bg(t, "sleep "+marker())
		if read := p.ReadOutput(); read != (shell.ProcessRead{}) {
			t.Errorf("read %+v", read)
		}
	})
	t.Run("delivers nothing twice", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		p := r.bg(t, "echo first; "+gate("go")+"; echo second")
		awaitDelta(t, p, "first\n")
		if read := p.ReadOutput(); read != (shell.ProcessRead{}) {
			t.Errorf("read %+v, want nothing", read)
		}
		touch(t, r.path("go"))
		settle(t, p)
		if read := p.ReadOutput(); read != (shell.ProcessRead{Delta: "second\n"}) {
			t.Errorf("read %+v, want the second line", read)
		}
		for range 2 {
			if read := p.ReadOutput(); read != (shell.ProcessRead{}) {
				t.Errorf("read %+v, want nothing", read)
			}
		}
	})
	t.Run("puts standard error under a header", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		for script, want := range map[string]string{
			"echo out":                            "out\n",
			"printf out":                          "out",
			"printf out; echo err >&2":            "out\n[stderr]\nerr\n",
			"echo out; echo err >&2":              "out\n[stderr]\nerr\n",
			"printf 'out\\n\\n'; printf err >&2":  "out\n\n[stderr]\nerr",
			"echo err >&2":                        "[stderr]\nerr\n",
			"echo '[stderr]'; echo '[stderr]'>&2": "[stderr]\n[stderr]\n[stderr]\n",
			"true":                                "",
		} {
			p := r.bg(t, script)
			settle(t, p)
			if read := p.ReadOutput(); read != (shell.ProcessRead{Delta: want}) {
				t.Errorf("the output of %q is %+v, want %q", script, read, want)
			}
		}
	})
	t.Run("repeats the header for each part of standard error", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		p := r.bg(t, "echo one >&2; "+gate("1")+"; echo two >&2; "+gate("2")+"; echo three")
		awaitDelta(t, p, "[stderr]\none\n")
		touch(t, r.path("1"))
		awaitDelta(t, p, "[stderr]\ntwo\n")
		touch(t, r.path("2"))
		awaitDelta(t, p, "three\n")
		settle(t, p)
	})
	t.Run("that comes too late is lossy and has the tail", s.lateRead)
	t.Run("that keeps up is never lossy", s.timelyReads)
	t.Run("never splits a character", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		p := r.bg(t, `printf 'a\xe2'; printf 'b\xf0\x9d' >&2; `+gate("1")+
			`; printf '\x82'; printf '\x84' >&2; `+gate("2")+`; printf '\xacz'; printf '\x9e' >&2`)
		awaitParts(t, p, "a", "b")
		touch(t, r.path("1"))
		r.sh(t, "true") // time for the second parts to be read
		if read := p.ReadOutput(); read.Delta != "" {
			t.Errorf("read %q, want nothing before the characters are complete", read.Delta)
		}
		touch(t, r.path("2"))
		settle(t, p)
		if read := p.ReadOutput(); read.Delta != "€z\n[stderr]\n𝄞" {
			t.Errorf("read %q", read.Delta)
		}
	})
	t.Run("has what is left of a character at the end", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		p := r.bg(t, `printf 'a\xe2\x82'; `+gate("go"))
		awaitDelta(t, p, "a")
		touch(t, r.path("go"))
		settle(t, p)
		if read := p.ReadOutput(); read.Delta != "\uFFFD" || read.Lossy {
			t.Errorf("read %+v, want one replacement", read)
		}
	})
	t.Run("has invalid bytes as text", func(t *testing.T) {
		t.Parallel()
		p := s.rig(t, Options{}).bg(t, `printf 'a\0\xff\xfeb\n'`)
		settle(t, p)
		if read := p.ReadOutput(); read.Delta != "a\x00\uFFFD\uFFFDb\n" {
			t.Errorf("read %q", read.Delta)
		}
	})
	t.Run("is possible after the runtime was closed", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 10})
		p := r.bg(t, "seq 1 100")
		settle(t, p)
		if err := r.runtime.Close(guard(t)); err != nil {
			t.Fatal(err)
		}
		read := p.ReadOutput()
		if read.Delta != "98\n99\n100\n" || !read.Lossy {
			t.Errorf("read %+v", read)
		}
		wantFile(t, read.StdoutSpillPath, numbers(100))
	})
}

func (s suite) lateRead(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{MaxOutputBytes: 100, MaxSpillBytes: 2000})
	p := r.bg(t, "printf '%01000d' 7; printf '%050d' 8 >&2")
	settle(t, p)
	read := p.ReadOutput()
	want := strings.Repeat("0", 99) + "7\n[stderr]\n" + strings.Repeat("0", 49) + "8"
	if read.Delta != want || !read.Lossy || read.StderrSpillPath != "" {
		t.Errorf("read %+v, want %q", read, want)
	}
	wantFile(t, read.StdoutSpillPath, strings.Repeat("0", 999)+"7")
	if again := p.ReadOutput(); again.Delta != "" || again.Lossy {
		t.Errorf("the next read is %+v", again)
	}

	p = r.bg(t, "printf '%050d' 8; printf '%01000d' 7 >&2")
	settle(t, p)
	read = p.ReadOutput()
	want = strings.Repeat("0", 49) + "8\n[stderr]\n" + strings.Repeat("0", 99) + "7"
	if read.Delta != want || !read.Lossy || read.StdoutSpillPath != "" {
		t.Errorf("read %+v, want %q", read, want)
	}
	wantFile(t, read.StderrSpillPath, strings.Repeat("0", 999)+"7")

	p = r.bg(t, "printf '%02001d' 7")
	settle(t, p)
	read = p.ReadOutput()
	if len(read.Delta) != 100 || !read.Lossy || read.StdoutSpillPath != "" {
		t.Errorf("read %+v, want the tail of a stream that has no file", read)
	}
}

// timelyReads writes ten windows in parts, each after the one before was read.
func (s suite) timelyReads(t *testing.T) {
	t.Parallel()
	const parts, size = 20, 50
	r := s.rig(t, Options{MaxOutputBytes: 100})
	p := r.bg(t, fmt.Sprintf(`for i in $(seq 1 %d); do printf '%%0%dd' $i; until [ -e read-$i ]; do sleep 0.005; done; done`, parts, size))
	var all strings.Builder
	for i := range parts {
		part := fmt.Sprintf("%0*d", size, i+1)
		all.WriteString(part)
		var got strings.Builder
		await(t, "a part of the output", func() bool {
			read := p.ReadOutput()
			if read.Lossy {
				t.Errorf("the read of part %d is lossy", i+1)
			}
			if all.Len() > 3*size && got.Len() == 0 && read.Delta != "" && read.StdoutSpillPath == "" {
				t.Errorf("the read of part %d does not name the file", i+1)
			}
			got.WriteString(read.Delta)
			return got.Len() >= size
		})
		if got.String() != part {
			t.Fatalf("part %d is %q, want %q", i+1, got.String(), part)
		}
		touch(t, r.path(fmt.Sprintf("read-%d", i+1)))
	}
	wantState(t, settle(t, p), shell.Completed, 0, "")
	read := p.ReadOutput()
	if read.Delta != "" || read.Lossy {
		t.Errorf("the last read is %+v", read)
	}
	wantFile(t, read.StdoutSpillPath, all.String())
}

// awaitParts reads until both streams have produced exactly these texts.
func awaitParts(t *testing.T, p shell.Process, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	await(t, "both streams", func() bool {
		before, after, both := strings.Cut(p.ReadOutput().Delta, "[stderr]\n")
		if both {
			before = strings.TrimSuffix(before, "\n")
		}
		out.WriteString(before)
		err.WriteString(after)
		return out.Len() >= len(stdout) && err.Len() >= len(stderr)
	})
	if out.String() != stdout || err.String() != stderr {
		t.Fatalf("read %q and %q, want %q and %q", out.String(), err.String(), stdout, stderr)
	}
}
