package spawn

import (
	"math/rand/v2"
	"sync/atomic"
)

// Tags issues the marks of one owner's children. A tag is the child's own hard
// limit RLIMIT_LOCKS, which the kernel has not enforced since 2.4.25
// (getrlimit(2)). Every descendant inherits it, whatever it does with its
// session, parent and environment; raising it takes CAP_SYS_RESOURCE. A process
// may lower its own, and then this mark no longer finds it.
//
// Tags nest once: the children of a marked process get marks from inside its
// own mark, so that the outer owner still knows them as its own. Deeper owners
// issue none.
//
//	bit 63   0: never RLIM_INFINITY
//	62 … 21  the outer mark
//	20 … 0   the inner mark; all ones when there is none
//
// An owner counts up from a random start, so that its marks are one range. The
// ranges of two owners with a thousand marks each meet once in two thousand
// million times; inside one outer mark, where fewer numbers are left, once in a
// thousand. It is safe for concurrent use.
type Tags struct {
	shift  uint   // where the counter stands in a tag
	limit  uint64 // the counter is below it
	prefix uint64 // the bits above the counter
	suffix uint64 // the bits below it
	start  uint64
	issued atomic.Uint64
}

const (
	innerBits = 21
	outerBits = 63 - innerBits
	noInner   = 1<<innerBits - 1
)

// NewTags returns the tags that this process can give to its children. Where
// there are none to give, Next returns 0.
func NewTags() *Tags { return newTags(ownTag()) }

// newTags returns the tags for children of a process whose limit is own, which
// is unlimited for an unmarked one.
func newTags(own uint64) *Tags {
	switch {
	case own == unlimited:
		t := &Tags{shift: innerBits, limit: 1 << outerBits, suffix: noInner}
		t.start = rand.Uint64N(t.limit)
		return t
	case own>>63 == 0 && own > noInner && own&noInner == noInner:
		t := &Tags{limit: noInner, prefix: own &^ noInner}
		t.start = rand.Uint64N(t.limit)
		return t
	default:
		return &Tags{}
	}
}

// Next returns a fresh tag, 0 when none can be given.
func (t *Tags) Next() uint64 {
	if t.limit == 0 {
		return 0
	}
	issued := t.issued.Add(1)
	if issued >= t.limit {
		t.issued.Store(t.limit - 1)
		return 0 // all are used up
	}
	n := (t.start + issued) % t.limit
	if tag := t.prefix | n<<t.shift | t.suffix; tag > noInner {
		return tag
	}
	return t.Next() // outer mark 0 would read as an ordinary small limit
}

// Issued reports whether mark is a tag that t has issued, or one issued inside
// of it.
func (t *Tags) Issued(mark uint64) bool {
	if t.limit == 0 || mark>>63 != 0 || mark <= noInner {
		return false
	}
	n := mark
	if t.shift == 0 {
		if mark&^uint64(noInner) != t.prefix || mark&noInner == noInner {
			return false
		}
		n &= noInner
	}
	n >>= t.shift
	return (n-t.start-1+t.limit)%t.limit < t.issued.Load()
}

// Within reports whether mark is tag, or was issued by a process that carries
// tag.
func Within(mark, tag uint64) bool {
	if tag == 0 || mark>>63 != 0 {
		return false
	}
	if tag&noInner == noInner {
		return mark|noInner == tag
	}
	return mark == tag
}

// unlimited is RLIM_INFINITY.
const unlimited = ^uint64(0)
