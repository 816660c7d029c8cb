//go:build unix

package subprocesstest

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing/iotest"

	"hardshell/subprocess"
)

// stdinChecks are about the standard input of a child.
func stdinChecks() []check {
	return []check{
		{"data arrives whole and then ends", dataArrives},
		{"empty data is an input at its end, not the null device", emptyData},
		{"an ignored input is at its end", ignoredInput},
		{"data that is never read is no error", dataNeverRead},
		{"data that is never read does not hold back a command that runs on", dataNotReadWhileRunning},
		{"an input that the child closes is no error", inputClosedByChild},
		{"an input that a background process keeps is let go", inputKeptByBackground},
		{"data is passed on as it comes", dataIsStreamed},
		{"endless data ends with the command", endlessData},
		{"a source that blocks does not hold back the end", blockedSource},
		{"a source that blocks does not hold back a termination", blockedSourceTerminated},
		{"a source that fails is an input that ends", failingSource},
		{"a pipe to a command that has ended fails the writer", writeAfterEnd},
	}
}

func dataArrives(f *fixture) {
	content := strings.Repeat("0123456789abcde\n", 100_000) // 1.6 MB, many pipes full
	spec := f.program("cat")
	spec.Stdin = data(content)
	spec.Stdout = collect(int64(len(content)))
	h := f.run(spec)
	f.expectCode(h, 0)
	if stdout(h) != content {
		f.Errorf("%d bytes come back, or other ones; want the %d sent", len(stdout(h)), len(content))
	}
}

const kindOfInput = `if [ -c /dev/stdin ]; then echo device; elif [ -p /dev/stdin ]; then echo pipe; fi; wc -c`

func emptyData(f *fixture) {
	spec := f.bash(kindOfInput)
	spec.Stdin = data("")
	f.expectStdout(f.run(spec), "pipe\n0\n")
}

func ignoredInput(f *fixture) {
	f.expectStdout(f.run(f.bash(kindOfInput)), "device\n0\n")
}

func dataNeverRead(f *fixture) {
	for _, script := range []string{"exit 7", "sleep 0.1; exit 7", "head -c 10 >/dev/null; exit 7"} {
		spec := f.bash(script)
		spec.Stdin = data(strings.Repeat("x", 4<<20))
		h := f.run(spec)
		f.expectCode(h, 7)
		f.expectCause(h, nil)
	}
}

func dataNotReadWhileRunning(f *fixture) {
	spec := f.bash("echo ready; await go; exit 7")
	spec.Stdin = data(strings.Repeat("x", 4<<20))
	h := f.start(spec)
	f.awaitText(h, "ready\n")
	f.expectRunning(h)
	f.touch("go")
	f.await(h)
	f.expectCode(h, 7)
}

func inputClosedByChild(f *fixture) {
	spec := f.bash("exec 0<&-; await go; echo ok")
	spec.Stdin = data(strings.Repeat("x", 4<<20))
	h := f.start(spec)
	f.touch("go")
	f.await(h)
	f.expectCode(h, 0)
	f.expectStdout(h, "ok\n")
}

func inputKeptByBackground(f *fixture) {
	source := &endless{}
	spec := f.bash(`(await go; cat >/dev/null; touch "$dir/ended") <&0 >/dev/null 2>&1 & exit 3`)
	spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: source}
	h := f.run(spec)
	f.expectCode(h, 3)
	f.expectSourceReleased(source)
	// The background process finds the end of what had been written.
	f.touch("go")
	f.waitFor("the end of the input", func() bool { return f.exists("ended") })
	f.awaitTree(h)
}

func dataIsStreamed(f *fixture) {
	r, w := io.Pipe()
	spec := f.bash(`while read -r line; do echo "got $line"; done`)
	spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: r}
	h := f.start(spec)
	io.WriteString(w, "one\n")
	f.awaitText(h, "got one\n")
	io.WriteString(w, "two\n")
	f.awaitText(h, "got one\ngot two\n")
	f.expectRunning(h)
	w.Close()
	f.await(h)
	f.expectCode(h, 0)
}

// endless is a source without an end.
type endless struct{ reads atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.reads.Add(1)
	clear(p)
	return len(p), nil
}

// expectSourceReleased expects that nothing reads the source any more: two
// looks with a whole other command in between see the same count.
func (f *fixture) expectSourceReleased(source *endless) {
	f.Helper()
	f.waitFor("the source to be let go", func() bool {
		before := source.reads.Load()
		f.run(f.program("true"))
		return source.reads.Load() == before
	})
}

func endlessData(f *fixture) {
	source := &endless{}
	spec := f.bash("head -c 1000000 | wc -c")
	spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: source}
	h := f.run(spec)
	f.expectCode(h, 0)
	f.expectStdout(h, "1000000\n")
	f.expectSourceReleased(source)
}

func blockedSource(f *fixture) {
	r, w := io.Pipe()
	defer w.Close()
	spec := f.bash("read -r line; echo $line; exit 3")
	spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: r}
	h := f.start(spec)
	io.WriteString(w, "one\n")
	f.await(h)
	f.expectCode(h, 3)
	f.expectStdout(h, "one\n")
}

func blockedSourceTerminated(f *fixture) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spec := f.bash(`cat; sleep "$marker"`)
	spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: r}
	spec.Grace = brief
	h := f.startIn(ctx, spec)
	io.WriteString(w, "one\n")
	f.awaitText(h, "one\n")
	cancel()
	f.await(h)
	f.expectSignal(h, "SIGTERM")
	f.expectDead(h)
}

func failingSource(f *fixture) {
	spec := f.bash("cat; exit 3")
	spec.Stdin = subprocess.Stdin{
		Mode: subprocess.StdinData,
		Data: io.MultiReader(strings.NewReader("before"), iotest.ErrReader(errors.New("broken"))),
	}
	h := f.run(spec)
	f.expectCode(h, 3)
	f.expectStdout(h, "before")
}

func writeAfterEnd(f *fixture) {
	spec := f.program("true")
	spec.Stdin.Mode = subprocess.StdinPipe
	h := f.run(spec)
	defer h.Stdin().Close()
	if _, err := h.Stdin().Write(make([]byte, 1<<20)); err == nil {
		f.Error("writing to a command that has ended works")
	}
}
