package sandboxtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hardshell/sandbox"
)

// attempt is something that the test binary tries from inside of a sandbox.
type attempt struct {
	name string
	// do returns nil when the attempt succeeded.
	do func(*target) error
	// permitted marks what must succeed; everything else must be refused.
	permitted bool
	// private marks what works only where /dev is private.
	private bool
	// rare marks what the kernel or the host may refuse to everybody: it
	// proves nothing that it fails.
	rare bool
	// governed says how completely the confinement governs what is attempted;
	// where it does not, fully, success is tolerated. Nil is fully.
	governed func(sandbox.Effects) sandbox.Enforcement
}

// target is what an attempt is aimed at. It crosses into the sandbox as JSON.
type target struct {
	Workspace, Outside, Home string
	// PID is a process of the host, Harness the test itself.
	PID, Harness int
	// PIDNamespace is the pid namespace of the host, as /proc names it.
	PIDNamespace string
	// Disks are the paths and numbers of the host's block devices.
	Disks map[string]uint64
	// Socket is a host's Unix socket.
	Socket string
}

// report is what an attempt came to.
type report struct {
	Done  bool
	Error string
}

// attemptWord is the first argument of a test binary that is to attempt.
const attemptWord = "sandboxtest-attempt"

// attemptIfAsked makes the attempt that the arguments name, and ends.
func attemptIfAsked() {
	if len(os.Args) != 4 || os.Args[1] != attemptWord {
		return
	}
	var t target
	if err := json.Unmarshal([]byte(os.Args[3]), &t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, list := range [][]attempt{mountAttempts, namespaceAttempts, kernelAttempts, leaseAttempts, schedulingAttempts, deviceAttempts,
		processAttempts, terminalAttempts, familyAttempts, permittedAttempts, metadataAttempts, auxiliaryAttempts} {
		for _, a := range list {
			if a.name == os.Args[2] {
				var r report
				if err := a.do(&t); err != nil {
					r.Error = err.Error()
				} else {
					r.Done = true
				}
				json.NewEncoder(os.Stdout).Encode(r)
				os.Exit(0)
			}
		}
	}
	fmt.Fprintf(os.Stderr, "there is no attempt %q\n", os.Args[2])
	os.Exit(2)
}

// probeBinary copies the test binary to where every user and every sandbox may
// execute it.
func probeBinary(t *testing.T) string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(directory(t, shown()), "probe")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// attemptChecks turns attempts into checks: each is made by a confined process
// of its own, under the widest policy.
func attemptChecks(attempts []attempt) []check {
	var checks []check
	for _, a := range attempts {
		name := a.name + " is refused"
		switch {
		case a.permitted:
			name = a.name + " works"
		case a.governed != nil:
			name += " where its effect is reported as full"
		}
		checks = append(checks, check{name: name, run: a.check, rare: a.rare})
	}
	return checks
}

func (a attempt) check(f *fixture) {
	if a.private && !f.tier.namespaces {
		f.Skip("skipped: in this tier the devices are the host's")
	}
	c := f.workspaceWrite()
	s := f.newSleeper()
	f.Cleanup(func() { // what succeeded without a sandbox holds the directory
		for unix.Unmount(f.Workspace+"/point", unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) == nil {
		}
	})
	f.shareMemory()
	before := content(f.Outside)
	r := f.attempt(c, a.name, f.targetOf(s))
	tolerated := a.governed != nil && a.governed(c.Report().Effects) != sandbox.Full
	switch {
	case a.permitted && !r.Done:
		f.Errorf("refused: %s", r.Error)
	case !a.permitted && r.Done && tolerated:
		f.Log("tolerated: this succeeded, and its effect is reported as not fully enforced")
	case !a.permitted && r.Done:
		f.Error("this succeeded, want a refusal")
	}
	f.expectUnchanged(before, content(f.Outside))
	if !tolerated {
		f.expectUntouched(s)
	}
}

// attempt makes one attempt under a confinement. Death by SIGSYS is a refusal.
func (f *fixture) attempt(c sandbox.Confinement, name string, t target) report {
	f.Helper()
	result := f.run(f.program(c, f.binary, attemptWord, name, f.encode(t)))
	if result.Signal == "SIGSYS" {
		return report{Error: "killed by SIGSYS"}
	}
	var r report
	if err := json.Unmarshal([]byte(result.Stdout), &r); err != nil {
		f.Fatalf("the attempt ended with %v", result)
	}
	f.Logf("done: %t %s", r.Done, r.Error)
	return r
}

// shareMemory makes a System V segment of the host, once, whose key is the
// number of this process.
func (f *fixture) shareMemory() {
	f.shared.memory.Do(func() {
		if id, err := unix.SysvShmGet(os.Getpid(), 1, unix.IPC_CREAT|0o600); err == nil {
			f.shared.release = func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) }
		}
	})
}

// encode is a target as an argument.
func (f *fixture) encode(t target) string {
	f.Helper()
	encoded, err := json.Marshal(t)
	if err != nil {
		f.Fatal(err)
	}
	return string(encoded)
}

func (f *fixture) targetOf(s *sleeper) target {
	f.Helper()
	t := target{
		Workspace: f.Workspace, Outside: f.Outside, Home: f.Home,
		Harness: os.Getpid(), Disks: blockDevices(),
	}
	t.PIDNamespace, _ = os.Readlink("/proc/self/ns/pid")
	if s != nil {
		t.PID = s.pid
	}
	return t
}

// blockDevices are the nodes and the numbers of the host's disks.
func blockDevices() map[string]uint64 {
	found := map[string]uint64{}
	entries, _ := os.ReadDir("/dev")
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice != 0 {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && len(found) < 40 {
			found["/dev/"+entry.Name()] = st.Rdev
		}
	}
	return found
}

// escape changes a file outside.
func (t *target) escape() error {
	return os.WriteFile(t.Outside+"/file", []byte("escaped\n"), 0o644)
}

// onlyConfined refuses attempts that would take from the test what it stands on
// if they worked without a sandbox.
func onlyConfined() error {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil && !bytes.Contains(status, []byte("NoNewPrivs:\t1\n")) {
		err = errors.New("not attempted without a sandbox")
	}
	return err
}

// point makes a directory in the workspace to mount on.
func (t *target) point() string {
	dir := t.Workspace + "/point"
	os.Mkdir(dir, 0o755)
	return dir
}

// reached turns an error that only the code behind the permission checks gives
// into success: what was attempted is not refused as such.
func reached(err error, behind ...syscall.Errno) error {
	for _, errno := range behind {
		if errors.Is(err, errno) {
			return nil
		}
	}
	return err
}

// sys is a system call that gives a descriptor or a status.
func sys(number uintptr, arguments ...uintptr) error {
	var a [6]uintptr
	copy(a[:], arguments)
	_, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	return nil
}

// first returns nil when any of the attempts succeeded, else the last error.
func first(attempts ...func() error) (err error) {
	for _, attempt := range attempts {
		if err = attempt(); err == nil {
			return nil
		}
	}
	return err
}
