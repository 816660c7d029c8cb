package state

import (
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// NewSessionID returns a fresh session id: a ULID, 26 characters that sort by
// the millisecond of their creation. It is unique, not secret: whoever may see
// the home may see it.
func NewSessionID() string {
	var random [16]byte
	// The random source of the runtime is seeded by the system for every
	// process, and unlike crypto/rand costs nothing at start-up.
	binary.LittleEndian.PutUint64(random[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(random[8:], rand.Uint64())
	return encodeULID(time.Now().UnixMilli(), [10]byte(random[:10]))
}

// crockford is the alphabet of base 32 after Crockford: no I, L, O, U.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// encodeULID is the canonical text of https://github.com/ulid/spec: a time of
// 48 bits, in milliseconds since 1970, and 80 random bits, the most significant
// first, five bits to a character.
func encodeULID(ms int64, random [10]byte) string {
	var text [26]byte
	for i := 9; i >= 0; i-- {
		text[i] = crockford[ms&31]
		ms >>= 5
	}
	for half := range 2 {
		bytes := random[5*half:]
		bits := uint64(binary.BigEndian.Uint32(bytes))<<8 | uint64(bytes[4])
		for i := 7; i >= 0; i-- {
			text[10+8*half+i] = crockford[bits&31]
			bits >>= 5
		}
	}
	return string(text[:])
}
