package prose

import "testing"

func TestParse(t *testing.T) {
	got := Parse("before is nothing\n# one\n\ntext\n## two\n\n# three\n# four\nlast")
	want := Sections{"one": "text\n## two", "three": "", "four": "last"}
	if len(got) != len(want) {
		t.Errorf("the sections are %q", got)
	}
	for heading, text := range want {
		if got[heading] != text {
			t.Errorf("%s is %q, want %q", heading, got[heading], text)
		}
	}
}
