//go:build unix

package subprocesstest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
)

// teeChecks are about the writer that receives a collected stream live.
func teeChecks() []check {
	return []check{
		{"a tee receives every byte as it arrives", teeReceivesAll},
		{"a tee is not bounded by the window", teeIsNotBounded},
		{"each stream has its own tee", teesAreApart},
		{"a tee that blocks holds the child back", blockedTeeHoldsBack},
		{"a tee that blocks for ever does not hold back a termination", blockedTeeTerminated},
		{"a tee that fails closes its stream to the child", failedTeeCloses},
		{"a tee that fails leaves the other stream alone", failedTeeOtherStream},
		{"a tee receives nothing after Done", teeQuietAfterDone},
	}
}

// lockedBuffer is a tee that keeps what it gets.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// gate is a tee that lets nothing through until it is opened.
type gate struct {
	reached chan struct{} // closed at the first Write
	opened  chan struct{}
	once    sync.Once
	lockedBuffer
}

func newGate() *gate { return &gate{reached: make(chan struct{}), opened: make(chan struct{})} }

func (g *gate) Write(p []byte) (int, error) {
	g.once.Do(func() { close(g.reached) })
	<-g.opened
	return g.lockedBuffer.Write(p)
}

// broken is a tee that takes n bytes and then fails.
type broken struct{ n int }

func (b *broken) Write(p []byte) (int, error) {
	if b.n -= len(p); b.n < 0 {
		return 0, errors.New("broken")
	}
	return len(p), nil
}

func teeReceivesAll(f *fixture) {
	var tee lockedBuffer
	o := collect(1000)
	o.Tee = &tee
	d := f.feed(o)
	want := ""
	for _, part := range []string{"one\n", "\xe2", "\x82\xac\x00\xff"} {
		want += part
		d.print(part)
		f.waitFor("the tee", func() bool { return tee.String() == want })
	}
	d.end()
	if tee.String() != want {
		f.Errorf("the tee has %+q, want %+q", tee.String(), want)
	}
}

func teeIsNotBounded(f *fixture) {
	var tee lockedBuffer
	content := strings.Repeat("0123456789abcdef", 64<<10) // 1 MiB
	spec := f.program("cat")
	spec.Stdin = data(content)
	spec.Stdout = collectSpilling(100, 1000)
	spec.Stdout.Tee = &tee
	h := f.run(spec)
	if tee.String() != content {
		f.Errorf("the tee has %d bytes or other ones, want the %d sent", len(tee.String()), len(content))
	}
	f.expectStdout(h, content[len(content)-100:])
}

func teesAreApart(f *fixture) {
	var out, err lockedBuffer
	spec := f.bash("echo out; echo err >&2")
	spec.Stdout.Tee, spec.Stderr.Tee = &out, &err
	f.run(spec)
	if out.String() != "out\n" || err.String() != "err\n" {
		f.Errorf("the tees have %q and %q", out.String(), err.String())
	}
}

func blockedTeeHoldsBack(f *fixture) {
	const size = 8 << 20
	tee := newGate()
	spec := f.bash(`head -c 8388608 /dev/zero; echo written >"$dir/written"`)
	spec.Stdout.Tee = tee
	h := f.start(spec)
	<-tee.reached
	// Another command's whole life passes, and the first is still held.
	f.run(f.program("true"))
	f.expectRunning(h)
	if f.exists("written") {
		f.Error("the child went on although its tee blocks")
	}
	if b := collected(h).Bytes; b >= size/2 {
		f.Errorf("%d bytes were taken from the child although its tee blocks", b)
	}
	close(tee.opened)
	f.await(h)
	f.expectCode(h, 0)
	if b := collected(h).Bytes; b != size || len(tee.String()) != size {
		f.Errorf("%d bytes are collected and %d teed, want %d", b, len(tee.String()), size)
	}
}

func blockedTeeTerminated(f *fixture) {
	tee := newGate()
	defer close(tee.opened)
	spec := f.bash(`trap '' TERM; head -c 8388608 /dev/zero; sleep "$marker"`)
	spec.Stdout.Tee = tee
	spec.Grace = brief
	h := f.start(spec)
	<-tee.reached
	h.Terminate()
	f.await(h)
	f.expectSignal(h, "SIGKILL")
	f.expectDead(h)
}

func failedTeeCloses(f *fixture) {
	for _, tee := range []io.Writer{&broken{}, &broken{n: 100_000}} {
		// Left alone the program would print for ever.
		spec := f.program("yes")
		spec.Stdout.Tee = tee
		h := f.run(spec)
		f.expectSignal(h, "SIGPIPE")
		f.expectCause(h, nil)
	}
}

func failedTeeOtherStream(f *fixture) {
	spec := f.bash(`trap '' PIPE; echo lost; until ! echo lost; do sleep 0.01; done 2>/dev/null; echo kept >&2; exit 3`)
	spec.Stdout.Tee = &broken{}
	h := f.run(spec)
	f.expectCode(h, 3)
	f.expectStderr(h, "kept\n")
}

func teeQuietAfterDone(f *fixture) {
	var tee lockedBuffer
	spec := f.bash(`(await go; echo late; touch "$dir/late")& echo hi`)
	spec.Stdout.Tee = &tee
	spec.Grace = brief
	h := f.run(spec)
	f.touch("go")
	f.waitFor("the late writer", func() bool { return f.exists("late") })
	f.awaitTree(h)
	if tee.String() != "hi\n" {
		f.Errorf("the tee has %q, want %q", tee.String(), "hi\n")
	}
	f.expectStdout(h, "hi\n")
}
