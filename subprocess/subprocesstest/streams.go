//go:build unix

package subprocesstest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"

	"hardshell/subprocess"
)

// streamChecks are about the window of a collected stream and its readers.
func streamChecks() []check {
	return []check{
		{"a stream that fits its window is whole", fitsWindow},
		{"a longer stream keeps exactly its last bytes", keepsLastBytes},
		{"the tail does not depend on how the bytes came", tailOfAnyChunks},
		{"each stream has its own window", windowsAreApart},
		{"reading takes nothing away", readingConsumesNothing},
		{"an offset is a place in the whole stream", offsetsAreAbsolute},
		{"an offset that has left the window reads the whole window, lossy", lossyOffset},
		{"a reader that keeps up loses nothing beyond the window", keepsUp},
		{"many readers at once see the same bytes", manyReaders},
		{"a stream without output is empty", emptyStream},
		{"a window far larger than the stream costs nothing", hugeWindow},
	}
}

// feed is a child that prints what the check writes to it.
type feed struct {
	f     *fixture
	h     subprocess.Handle
	bytes int64
}

func (f *fixture) feed(o subprocess.Output) *feed {
	f.Helper()
	spec := f.program("cat")
	spec.Stdin.Mode = subprocess.StdinPipe
	spec.Stdout = o
	return &feed{f: f, h: f.start(spec)}
}

// print makes the child print, and waits until that was collected.
func (d *feed) print(text string) {
	d.f.Helper()
	if _, err := io.WriteString(d.h.Stdin(), text); err != nil {
		d.f.Fatal(err)
	}
	d.bytes += int64(len(text))
	d.f.waitFor(fmt.Sprintf("%d bytes", d.bytes), func() bool { return collected(d.h).Bytes == d.bytes })
}

// end ends the child and returns what was collected.
func (d *feed) end() subprocess.CollectedOutput {
	d.f.Helper()
	if err := d.h.Stdin().Close(); err != nil {
		d.f.Error(err)
	}
	d.f.await(d.h)
	d.f.expectCode(d.h, 0)
	return collected(d.h)
}

func (d *feed) readFrom(offset int64) subprocess.Chunk {
	return d.h.Reader(subprocess.Stdout).ReadFrom(offset)
}

// show spells a chunk with every byte of its text visible.
func show(c subprocess.Chunk) string {
	return fmt.Sprintf("{%+q, next %d, lossy %v}", c.Text, c.Next, c.Lossy)
}

// reads expects what ReadFrom returns.
func (d *feed) reads(offset int64, want subprocess.Chunk) {
	d.f.Helper()
	if got := d.readFrom(offset); got != want {
		d.f.Errorf("ReadFrom(%d) = %s, want %s", offset, show(got), show(want))
	}
}

func fitsWindow(f *fixture) {
	for _, size := range []int{1, 499, 500} {
		d := f.feed(collectSpilling(500, 10_000))
		d.print(strings.Repeat("x", size))
		if got, want := d.end(), (subprocess.CollectedOutput{Text: strings.Repeat("x", size), Bytes: int64(size)}); got != want {
			f.Errorf("%d bytes are collected as %+v", size, got)
		}
	}
	f.expectNoSpill()
}

func keepsLastBytes(f *fixture) {
	d := f.feed(collect(10))
	for _, chunk := range []string{"aaaa", "bbbbbb", "cc"} {
		d.print(chunk)
	}
	if got, want := d.end(), (subprocess.CollectedOutput{Text: "aabbbbbbcc"[0:10], Truncated: true, Bytes: 12}); got != want {
		f.Errorf("collected %+v, want %+v", got, want)
	}
}

func tailOfAnyChunks(f *fixture) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, window := range []int64{1, 7, 100, 4096, 70_000} {
		d := f.feed(collect(window))
		var whole strings.Builder
		for range 12 {
			chunk := strings.Repeat(string(rune('a'+random.IntN(26))), 1+random.IntN(3))
			for len(chunk) < random.IntN(int(window)+100) {
				chunk += string(rune('a' + random.IntN(26)))
			}
			whole.WriteString(chunk)
			d.print(chunk)
		}
		all := whole.String()
		want := subprocess.CollectedOutput{Text: all, Bytes: int64(len(all))}
		if int64(len(all)) > window {
			want.Text, want.Truncated = all[int64(len(all))-window:], true
		}
		if got := d.end(); got != want {
			f.Errorf("a window of %d: collected %.200q (truncated %v, %d bytes), want %.200q (%v, %d)",
				window, got.Text, got.Truncated, got.Bytes, want.Text, want.Truncated, want.Bytes)
		}
	}
}

func windowsAreApart(f *fixture) {
	spec := f.bash(`printf "%0500d" 1; printf "%0500d" 2 >&2; for i in 1 2; do echo o$i; echo e$i >&2; done`)
	spec.Stdout, spec.Stderr = collect(5000), collect(100)
	h := f.run(spec)
	zeros := strings.Repeat("0", 499)
	f.expectStdout(h, zeros+"1o1\no2\n")
	whole := zeros + "2e1\ne2\n"
	f.expectStderr(h, whole[len(whole)-100:])
	if o, e := collected(h), h.Reader(subprocess.Stderr).Collected(); o.Truncated || !e.Truncated || e.Bytes != int64(len(whole)) {
		f.Errorf("stdout is truncated: %v, stderr: %v at %d bytes; want only stderr, at %d", o.Truncated, e.Truncated, e.Bytes, len(whole))
	}
}

func readingConsumesNothing(f *fixture) {
	d := f.feed(collect(100))
	d.print("first\n")
	for range 2 {
		d.reads(0, subprocess.Chunk{Text: "first\n", Next: 6})
		d.reads(2, subprocess.Chunk{Text: "rst\n", Next: 6})
	}
	d.print("second\n")
	d.reads(6, subprocess.Chunk{Text: "second\n", Next: 13})
	d.reads(0, subprocess.Chunk{Text: "first\nsecond\n", Next: 13})
	d.end()
	for range 2 {
		d.reads(0, subprocess.Chunk{Text: "first\nsecond\n", Next: 13})
		d.reads(13, subprocess.Chunk{Next: 13})
	}
}

func offsetsAreAbsolute(f *fixture) {
	d := f.feed(collect(10))
	d.print("0123456789")
	d.print("abcdef") // the window is now 6789abcdef, from 6 on
	for _, when := range []string{"while open", "after the end"} {
		if when == "after the end" {
			d.end()
		}
		d.reads(6, subprocess.Chunk{Text: "6789abcdef", Next: 16})
		d.reads(10, subprocess.Chunk{Text: "abcdef", Next: 16})
		d.reads(15, subprocess.Chunk{Text: "f", Next: 16})
		d.reads(16, subprocess.Chunk{Next: 16})
		if c := d.readFrom(1000); c.Text != "" || c.Lossy {
			f.Errorf("%s: an offset beyond the end reads %+v", when, c)
		}
	}
}

func lossyOffset(f *fixture) {
	d := f.feed(collect(10))
	d.print("0123456789")
	d.reads(0, subprocess.Chunk{Text: "0123456789", Next: 10})
	d.print("abcdef")
	for _, when := range []string{"while open", "after the end"} {
		if when == "after the end" {
			if c := d.end(); !c.Truncated || c.Text != "6789abcdef" || c.Bytes != 16 {
				f.Errorf("collected %+v, want the truncated window", c)
			}
		}
		for _, offset := range []int64{0, 1, 5} {
			d.reads(offset, subprocess.Chunk{Text: "6789abcdef", Next: 16, Lossy: true})
		}
	}
}

func keepsUp(f *fixture) {
	d := f.feed(collect(100))
	var whole, read strings.Builder
	offset := int64(0)
	for i := range 20 {
		line := fmt.Sprintf("%049d\n", i)
		whole.WriteString(line)
		d.print(line)
		c := d.readFrom(offset)
		if c.Lossy {
			f.Fatalf("lossy at offset %d, although the reader keeps up", offset)
		}
		read.WriteString(c.Text)
		offset = c.Next
	}
	if read.String() != whole.String() {
		f.Errorf("the pieces are %q, want %q", read.String(), whole.String())
	}
	if c := d.end(); !c.Truncated || c.Bytes != 1000 {
		f.Errorf("collected %+v, want 1000 bytes, truncated", c)
	}
}

func manyReaders(f *fixture) {
	const lines = 20_000
	spec := f.bash(`await go; i=10000; while [ $((i++)) -lt 30000 ]; do echo "line $i"; done`)
	spec.Stdout = collect(lines * 11)
	h := f.start(spec)
	r := h.Reader(subprocess.Stdout)
	var readers sync.WaitGroup
	pieces := make([]strings.Builder, 6)
	for i := range pieces {
		readers.Go(func() {
			offset := int64(0)
			for done := false; !done; {
				select {
				case <-h.Done():
					done = true
				default:
				}
				c := r.ReadFrom(offset)
				if c.Lossy || c.Next-offset != int64(len(c.Text)) {
					f.Errorf("at %d: lossy %v, %d bytes of text, next %d", offset, c.Lossy, len(c.Text), c.Next)
					return
				}
				pieces[i].WriteString(c.Text)
				offset = c.Next
			}
		})
	}
	f.touch("go")
	readers.Wait()
	f.await(h)
	want := stdout(h)
	if len(want) != lines*11 {
		f.Errorf("%d bytes are collected, want %d", len(want), lines*11)
	}
	for i := range pieces {
		if pieces[i].String() != want {
			f.Errorf("reader %d saw %d bytes that are not the stream", i, pieces[i].Len())
		}
	}
}

func emptyStream(f *fixture) {
	h := f.run(f.program("true"))
	if got := collected(h); got != (subprocess.CollectedOutput{}) {
		f.Errorf("collected %+v, want nothing", got)
	}
	if got := h.Reader(subprocess.Stdout).ReadFrom(0); got != (subprocess.Chunk{}) {
		f.Errorf("ReadFrom(0) = %+v, want nothing", got)
	}
}

func hugeWindow(f *fixture) {
	spec := f.program("echo", "hi")
	spec.Stdout = collect(1 << 62)
	f.expectStdout(f.run(spec), "hi\n")
}
