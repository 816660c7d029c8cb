package spawn

import "testing"

func TestTagsAreFreshAndRecognised(t *testing.T) {
	tags := newTags(unlimited)
	other := newTags(unlimited)
	seen := map[uint64]bool{}
	for range 1000 {
		tag := tags.Next()
		if tag == 0 || seen[tag] || tag>>63 != 0 || tag&noInner != noInner {
			t.Fatalf("tag %x is zero, repeated or malformed", tag)
		}
		seen[tag] = true
		if !tags.Issued(tag) || other.Issued(tag) {
			t.Fatalf("tag %x: issued %v, by another %v", tag, tags.Issued(tag), other.Issued(tag))
		}
		if !Within(tag, tag) {
			t.Fatalf("tag %x is not within itself", tag)
		}
	}
	for _, mark := range []uint64{0, 1, unlimited, noInner, 8 << 20} {
		if tags.Issued(mark) {
			t.Errorf("an ordinary limit %x counts as a tag", mark)
		}
	}
}

func TestTagsNestOnce(t *testing.T) {
	outer := newTags(unlimited)
	mine := outer.Next()
	inner := newTags(mine)
	first, second := inner.Next(), inner.Next()
	for _, tag := range []uint64{first, second} {
		if !Within(tag, mine) {
			t.Errorf("%x is not within the outer %x", tag, mine)
		}
		if !outer.Issued(tag) || !inner.Issued(tag) {
			t.Errorf("%x is not known to its owners", tag)
		}
		if tag >= mine {
			t.Errorf("%x is not below %x: an unprivileged process cannot set it", tag, mine)
		}
	}
	if Within(first, second) || Within(mine, first) {
		t.Error("siblings, or an outer mark, count as within")
	}
	if inner.Issued(mine) {
		t.Error("the inner owner claims what its own owner's mark covers")
	}
	if Within(first, outer.Next()) {
		t.Error("an inner mark is within another outer one")
	}
	if tag := newTags(first).Next(); tag != 0 {
		t.Errorf("a third level issued %x", tag)
	}
}

func TestForeignLimitIssuesNoTags(t *testing.T) {
	for _, own := range []uint64{0, 100, 1 << 40} {
		tags := newTags(own)
		if tag := tags.Next(); tag != 0 || tags.Issued(own) {
			t.Errorf("limit %d: issued %x", own, tag)
		}
	}
}
