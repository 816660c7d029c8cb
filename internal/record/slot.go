package record

import (
	"encoding/binary"
	"syscall"
)

// slotSize is the size of one stream's entry in the index.
const slotSize = 64

// slot is what the index says about one stream. It is written and read whole.
// The kernel may show a reader one half of a write (read(2) and write(2) of a
// regular file exclude each other on some file systems only), so it carries a
// sum.
//
// While a log is not frozen its length is the length of the stream: the index
// is written when a part is given up and when the log freezes, not with the
// stream.
type slot struct {
	gapFrom, gapTo int64
	frozen         bool
	errno          syscall.Errno // why it is frozen; 0 for the cap
	end            int64         // when frozen: nothing is kept from here on
	total          int64         // when frozen: the length of the stream
}

const frozenFlag = 1

// mixers weigh the words of the sum, so that exchanged halves do not cancel
// out. All words 0 have the sum 0: a new index says "nothing".
var mixers = [slotSize/8 - 1]uint64{
	0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93,
	0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3,
}

func (s slot) encode() (out [slotSize]byte) {
	var flags uint64
	if s.frozen {
		flags = frozenFlag | uint64(uint32(s.errno))<<32
	}
	var sum uint64
	for i, word := range [len(mixers)]uint64{uint64(s.total), uint64(s.gapFrom), uint64(s.gapTo), uint64(s.end), flags} {
		binary.LittleEndian.PutUint64(out[8*i:], word)
		sum += word * mixers[i]
	}
	binary.LittleEndian.PutUint64(out[slotSize-8:], sum)
	return out
}

// decodeSlot returns ok false for half a write.
func decodeSlot(in [slotSize]byte) (s slot, ok bool) {
	var words [len(mixers)]uint64
	var sum uint64
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(in[8*i:])
		sum += words[i] * mixers[i]
	}
	s = slot{total: int64(words[0]), gapFrom: int64(words[1]), gapTo: int64(words[2]), end: int64(words[3])}
	s.frozen = words[4]&frozenFlag != 0
	s.errno = syscall.Errno(uint32(words[4] >> 32))
	return s, sum == binary.LittleEndian.Uint64(in[slotSize-8:])
}

// extent applies the slot to a log file of length bytes.
func (s slot) extent(length int64) extent {
	e := extent{size: length, gapFrom: s.gapFrom, gapTo: s.gapTo, end: length}
	if s.frozen {
		e.end, e.size = s.end, s.total
	}
	return e
}
