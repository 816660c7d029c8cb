package prefault

import "unsafe"

const (
	page = 4096
	// The values of madvise(2) that map what they are told, since Linux 5.14;
	// older kernels refuse them, and pages are mapped one by one as ever.
	populateRead  = 22
	populateWrite = 23
	// image is where the linker puts a program that is not relocated.
	image = 0x400000
)

// Done reports whether the program's image was mapped.
func Done() bool { return done }

var done = mapImage()

// header and segment are Elf64_Ehdr and Elf64_Phdr of elf(5).
type header struct {
	magic     [4]byte
	_         [28]byte
	phoff     uint64
	_         [14]byte
	phentsize uint16
	phnum     uint16
}

type segment struct {
	kind, flags uint32
	_           uint64
	vaddr       uint64
	_           uint64
	filesz      uint64
	_, _        uint64
}

const (
	load     = 1 // PT_LOAD
	writable = 2 // PF_W
)

// mapImage maps the segments of the program, of those that are written the part
// that is not zero. It is false for a program that is not where it is looked for.
func mapImage() bool {
	// The call fails where nothing is mapped, a read would not come back.
	if madvise(image, page, populateRead) != 0 {
		return false
	}
	h := at[header](image)
	if h.magic != [4]byte{0x7f, 'E', 'L', 'F'} || h.phentsize != uint16(unsafe.Sizeof(segment{})) || h.phoff+uint64(h.phnum)*uint64(h.phentsize) > page {
		return false
	}
	for i := range uintptr(h.phnum) {
		s := at[segment](image + uintptr(h.phoff) + i*unsafe.Sizeof(segment{}))
		if s.kind != load || s.vaddr%page != 0 {
			continue
		}
		advice := uintptr(populateRead)
		if s.flags&writable != 0 {
			advice = populateWrite
		}
		madvise(uintptr(s.vaddr), (uintptr(s.filesz)+page-1)&^(page-1), advice)
	}
	return true
}

// at is what lies at an address of the image, which never moves.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// madvise is madvise(2). It returns a negative error number, or 0.
//
//go:noescape
func madvise(address, length, advice uintptr) (result uintptr)
