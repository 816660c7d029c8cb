package shelltest

import (
	"fmt"
	"strings"
	"testing"

	"hardshell/shell"
)

// maxArgBytes is the kernel's MAX_ARG_STRLEN: the longest argument of execve,
// its final NUL included (execve(2), "Limits on size of arguments").
const maxArgBytes = 128 << 10

// long checks commands that are longer than one argument may be: they run all
// the same, and nothing in them tells the difference.
func (s suite) long(t *testing.T) {
	t.Run("runs as a short command does", s.longAsShort)
	t.Run("bash is $0 and there are no arguments", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		for _, size := range []int{maxArgBytes - 1, maxArgBytes, 1 << 20} {
			res := r.sh(t, padded(`echo "$0 $#"; exit 3`, size))
			wantExit(t, res, 3)
			wantStdout(t, res, "bash 0\n")
			wantStderr(t, res, "")
		}
	})
	t.Run("every byte of it counts", func(t *testing.T) {
		t.Parallel()
		const lines = 20000
		var script, want strings.Builder
		for i := range lines {
			fmt.Fprintf(&script, "echo line-%05d\n", i)
			fmt.Fprintf(&want, "line-%05d\n", i)
		}
		r := s.rig(t, Options{MaxOutputBytes: 1 << 20})
		wantStdout(t, r.sh(t, script.String()), want.String())

		// One argument of the script may be as long.
		word := strings.Repeat("é", 1<<18)
		wantStdout(t, r.sh(t, "printf %s '"+word+"'"), word)
	})
	t.Run("a big standard input goes beside it", func(t *testing.T) {
		t.Parallel()
		input := strings.Repeat("0123456789abcde\n", 1<<16)
		res := s.rig(t, Options{}).run(t, shell.Request{Command: padded("wc -c | tr -d ' '", maxArgBytes), Stdin: strings.NewReader(input)})
		wantStdout(t, res, "1048576\n")
	})
	t.Run("it times out like any other", func(t *testing.T) {
		t.Parallel()
		id := marker()
		res := s.rig(t, Options{}).run(t, shell.Request{Command: padded("sleep "+id+" & sleep "+id+"; echo after", 1<<20), Timeout: 200 * ms})
		wantSignal(t, res, "SIGTERM")
		wantCut(t, res, timedOut)
		noneLeft(t, id)
	})
	t.Run("it runs in the background", func(t *testing.T) {
		t.Parallel()
		p := s.rig(t, Options{}).bg(t, padded("cat; echo out; echo err >&2; exit 5", maxArgBytes))
		wantState(t, settle(t, p), shell.Completed, 5, "")
		if read := p.ReadOutput(); read.Delta != "out\n[stderr]\nerr\n" {
			t.Errorf("read %q", read.Delta)
		}
	})
	t.Run("many at the same time do not mix", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		var results []func() *shell.Result
		for i := range 8 {
			results = append(results, r.background(t, guard(t), shell.Request{Command: padded(fmt.Sprintf("exit %d", i), maxArgBytes+i)}))
		}
		for i, result := range results {
			wantExit(t, result(), i)
		}
	})
}

// longAsShort compares what a script does when it fits into an argument and
// when it is one byte longer.
func (s suite) longAsShort(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	for _, c := range []struct{ name, script, stdin string }{
		{"standard input is a device when there is none", "test -c /dev/stdin && echo device; cat", ""},
		{"standard input is a pipe when there is some", "test -p /dev/stdin && echo pipe; read -r x; echo \"[$x]\"; cat", "one\ntwo\n"},
		{"a here document", "cat <<'EOF'\nalpha $HOME\n  beta\nEOF\ncat <<-END\n\tgamma\n\tEND\necho done\n", ""},
		{"a here document that never ends", "cat <<'EOF'\nalpha", ""},
		{"a syntax error", "if", ""},
		{"a syntax error after commands", "echo before\nif then\necho after\n", ""},
		{"an unclosed quote", "echo before\necho 'x", ""},
		{"an unclosed brace", "echo before\n{ echo x\n", ""},
		{"an unknown program", "nosuch-program-of-this-suite", ""},
		{"a leading dash", "-x", ""},
		{"no descriptors for its children", "ls /proc/self/fd | tr '\\n' ' '", ""},
		{"no descriptors for itself", "for i in 3 4 5 6 7 8 9 10 63 255; do { : >&$i; } 2>/dev/null && echo open $i; done", ""},
		{"descriptors of its own", "exec 3>&1; echo three >&3; exec 3>&-; echo four >&3", ""},
		{"the environment", "env | grep -v '^_=' | sort", ""},
		{"no argument", "echo \"$# $* $@\"; shift; echo $?", ""},
		{"option flags", "echo $-; set -o; shopt", ""},
		{"functions", "declare -F; f() { echo ${FUNCNAME[*]}; return 5; }; f; echo $?", ""},
		{"no source file", "echo \"[${BASH_SOURCE[*]}] ${#BASH_SOURCE[@]} ${#FUNCNAME[@]}\"", ""},
		{"return outside of a function", "return 4 2>/dev/null; echo $?", ""},
		{"break outside of a loop", "break 2>/dev/null; echo $?", ""},
		{"line numbers", "\n\necho $LINENO\n", ""},
		{"the first status", "echo $?", ""},
		{"the shell's level", "echo $SHLVL $BASH_SUBSHELL", ""},
		{"set -e", "set -e; false; echo after", ""},
		{"set -u", "set -u; echo $nothing_has_this_name; echo after", ""},
		{"an exit trap", "trap 'echo bye $?' EXIT; exit 4", ""},
		{"an error trap", "trap 'echo failed' ERR; false; true", ""},
		{"exec", "exec sh -c 'echo replaced; exit 6'", ""},
		{"death by a signal", "echo before; kill -TERM $$; echo after", ""},
		{"aliases", "shopt -s expand_aliases\nalias x='echo aliased'\nx\n", ""},
		{"a last line that is continued", "echo a\\\nb \\\n", ""},
		{"a last line with a comment", "echo a # b", ""},
		{"carriage returns", "echo a\r\necho b\r\n", ""},
		{"bytes that are no UTF-8", "printf '%s' '\xff\xfe' | od -An -tx1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for where, pad := range map[string]func(string, int) string{"behind": padded, "before": paddedBefore} {
				var results [2]*shell.Result
				for i, size := range []int{maxArgBytes - 1, maxArgBytes} {
					req := shell.Request{Command: pad(c.script, size)}
					if c.stdin != "" {
						req.Stdin = strings.NewReader(c.stdin)
					}
					results[i] = r.run(t, req)
				}
				short, long := results[0], results[1]
				if outcomeOf(short) != outcomeOf(long) {
					t.Errorf("with a comment %s it:\nshort: %s\nlong:  %s", where, outcomeOf(short), outcomeOf(long))
				}
				if (short.Stderr.Text == "") != (long.Stderr.Text == "") {
					t.Errorf("stderr with a comment %s it:\nshort: %q\nlong:  %q", where, clip(short.Stderr.Text), clip(long.Stderr.Text))
				}
			}
		})
	}
}

func outcomeOf(res *shell.Result) string {
	code := "none"
	if res.ExitCode != nil {
		code = fmt.Sprint(*res.ExitCode)
	}
	return fmt.Sprintf("exit %s, signal %q, stdout %q", code, res.Signal, res.Stdout.Text)
}

// padded is a script brought to a size with a last line that does nothing.
func padded(script string, size int) string {
	return script + "\n#" + strings.Repeat("x", size-len(script)-2)
}

// paddedBefore is a script brought to a size with a first line that does
// nothing, so that its own last line ends the text.
func paddedBefore(script string, size int) string {
	return "#" + strings.Repeat("x", size-len(script)-2) + "\n" + script
}
