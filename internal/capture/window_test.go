//go:build unix

package capture

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func collecting(maxBytes, spillBytes int64, dir string) *Window {
	out := Output{Kind: Collect, MaxBytes: maxBytes, MaxSpill: spillBytes}
	return newWindow(out, &SpillDir{Given: dir}, "stdout")
}

func TestWindowKeepsTheExactTailWhateverTheChunks(t *testing.T) {
	cases := []struct {
		name   string
		chunks []string
		want   string
		lossy  bool
	}{
		{"three chunks that overflow", []string{"aaaa", "bbbbbb", "cc"}, "aabbbbbbcc", true},
		{"exactly the window", []string{"0123456789"}, "0123456789", false},
		{"one byte more", []string{"0123456789", "x"}, "123456789x", true},
		{"one chunk longer than the window", []string{"0123456789abcdef"}, "6789abcdef", true},
		{"a long chunk into a half-full window", []string{"abcde", "0123456789XY"}, "23456789XY", true},
		{"nothing", nil, "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := collecting(10, 0, "")
			for _, chunk := range c.chunks {
				w.push([]byte(chunk))
			}
			w.seal()
			got := w.ReadFrom(0)
			if got.Text != c.want || got.Lossy != c.lossy {
				t.Errorf("got %q lossy=%v, want %q lossy=%v", got.Text, got.Lossy, c.want, c.lossy)
			}
			if total := int64(len(strings.Join(c.chunks, ""))); got.Next != total {
				t.Errorf("next offset %d, want %d", got.Next, total)
			}
		})
	}
}

func TestSealedWindowTakesNothing(t *testing.T) {
	w := collecting(10, 0, "")
	w.push([]byte("a"))
	w.seal()
	w.push([]byte("b"))
	if got := w.Collected(); got.Text != "a" || got.Bytes != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestReadingPastTheEndIsEmpty(t *testing.T) {
	w := collecting(10, 0, "")
	w.push([]byte("abc"))
	if got := w.ReadFrom(99); got.Text != "" || got.Lossy || got.Next != 3 {
		t.Errorf("got %+v", got)
	}
	if got := w.ReadFrom(-5); got.Text != "abc" || got.Lossy {
		t.Errorf("got %+v", got)
	}
}

// FuzzWindow feeds chunks to a window and to a plain buffer, and compares what
// a reader that keeps up and a reader at the end see.
func FuzzWindow(f *testing.F) {
	f.Add([]byte("aaaabbbbbbcc"), uint8(10), uint8(3))
	f.Add([]byte("€€€€"), uint8(4), uint8(1))
	f.Add([]byte("a\xff\xfe\xe2\x82b\x00"), uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, size, step uint8) {
		max, chunk := int(size)+1, int(step)+1
		w := collecting(int64(max), int64(2*max), t.TempDir())
		var followed strings.Builder
		var next int64
		lossy := false
		for rest := data; len(rest) > 0; {
			n := min(chunk, len(rest))
			w.push(rest[:n])
			rest = rest[n:]
			got := w.ReadFrom(next)
			next, lossy = got.Next, lossy || got.Lossy
			followed.WriteString(got.Text)
		}
		w.seal()
		got := w.ReadFrom(next)
		lossy = lossy || got.Lossy
		followed.WriteString(got.Text)

		whole := collecting(int64(len(data))+1, 0, "")
		whole.push(data)
		whole.seal()
		if want := whole.ReadFrom(0).Text; !lossy && followed.String() != want {
			t.Errorf("followed %q, want %q", followed.String(), want)
		}
		tail, start, _ := w.copyFrom(0)
		if want := data[max0(len(data)-max):]; !bytes.Equal(tail, want) || start != int64(len(data)-len(want)) {
			t.Errorf("tail %q at %d, want %q", tail, start, want)
		}
		out := w.Collected()
		if !utf8.ValidString(out.Text) || out.Truncated != (len(data) > max) || out.Bytes != int64(len(data)) {
			t.Errorf("collected %+v of %d bytes", out, len(data))
		}
		spilled := len(data) > max && len(data) <= 2*max
		if (out.SpillPath != "") != spilled {
			t.Fatalf("spill path %q for %d bytes with a window of %d", out.SpillPath, len(data), max)
		}
		if spilled {
			if file, err := os.ReadFile(out.SpillPath); err != nil || !bytes.Equal(file, data) {
				t.Errorf("spill file holds %q (%v), want %q", file, err, data)
			}
		}
	})
}

func max0(n int) int { return max(n, 0) }
