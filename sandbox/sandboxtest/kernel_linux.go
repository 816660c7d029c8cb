package sandboxtest

import (
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelAttempts are calls whose code has given away the kernel before, or
// that act on the whole machine.
var kernelAttempts = []attempt{
	{name: "io_uring", rare: true, do: func(t *target) error {
		var params [120]byte
		return sys(unix.SYS_IO_URING_SETUP, 1, pointer(params[:]))
	}},
	{name: "an eBPF map", do: func(t *target) error {
		attr := [5]uint32{2 /* BPF_MAP_TYPE_ARRAY */, 4, 4, 1, 0}
		return sys(unix.SYS_BPF, 0 /* BPF_MAP_CREATE */, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	}, rare: true},
	{name: "userfaultfd", rare: true, do: func(t *target) error {
		return sys(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1 /* UFFD_USER_MODE_ONLY */)
	}},
	{name: "a performance event", rare: true, do: func(t *target) error {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK}
		attr.Size = uint32(unsafe.Sizeof(attr))
		return sys(unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), 0, math.MaxUint, math.MaxUint, 0)
	}},
	{name: "joining a keyring", rare: true, do: func(t *target) error {
		_, err := unix.KeyctlJoinSessionKeyring("")
		return err
	}},
	{name: "adding a key", rare: true, do: func(t *target) error {
		_, err := unix.AddKey("user", "sandboxtest", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
		return err
	}},
	{name: "requesting a key", rare: true, do: func(t *target) error {
		kind, name := []byte("user\x00"), []byte("sandboxtest-none\x00")
		return reached(sys(unix.SYS_REQUEST_KEY, pointer(kind), pointer(name), 0, 0), unix.ENOKEY)
	}},
	{name: "loading a kernel", rare: true, do: func(t *target) error {
		return reached(sys(unix.SYS_KEXEC_LOAD, 0, 1000 /* too many segments */, 0, 0), unix.EINVAL)
	}},
	{name: "loading a module", rare: true, do: func(t *target) error {
		none := []byte("\x00")
		return reached(sys(unix.SYS_INIT_MODULE, pointer(none), 1, pointer(none)), unix.ENOEXEC, unix.EINVAL, unix.EFAULT)
	}},
	{name: "loading a module from a file", rare: true, do: func(t *target) error {
		none := []byte("\x00")
		return reached(sys(unix.SYS_FINIT_MODULE, math.MaxUint, pointer(none), 0), unix.EBADF)
	}},
	{name: "removing a module", rare: true, do: func(t *target) error {
		none := []byte("sandboxtest_none\x00")
		return reached(sys(unix.SYS_DELETE_MODULE, pointer(none), unix.O_NONBLOCK), unix.ENOENT)
	}},
	{name: "swapping to a file", rare: true, do: func(t *target) error {
		none := []byte("/nonexistent\x00")
		return reached(sys(unix.SYS_SWAPON, pointer(none), 0), unix.ENOENT)
	}},
	{name: "no longer swapping to a file", rare: true, do: func(t *target) error {
		none := []byte("/nonexistent\x00")
		return reached(sys(unix.SYS_SWAPOFF, pointer(none)), unix.ENOENT)
	}},
	{name: "rebooting", do: func(t *target) error {
		// The kernel looks at the magic numbers after the permission.
		return reached(sys(unix.SYS_REBOOT, 0, 0, 0, 0), unix.EINVAL)
	}},
	{name: "accounting for processes", rare: true, do: func(t *target) error {
		return reached(unix.Acct("/nonexistent"), unix.ENOENT)
	}},
	{name: "lowering the limit that marks a command", do: func(t *target) error {
		return unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 1, Max: 1})
	}},
	{name: "raising the limit that marks a command", rare: true, do: func(t *target) error {
		return unix.Prlimit(0, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: math.MaxUint64, Max: math.MaxUint64}, nil)
	}},
	{name: "lowering the limit that marks a command by the old call", do: func(t *target) error {
		limit := unix.Rlimit{Cur: 1, Max: 1}
		return sys(setrlimitCall, unix.RLIMIT_LOCKS, uintptr(unsafe.Pointer(&limit)))
	}},
	{name: "a child of its parent", do: func(t *target) error {
		// A thread has to share memory: only who looks at the flags first says
		// anything else.
		return reached(sys(unix.SYS_CLONE, unix.CLONE_PARENT|unix.CLONE_THREAD), unix.EINVAL)
	}},
	{name: "a child of its parent by clone3", rare: true, do: func(t *target) error {
		arguments := [8]uint64{0: unix.CLONE_PARENT | unix.CLONE_THREAD}
		return reached(sys(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&arguments)), unsafe.Sizeof(arguments)), unix.EINVAL)
	}},
	// The kernel reads 32 bits of the number of the limit, a filter might read 64.
	{name: "lowering the limit that marks a command with high bits", do: func(t *target) error {
		limit := unix.Rlimit{Cur: 1, Max: 1}
		return sys(unix.SYS_PRLIMIT64, 0, 1<<32|unix.RLIMIT_LOCKS, uintptr(unsafe.Pointer(&limit)), 0)
	}},
}

// leaseAttempts are leases: whoever opens the file is kept waiting, or told to
// try again.
var leaseAttempts = []attempt{
	{name: "a lease on a file that it can read", do: func(t *target) error { return lease(t, unix.F_SETLEASE) }},
	// The kernel reads 32 bits of the command, a filter might read 64.
	{name: "a lease with high bits", do: func(t *target) error { return lease(t, 1<<32|unix.F_SETLEASE) }},
	{name: "a delegation of a file that it can read", rare: true, do: func(t *target) error {
		f, err := ownFile(t)
		if err != nil {
			return err
		}
		defer f.Close()
		argument := struct {
			flags uint32
			kind  uint16
			_     uint16
		}{kind: unix.F_RDLCK}
		return sys(unix.SYS_FCNTL, f.Fd(), unix.F_SETDELEG, uintptr(unsafe.Pointer(&argument)))
	}},
}

// lease takes one with a command of fcntl.
func lease(t *target, command uintptr) error {
	f, err := ownFile(t)
	if err != nil {
		return err
	}
	defer f.Close()
	return sys(unix.SYS_FCNTL, f.Fd(), command, unix.F_WRLCK)
}

// ownFile is a new file in the workspace, open to be read.
func ownFile(t *target) (*os.File, error) {
	path, err := fileIn(t.Workspace)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

const setrlimitCall = unix.SYS_SETRLIMIT

// pointer is the address of a buffer for a raw system call. The caller keeps
// the buffer alive.
func pointer(buffer []byte) uintptr { return uintptr(unsafe.Pointer(&buffer[0])) }
