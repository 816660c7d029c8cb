package document

import (
	"fmt"
	"strings"
	"testing"

	"hardshell/internal/jsontree"
)

// manySections is a document of 200 sections with 50 keys each.
func manySections(format Format) string {
	var b strings.Builder
	if format == JSON {
		b.WriteString("{\n")
	}
	for s := range 200 {
		if format == JSON {
			fmt.Fprintf(&b, "  \"section%d\": {\n", s)
		} else {
			fmt.Fprintf(&b, "section%d:\n", s)
		}
		for k := range 50 {
			if format == JSON {
				fmt.Fprintf(&b, "    \"key%d\": \"value %d\"%s\n", k, k, map[bool]string{true: ","}[k < 49])
			} else {
				fmt.Fprintf(&b, "  # about it\n  key%d: value %d\n", k, k)
			}
		}
		if format == JSON {
			fmt.Fprintf(&b, "  }%s\n", map[bool]string{true: ","}[s < 199])
		}
	}
	if format == JSON {
		b.WriteString("}\n")
	}
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	for _, format := range []Format{YAML, JSON} {
		text := []byte(manySections(format))
		b.Run(format.String(), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Parse("s", format, text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOneEditOf10000Keys(b *testing.B) {
	for _, format := range []Format{YAML, JSON} {
		d, err := Parse("s", format, []byte(manySections(format)))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(format.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := d.Apply([]Edit{{Path: jsontree.Path{"section100", "key10"}, Value: "new"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSmallDocument(b *testing.B) {
	text := []byte("# c\nshell:\n  timeout: 30 # s\n  path: /bin/sh\njobs: {limit: 3}\n")
	for b.Loop() {
		d, err := Parse("s", YAML, text)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Apply([]Edit{{Path: jsontree.Path{"shell", "timeout"}, Value: 40}}); err != nil {
			b.Fatal(err)
		}
	}
}
