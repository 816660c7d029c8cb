package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// permittedAttempts are what programs of every day do: a sandbox in which they
// do not work is not used.
var permittedAttempts = []attempt{
	{name: "a pair of Unix sockets", permitted: true, do: func(*target) error {
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	}},
	{name: "a netlink socket for addresses and routes", permitted: true, do: socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)},
	{name: "a TCP connection on the loopback", permitted: true, do: func(*target) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		return dial("tcp", l.Addr().String())
	}},
	{name: "a Unix socket in the workspace", permitted: true, do: func(t *target) error { return serveAndDial(t.Workspace + "/own") }},
	{name: "a Unix socket in the temp", permitted: true, do: func(*target) error { return serveAndDial(os.TempDir() + "/own") }},
	{name: "an abstract Unix socket of its own", permitted: true, do: func(t *target) error {
		return serveAndDial(fmt.Sprintf("@sandboxtest-own-%d", t.PID))
	}},
	{name: "files without a name, linked later", permitted: true, do: func(t *target) error {
		fd, err := unix.Open(t.Workspace, unix.O_TMPFILE|unix.O_WRONLY, 0o600)
		if err != nil {
			return reached(err, unix.EOPNOTSUPP)
		}
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, t.Workspace+"/linked", unix.AT_SYMLINK_FOLLOW)
	}},
	{name: "an attribute of a file in the workspace", permitted: true, do: func(t *target) error {
		file, err := fileIn(t.Workspace)
		if err != nil {
			return err
		}
		return reached(unix.Setxattr(file, "user.sandboxtest", []byte("x"), 0), unix.EOPNOTSUPP)
	}},
	{name: "modes and times of a file in the workspace", permitted: true, do: func(t *target) error {
		file, err := fileIn(t.Workspace)
		if err != nil {
			return err
		}
		return errors.Join(os.Chmod(file, 0o700), os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0)),
			os.Chown(file, os.Getuid(), os.Getgid()), os.Truncate(file, 0))
	}},
	{name: "links, pipes and directories in the workspace", permitted: true, do: func(t *target) error {
		file, err := fileIn(t.Workspace)
		if err != nil {
			return err
		}
		return errors.Join(os.Link(file, t.Workspace+"/hard"), os.Symlink("file", t.Workspace+"/soft"),
			unix.Mkfifo(t.Workspace+"/pipe", 0o600), os.Mkdir(t.Workspace+"/dir", 0o700),
			// Two rule sets of Landlock would make this one fail.
			os.Rename(t.Workspace+"/hard", t.Workspace+"/dir/hard"),
			os.Rename(t.Workspace+"/dir", t.Workspace+"/renamed"),
			os.RemoveAll(t.Workspace+"/renamed"))
	}},
	{name: "locks of a file in the workspace", permitted: true, do: func(t *target) error {
		f, err := os.Create(t.Workspace + "/lock")
		if err != nil {
			return err
		}
		lock := unix.Flock_t{Type: unix.F_WRLCK}
		return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_EX), unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock))
	}},
	{name: "scheduling itself", permitted: true, do: func(*target) error {
		var set unix.CPUSet
		return errors.Join(
			unix.SchedGetaffinity(0, &set), unix.SchedSetaffinity(0, &set),
			unix.Setpriority(unix.PRIO_PROCESS, 0, 5), unix.Setpriority(unix.PRIO_PGRP, 0, 5),
			sys(unix.SYS_SCHED_SETSCHEDULER, 0, schedBatch, pointer(make([]byte, 4))),
			sys(unix.SYS_IOPRIO_SET, ioprioProcess, 0, ioprioBestEffort),
		)
	}},
	{name: "watching the workspace", permitted: true, do: func(t *target) error {
		fd, err := unix.InotifyInit1(0)
		if err != nil {
			return err
		}
		_, err = unix.InotifyAddWatch(fd, t.Workspace, unix.IN_CREATE)
		return err
	}},
	{name: "tracing a child", permitted: true, do: func(*target) error {
		cmd := exec.Command("sleep", "600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		return cmd.Process.Kill()
	}},
	{name: "reading the memory of its own", permitted: true, do: func(*target) error {
		var from, to [1]byte
		local := []unix.Iovec{{Base: &to[0], Len: 1}}
		remote := []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&from)), Len: 1}}
		_, err := unix.ProcessVMReadv(os.Getpid(), local, remote, 0)
		return err
	}},
	{name: "a pidfd of a child", permitted: true, do: func(*target) error {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			return err
		}
		fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
		if err != nil {
			return err
		}
		sent := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		if sent == unix.ENOSYS { // as on Linux before 5.1: programs use kill
			sent = unix.Kill(cmd.Process.Pid, unix.SIGKILL)
		}
		return errors.Join(sent, ignoreSignal(cmd.Wait()))
	}},
	{name: "memory that is a file, and is executed", permitted: true, do: func(*target) error {
		fd, err := unix.MemfdCreate("x", 0)
		if err != nil {
			return err
		}
		program, err := os.ReadFile("/bin/true")
		if err != nil {
			return err
		}
		if _, err := unix.Write(fd, program); err != nil {
			return err
		}
		return exec.Command(fmt.Sprintf("/proc/self/fd/%d", fd)).Run()
	}},
	{name: "a terminal of its own", permitted: true, private: true, do: func(*target) error {
		_, err := openTerminal()
		return err
	}},
	{name: "a lower limit of open files", permitted: true, do: func(*target) error {
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: 100})
	}},
	{name: "looking at the limits of its own", permitted: true, do: func(*target) error {
		return unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, new(unix.Rlimit))
	}},
	{name: "the devices that hold nothing", permitted: true, do: func(*target) error {
		for _, path := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
			if err := errors.Join(openToWrite(path)); err != nil {
				return err
			}
		}
		return readSome("/dev/urandom")
	}},
	{name: "a random number, a clock and a wait", permitted: true, do: func(*target) error {
		_, err := unix.Getrandom(make([]byte, 8), 0)
		time.Sleep(time.Millisecond)
		return err
	}},
	{name: "no privilege that it had not", permitted: true, do: func(*target) error {
		status, err := os.ReadFile("/proc/self/status")
		if err == nil && !bytes.Contains(status, []byte("NoNewPrivs:\t1\n")) {
			err = errors.New("no_new_privs is not set")
		}
		return err
	}},
}

// auxiliaryAttempts are parts of checks that need more than an attempt.
var auxiliaryAttempts = []attempt{
	{name: "have the parent trace it and sleep", do: func(t *target) error {
		path, err := exec.LookPath("sleep")
		if err != nil {
			return err
		}
		runtime.LockOSThread()
		if err := sys(unix.SYS_PTRACE, unix.PTRACE_TRACEME); err != nil {
			return err
		}
		return unix.Exec(path, []string{"sleep", t.Socket}, nil) // it stops there
	}},
	{name: "dial", do: func(t *target) error {
		network, address, _ := strings.Cut(t.Socket, ":")
		return dial(network, address)
	}},
	{name: "serve once", do: func(t *target) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		if err := os.WriteFile(t.Workspace+"/address", []byte(l.Addr().String()+"\n"), 0o600); err != nil {
			return err
		}
		_, err = l.Accept()
		return err
	}},
	{name: "write into a directory that is swapped", do: func(t *target) error {
		directory, link := t.Workspace+"/directory", t.Workspace+"/link"
		if err := errors.Join(os.Mkdir(directory, 0o755), os.Symlink(t.Outside, link)); err != nil {
			return err
		}
		swapped := make(chan error)
		go func() {
			for range 2000 {
				if err := unix.Renameat2(unix.AT_FDCWD, directory, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE); err != nil {
					swapped <- err
					return
				}
			}
			swapped <- nil
		}()
		for {
			os.WriteFile(directory+"/new", []byte("escaped\n"), 0o644)
			select {
			case err := <-swapped:
				return err
			default:
			}
		}
	}},
	{name: "spawn 100", do: func(t *target) error {
		started := 0
		var last error
		for range 100 {
			if err := exec.Command("sleep", t.Socket).Start(); err != nil {
				last = err
				continue
			}
			started++
		}
		if last == nil {
			return nil
		}
		return fmt.Errorf("%d started, then %w", started, last)
	}},
	{name: "gain by a set-user-ID program", do: func(t *target) error {
		cmd := exec.Command(t.Socket)
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		defer in.Close()
		if err := cmd.Start(); err != nil {
			return err
		}
		defer cmd.Process.Kill()
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			return err
		}
		if !bytes.Contains(status, fmt.Appendf(nil, "Uid:\t%d\t%d\t%d\t", os.Getuid(), os.Getuid(), os.Getuid())) {
			return nil
		}
		return errors.New("it runs as the user that started it")
	}},
}

// dial connects, and for datagrams sends.
func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, 10*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("hello\n"))
	return err
}

func serveAndDial(address string) error {
	l, err := net.Listen("unix", address)
	if err != nil {
		return err
	}
	defer l.Close()
	return dial("unix", address)
}

// fileIn makes a file in a directory.
func fileIn(dir string) (string, error) {
	return dir + "/file", os.WriteFile(dir+"/file", []byte("text"), 0o600)
}

// ignoreSignal drops the error of a wait for what was killed.
func ignoreSignal(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}
