package landlock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Access is a set of rights over files.
type Access uint64

// The rights, with the version of the interface (ABI) that brought them.
const (
	Execute    Access = unix.LANDLOCK_ACCESS_FS_EXECUTE
	WriteFile  Access = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	ReadFile   Access = unix.LANDLOCK_ACCESS_FS_READ_FILE
	ReadDir    Access = unix.LANDLOCK_ACCESS_FS_READ_DIR
	RemoveDir  Access = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR
	RemoveFile Access = unix.LANDLOCK_ACCESS_FS_REMOVE_FILE
	MakeChar   Access = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR
	MakeDir    Access = unix.LANDLOCK_ACCESS_FS_MAKE_DIR
	MakeReg    Access = unix.LANDLOCK_ACCESS_FS_MAKE_REG
	MakeSock   Access = unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
	MakeFifo   Access = unix.LANDLOCK_ACCESS_FS_MAKE_FIFO
	MakeBlock  Access = unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	MakeSym    Access = unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	Refer      Access = unix.LANDLOCK_ACCESS_FS_REFER    // 2; without it renames across directories are EXDEV
	Truncate   Access = unix.LANDLOCK_ACCESS_FS_TRUNCATE // 3
)

// ReadRights and WriteRights are the rights that a reader and a writer of a
// directory need, as far as an ABI has them.
const ReadRights = Execute | ReadFile | ReadDir

// WriteRights returns every right to change files that an ABI knows.
func WriteRights(abi int) Access {
	rights := WriteFile | RemoveDir | RemoveFile | MakeChar | MakeDir | MakeReg |
		MakeSock | MakeFifo | MakeBlock | MakeSym
	if abi >= 2 {
		rights |= Refer
	}
	if abi >= 3 {
		rights |= Truncate
	}
	return rights
}

// fileRights are those that a rule for something other than a directory may
// have: others are EINVAL.
const fileRights = Execute | WriteFile | ReadFile | Truncate

// Handled is what a ruleset restricts.
type Handled struct {
	Files Access
	// AbstractUnix refuses connections to abstract Unix sockets that were made
	// outside, Signals refuses signals to processes outside (6).
	AbstractUnix, Signals bool
}

// ABI is the version of the kernel's interface. The error is ENOSYS where
// Landlock was not built, EOPNOTSUPP where it was not enabled at boot.
func ABI() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(version), nil
}

// Ruleset is an open ruleset. The caller closes it.
type Ruleset struct{ fd int }

// New returns a ruleset without rules. What the kernel does not know is an
// error, E2BIG or EINVAL: ask ABI before.
func New(handled Handled) (*Ruleset, error) {
	// struct landlock_ruleset_attr. A kernel that does not know a field accepts
	// the shorter structure without it.
	var attr struct{ files, net, scoped uint64 }
	attr.files = uint64(handled.Files)
	size := unsafe.Offsetof(attr.net)
	if handled.AbstractUnix {
		attr.scoped |= unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if handled.Signals {
		attr.scoped |= unix.LANDLOCK_SCOPE_SIGNAL
	}
	if attr.scoped != 0 {
		size = unsafe.Sizeof(attr)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, errno
	}
	return &Ruleset{fd: int(fd)}, nil
}

// Allow gives rights beneath a physical path, or over a file, of which only those
// that files can have are used. A symbolic link anywhere in it was put there
// since the path was found: it is not followed, and nothing is allowed, which is
// the error ELOOP.
func (r *Ruleset) Allow(path string, rights Access) error {
	return r.AllowIn(unix.AT_FDCWD, path, rights)
}

// AllowIn is Allow for a path that is taken from the open directory root.
func (r *Ruleset) AllowIn(root int, path string, rights Access) error {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS}
	if root != unix.AT_FDCWD {
		how.Resolve |= unix.RESOLVE_IN_ROOT
	}
	fd, err := unix.Openat2(root, path, how)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFLNK:
		return nil // a link is read with the rights of its directory
	default:
		rights &= fileRights
	}
	if rights == 0 {
		return nil
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: uint64(rights), Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// FD is the descriptor for landlock_restrict_self(2).
func (r *Ruleset) FD() int { return r.fd }

// RestrictThread restricts the calling thread, which must be locked to its
// goroutine and must have no_new_privs, and what it starts. E2BIG means that
// sixteen rulesets are in force already.
func (r *Ruleset) RestrictThread() error {
	_, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Close releases the descriptor. Whom the ruleset restricts stays restricted.
func (r *Ruleset) Close() error { return unix.Close(r.fd) }
