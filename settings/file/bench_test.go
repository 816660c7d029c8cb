package file

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"hardshell/settings"
)

// large is a document of 200 sections with 50 keys each.
func large() string {
	var b strings.Builder
	for ns := range 200 {
		fmt.Fprintf(&b, "# section %d\nns-%d:\n", ns, ns)
		for key := range 50 {
			fmt.Fprintf(&b, "  key-%d: value %d\n", key, key*ns)
		}
	}
	return b.String()
}

func BenchmarkWriteOneKeyOfTenThousand(b *testing.B) {
	f := prepared(b, Config{}, nil)
	put(b, f.path, large())
	f.open()
	for i := 0; b.Loop(); i++ {
		f.mustSet("ns-100", "key-25", i)
	}
}

func BenchmarkOpen(b *testing.B) {
	for name, content := range map[string]string{"absent": "", "small": "shell: {timeoutMs: 1000}\n", "10000 keys": large()} {
		b.Run(name, func(b *testing.B) {
			f := prepared(b, Config{}, nil)
			if content != "" {
				put(b, f.path, content)
			}
			for b.Loop() {
				p, err := New(Config{Home: f.home, Debounce: -1})
				must(b, err)
				if _, err := p.Open(bg, func(settings.Document) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAnEditIsSeen(b *testing.B) {
	f := prepared(b, Config{Watch: true, Debounce: 100_000_000}, nil)
	put(b, f.path, "alpha: {a: 0}\n")
	f.open()
	for i := 0; b.Loop(); i++ {
		must(b, os.WriteFile(f.path, fmt.Appendf(nil, "alpha: {b: %d}\n", i), 0o600))
		f.next()
	}
}
