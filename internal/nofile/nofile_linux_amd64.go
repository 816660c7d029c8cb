package nofile

import "unsafe"

// Limit is struct rlimit of getrlimit(2).
type Limit struct{ Cur, Max uint64 }

var original, known = read()

// Original returns the limit that this process was started with, and whether it
// is known.
func Original() (Limit, bool) { return original, known }

func read() (limit Limit, ok bool) {
	held := new(Limit)
	ok = prlimit(unsafe.Pointer(held)) == 0
	return *held, ok
}

// prlimit reads the limit of open files of this process.
//
//go:noescape
func prlimit(limit unsafe.Pointer) (result uintptr)
