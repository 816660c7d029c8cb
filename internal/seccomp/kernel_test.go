//go:build linux && (amd64 || arm64)

package seccomp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// childEnv makes the test binary a child that filters itself: its value is an
// order in JSON.
const childEnv = "HARDSHELL_SECCOMP_CHILD"

// order is what the child does: become a user, install the filter in all
// threads, make the calls, print their results.
type order struct {
	UID     int // 0: stay
	Options Options
	Exec    string // instead of the calls: become this program
}

// result is a call's error before and under the filter. Only calls that must
// pass are made before it.
type result struct{ Bare, Filtered unix.Errno }

func TestMain(m *testing.M) {
	value, child := os.LookupEnv(childEnv)
	if !child {
		os.Exit(m.Run())
	}
	if value == "" {
		os.Exit(0)
	}
	var o order
	if err := json.Unmarshal([]byte(value), &o); err != nil {
		panic(err)
	}
	if err := obey(o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

func obey(o order) error {
	runtime.LockOSThread()
	if o.UID != 0 {
		if err := syscall.Setgroups(nil); err != nil {
			return fmt.Errorf("setgroups: %w", err)
		}
		if err := syscall.Setresgid(o.UID, o.UID, o.UID); err != nil {
			return fmt.Errorf("setresgid: %w", err)
		}
		if err := syscall.Setresuid(o.UID, o.UID, o.UID); err != nil {
			return fmt.Errorf("setresuid: %w", err)
		}
	}
	results := map[string]result{}
	for _, c := range kernelCalls(o.Options) {
		if c.want == asBare {
			results[c.name] = result{Bare: c.do()}
		}
	}
	if err := install(Filter(o.Options), unix.SECCOMP_FILTER_FLAG_TSYNC); err != nil {
		return err
	}
	if o.Exec != "" {
		return syscall.Exec(o.Exec, []string{o.Exec}, nil)
	}
	for _, c := range kernelCalls(o.Options) {
		results[c.name] = result{Bare: results[c.name].Bare, Filtered: c.do()}
	}
	// The runtime works under the filter: new threads, new processes.
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{childEnv + "="}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("a process under the filter: %w: %s", err, out)
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}

// install puts a filter on the calling thread, with flags of seccomp(2).
func install(program []unix.SockFilter, flags uintptr) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if thread != 0 {
		return fmt.Errorf("seccomp: thread %d cannot follow", thread)
	}
	return nil
}

// asBare stands for the error, or success, that the call has without a filter.
const asBare = unix.Errno(0xffff)

type kernelCall struct {
	name   string
	number uintptr
	args   [6]uintptr
	want   unix.Errno
}

func (c kernelCall) do() unix.Errno {
	a := c.args
	_, _, errno := unix.RawSyscall6(c.number, a[0], a[1], a[2], a[3], a[4], a[5])
	return errno
}

// kernelCalls returns calls that do no harm even if a filter lets them pass:
// bad makes those fail that take an address.
func kernelCalls(o Options) []kernelCall {
	const (
		bad   = 8 // no address
		high  = 1 << 32
		noPid = 0x7ffffff0
		// invalid makes the kernel refuse a clone with EINVAL: a thread must
		// share memory.
		invalid = unix.CLONE_THREAD
	)
	type args = [6]uintptr
	calls := []kernelCall{
		{"getppid", unix.SYS_GETPPID, args{}, asBare},
		{"clone", unix.SYS_CLONE, args{invalid}, asBare},
		{"clone newuser", unix.SYS_CLONE, args{invalid | unix.CLONE_NEWUSER}, unix.EPERM},
		{"clone newuser with a high half", unix.SYS_CLONE, args{high | invalid | unix.CLONE_NEWUSER}, unix.EPERM},
		{"clone newnet", unix.SYS_CLONE, args{invalid | unix.CLONE_NEWNET}, unix.EPERM},
		{"clone parent", unix.SYS_CLONE, args{invalid | unix.CLONE_PARENT}, unix.EPERM},
		{"fcntl lease", unix.SYS_FCNTL, args{^uintptr(0), unix.F_SETLEASE, unix.F_UNLCK}, unix.EPERM},
		{"fcntl lease with a high half", unix.SYS_FCNTL, args{^uintptr(0), high | unix.F_SETLEASE, unix.F_UNLCK}, unix.EPERM},
		{"fcntl delegation", unix.SYS_FCNTL, args{^uintptr(0), unix.F_SETDELEG, bad}, unix.EPERM},
		{"fcntl", unix.SYS_FCNTL, args{^uintptr(0), unix.F_GETLEASE}, asBare},
		{"clone3", unix.SYS_CLONE3, args{bad, 88}, unix.ENOSYS},
		{"unshare sysvsem", unix.SYS_UNSHARE, args{unix.CLONE_SYSVSEM}, asBare},
		{"unshare newuser", unix.SYS_UNSHARE, args{unix.CLONE_NEWUSER}, unix.EPERM},
		{"unshare newtime", unix.SYS_UNSHARE, args{unix.CLONE_NEWTIME}, unix.EPERM},
		{"setns", unix.SYS_SETNS, args{^uintptr(0), 0}, unix.EPERM},
		{"ioctl TCGETS", unix.SYS_IOCTL, args{^uintptr(0), unix.TCGETS, bad}, asBare},
		{"ioctl TIOCSTI", unix.SYS_IOCTL, args{^uintptr(0), unix.TIOCSTI, bad}, unix.EPERM},
		{"ioctl TIOCSTI with a high half", unix.SYS_IOCTL, args{^uintptr(0), high | unix.TIOCSTI, bad}, unix.EPERM},
		{"ioctl TIOCLINUX", unix.SYS_IOCTL, args{^uintptr(0), unix.TIOCLINUX, bad}, unix.EPERM},
		{"setrlimit cpu", unix.SYS_SETRLIMIT, args{unix.RLIMIT_CPU, bad}, asBare},
		{"setrlimit locks", unix.SYS_SETRLIMIT, args{unix.RLIMIT_LOCKS, bad}, unix.EPERM},
		{"prlimit reads locks", unix.SYS_PRLIMIT64, args{0, unix.RLIMIT_LOCKS, 0, 0}, asBare},
		{"prlimit sets locks", unix.SYS_PRLIMIT64, args{0, unix.RLIMIT_LOCKS, bad, 0}, unix.EPERM},
		{"prlimit sets locks with a high half", unix.SYS_PRLIMIT64, args{0, high | unix.RLIMIT_LOCKS, bad, 0}, unix.EPERM},
		{"prlimit sets locks from a high address", unix.SYS_PRLIMIT64, args{0, unix.RLIMIT_LOCKS, high, 0}, unix.EPERM},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, args{^uintptr(0)}, unix.EPERM},
		{"pidfd_open", unix.SYS_PIDFD_OPEN, args{noPid}, asBare},
		{"kcmp", unix.SYS_KCMP, args{noPid, noPid}, unix.EPERM},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, args{1, bad}, unix.EPERM},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, args{^uintptr(0)}, unix.EPERM},
		{"userfaultfd", unix.SYS_USERFAULTFD, args{^uintptr(0)}, unix.EPERM},
		{"bpf", unix.SYS_BPF, args{999, bad, 8}, unix.EPERM},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, args{bad}, unix.EPERM},
		{"keyctl", unix.SYS_KEYCTL, args{9999}, unix.EPERM},
		{"add_key", unix.SYS_ADD_KEY, args{bad}, unix.EPERM},
		{"request_key", unix.SYS_REQUEST_KEY, args{bad}, unix.EPERM},
		{"delete_module", unix.SYS_DELETE_MODULE, args{bad}, unix.EPERM},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, args{^uintptr(0), bad}, unix.EPERM},
		{"name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, args{^uintptr(0), bad, bad, bad}, asBare},
		{"mount", unix.SYS_MOUNT, args{bad, bad, bad}, unix.EPERM},
		{"umount2", unix.SYS_UMOUNT2, args{bad}, unix.EPERM},
		{"move_mount", unix.SYS_MOVE_MOUNT, args{^uintptr(0), bad, ^uintptr(0), bad}, unix.EPERM},
		{"fsopen", unix.SYS_FSOPEN, args{bad}, unix.EPERM},
		{"open_tree", unix.SYS_OPEN_TREE, args{^uintptr(0), bad}, unix.EPERM},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, args{^uintptr(0), bad}, unix.EPERM},
		{"reboot", unix.SYS_REBOOT, args{}, unix.EPERM},
		{"syslog", unix.SYS_SYSLOG, args{99}, unix.EPERM},
		{"settimeofday", unix.SYS_SETTIMEOFDAY, args{bad}, unix.EPERM},
		{"clock_settime", unix.SYS_CLOCK_SETTIME, args{99, bad}, unix.EPERM},
		{"seccomp", unix.SYS_SECCOMP, args{99}, asBare},
		{"landlock version", unix.SYS_LANDLOCK_CREATE_RULESET, args{0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION}, asBare},
		{"personality", unix.SYS_PERSONALITY, args{0xffffffff}, asBare},
		{"socket unix", unix.SYS_SOCKET, args{unix.AF_UNIX, unix.SOCK_STREAM}, asBare},
		{"socket vsock", unix.SYS_SOCKET, args{unix.AF_VSOCK, unix.SOCK_STREAM}, unix.EAFNOSUPPORT},
		{"socket packet", unix.SYS_SOCKET, args{unix.AF_PACKET, unix.SOCK_RAW}, unix.EAFNOSUPPORT},
		{"socket alg with a high half", unix.SYS_SOCKET, args{high | unix.AF_ALG, unix.SOCK_SEQPACKET}, unix.EAFNOSUPPORT},
		{"socket netlink route", unix.SYS_SOCKET, args{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, asBare},
		{"socket netlink uevent", unix.SYS_SOCKET, args{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT}, unix.EPROTONOSUPPORT},
		{"socket netlink uevent with a high half", unix.SYS_SOCKET, args{unix.AF_NETLINK, unix.SOCK_RAW, high | unix.NETLINK_KOBJECT_UEVENT}, unix.EPROTONOSUPPORT},
		{"socketpair unix", unix.SYS_SOCKETPAIR, args{unix.AF_UNIX, unix.SOCK_STREAM, 0, bad}, asBare},
		{"socketpair tipc", unix.SYS_SOCKETPAIR, args{unix.AF_TIPC, unix.SOCK_STREAM, 0, bad}, unix.EOPNOTSUPP},
		{"a call after the newest", newest + 1, args{}, unix.ENOSYS},
		{"an x32 call", 0x40000000 | unix.SYS_GETPID, args{}, unix.ENOSYS},
	}
	ip, mptcp, ptrace := asBare, unix.EPROTONOSUPPORT, asBare
	if o.DenyIP {
		ip, mptcp = unix.EACCES, unix.EACCES
	}
	if o.DenyPtrace {
		ptrace = unix.EPERM
	}
	return append(calls,
		kernelCall{"socket inet", unix.SYS_SOCKET, args{unix.AF_INET, unix.SOCK_STREAM}, ip},
		kernelCall{"socket inet with a high half", unix.SYS_SOCKET, args{high | unix.AF_INET, unix.SOCK_STREAM}, ip},
		kernelCall{"socket inet6", unix.SYS_SOCKET, args{unix.AF_INET6, unix.SOCK_DGRAM}, ip},
		kernelCall{"socket mptcp", unix.SYS_SOCKET, args{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, mptcp},
		kernelCall{"ptrace", unix.SYS_PTRACE, args{unix.PTRACE_ATTACH, noPid}, ptrace},
		kernelCall{"process_vm_readv", unix.SYS_PROCESS_VM_READV, args{noPid, 0, 0, 0, 0, 1}, ptrace},
	)
}

func TestKernelAnswersAsTheFilterSays(t *testing.T) {
	t.Parallel()
	users := map[string]int{"this user": 0}
	if os.Getuid() == 0 {
		users["nobody"] = 65534
	}
	for user, uid := range users {
		for _, o := range allOptions {
			t.Run(fmt.Sprintf("%s %+v", user, o), func(t *testing.T) {
				t.Parallel()
				out, err := child(t, order{UID: uid, Options: o})
				if err != nil {
					t.Fatal(err)
				}
				var results map[string]result
				if err := json.Unmarshal(out, &results); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				for _, c := range kernelCalls(o) {
					got, ok := results[c.name]
					want := c.want
					if want == asBare {
						want = got.Bare
					}
					if !ok || got.Filtered != want {
						t.Errorf("%s: got %d (%v), want %d", c.name, got.Filtered, got.Filtered, want)
					}
				}
			})
		}
	}
}

// child runs the test binary with an order and returns its standard output.
func child(t *testing.T, o order) ([]byte, error) {
	t.Helper()
	value, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"="+string(value))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

// BenchmarkCall compares calls with and without the filter. getppid is always
// allowed, which the kernel remembers; ioctl runs the program every time.
func BenchmarkCall(b *testing.B) {
	for _, call := range []struct {
		name string
		do   func()
	}{
		{"getppid", func() { unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0) }},
		{"ioctl", func() { unix.RawSyscall(unix.SYS_IOCTL, ^uintptr(0), unix.TCGETS, 0) }},
	} {
		for _, filtered := range []bool{false, true} {
			name := call.name + "/bare"
			if filtered {
				name = call.name + "/filtered"
			}
			b.Run(name, func(b *testing.B) {
				done := make(chan error)
				go func() {
					// A thread whose goroutine ends locked ends too, and its
					// filter with it.
					runtime.LockOSThread()
					if filtered {
						if err := install(Filter(Options{}), 0); err != nil {
							done <- err
							return
						}
					}
					b.ResetTimer()
					for range b.N {
						call.do()
					}
					b.StopTimer()
					done <- nil
				}()
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkInstall is what a command pays for its filter. Most of it is the
// kernel making executable pages, whatever the program.
func BenchmarkInstall(b *testing.B) {
	program := Filter(Options{})
	done := make(chan error)
	for b.Loop() {
		go func() {
			runtime.LockOSThread()
			done <- install(program, 0)
		}()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	for b.Loop() {
		Filter(Options{})
	}
}
