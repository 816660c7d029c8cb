package native_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/internal/landlock"
	"hardshell/sandbox"
	"hardshell/sandbox/native"
	"hardshell/sandbox/sandboxtest"
	"hardshell/subprocess"
	"hardshell/subprocess/local"
)

// A host that refuses something is made of this one by a filter of system calls,
// in a process of its own.

// refusal is a system call that a host refuses.
type refusal struct {
	nr    uint32
	flags uint32 // refused only with one of these in the first argument; 0: always
	errno syscall.Errno
}

const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET

var (
	noUserNamespaces = []refusal{
		{unix.SYS_CLONE, unix.CLONE_NEWUSER, unix.EPERM}, {unix.SYS_UNSHARE, unix.CLONE_NEWUSER, unix.EPERM}, {unix.SYS_CLONE3, 0, unix.ENOSYS},
	}
	noMounts = []refusal{
		{unix.SYS_MOUNT, 0, unix.EPERM}, {unix.SYS_MOVE_MOUNT, 0, unix.EPERM}, {unix.SYS_OPEN_TREE, 0, unix.EPERM}, {unix.SYS_MOUNT_SETATTR, 0, unix.EPERM},
	}
	asDocker = append([]refusal{
		{unix.SYS_CLONE, namespaces, unix.EPERM}, {unix.SYS_UNSHARE, 0, unix.EPERM}, {unix.SYS_SETNS, 0, unix.EPERM}, {unix.SYS_CLONE3, 0, unix.ENOSYS},
	}, noMounts...)
	noLandlock = []refusal{
		{unix.SYS_LANDLOCK_CREATE_RULESET, 0, unix.ENOSYS}, {unix.SYS_LANDLOCK_ADD_RULE, 0, unix.ENOSYS}, {unix.SYS_LANDLOCK_RESTRICT_SELF, 0, unix.ENOSYS},
	}
	noExecutableMemory = []refusal{{unix.SYS_MEMFD_CREATE, 0, unix.EACCES}}
	oldMounts          = []refusal{{unix.SYS_MOUNT_SETATTR, 0, unix.ENOSYS}, {unix.SYS_OPEN_TREE, 0, unix.ENOSYS}}
)

// host is a host that is made.
type host struct {
	name    string
	refuses []refusal
	layers  int // rulesets of Landlock that are in force already
	inside  bool
	// root and user are the tiers that root and others get there; "" is a
	// refusal that says the words.
	root, user sandbox.Tier
	words      string
	unix       sandbox.Enforcement // what is enforced of Unix sockets, where that matters
}

func hosts() []host {
	const (
		t1, t2, t0 = sandbox.TierNamespaces, sandbox.TierRoot, sandbox.TierLandlock
	)
	return []host{
		{name: "nothing refused", root: t1, user: t1},
		{name: "no user namespaces", refuses: noUserNamespaces, root: t2, user: t0},
		{name: "as in Docker", refuses: asDocker, root: t0, user: t0},
		{name: "user namespaces that may not mount, as with AppArmor", refuses: noMounts, root: t0, user: t0},
		{name: "an old kernel", refuses: oldMounts, root: t0, user: t0},
		{name: "no executable memory files", refuses: noExecutableMemory, root: t0, user: t0},
		{name: "no Landlock", refuses: noLandlock, root: t1, user: t1, unix: sandbox.Partial},
		{name: "no Landlock and no user namespaces", refuses: append(noUserNamespaces, noLandlock...), root: t2, words: "the kernel has no Landlock"},
		{name: "nothing at all", refuses: append(asDocker, noLandlock...), words: "the kernel has no Landlock"},
		{name: "no namespaces, and no more layers of Landlock", refuses: asDocker, layers: 16, words: "sixteen sandboxes are nested already"},
		{name: "inside of a sandbox", inside: true, root: t0, user: t0},
	}
}

// outcome is what a provider gave on a host.
type outcome struct {
	Code    fault.Code
	Message string
	Report  sandbox.Report
	Inside  string // what a command printed
}

func TestEveryHostGetsTheRightTierOrARefusal(t *testing.T) {
	requireTier(t, sandbox.TierNamespaces)
	for _, h := range hosts() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			users := []int{os.Geteuid()}
			if os.Geteuid() == 0 {
				users = append(users, 65534)
			}
			for _, uid := range users {
				want := h.user
				if uid == 0 {
					want = h.root
				}
				got := onHost(t, h, uid)
				switch {
				case want == "":
					if got.Code != fault.SandboxUnavailable || !strings.Contains(got.Message, h.words) || got.Inside != "" {
						t.Errorf("uid %d: %+v, want a refusal that says %q", uid, got, h.words)
					}
					for _, word := range []string{`"workspace-write"`, "was not run unconfined", string(sandbox.DangerFullAccess)} {
						if !strings.Contains(got.Message, word) {
							t.Errorf("uid %d: the refusal does not say %s: %s", uid, word, got.Message)
						}
					}
				case got.Code != "" || got.Report.Tier != want || got.Inside != "written 1":
					t.Errorf("uid %d: %+v, want tier %s", uid, got, want)
				case h.unix != "" && got.Report.Effects.Unix != h.unix:
					t.Errorf("uid %d: Unix sockets are enforced %q, want %q", uid, got.Report.Effects.Unix, h.unix)
				}
			}
		})
	}
}

// requireTier skips a test on a host that lacks what it is made of.
func requireTier(t *testing.T, tier sandbox.Tier) {
	t.Helper()
	provider, err := native.New(native.Config{Home: filepath.Join(t.TempDir(), "home"), Tiers: []sandbox.Tier{tier}})
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	_, err = provider.Confine(t.Context(), sandbox.Policy{Mode: sandbox.ReadOnly, WorkspaceRoot: "/"})
	sandboxtest.Need(t, tier, err)
}

// onHost runs this test binary on a host, as a user.
func onHost(t *testing.T, h host, uid int) outcome {
	t.Helper()
	// Outside of /tmp, which is another one inside of a sandbox.
	work, err := os.MkdirTemp("/var/lib", "hardshell-host-")
	if err != nil {
		work = t.TempDir()
	} else {
		t.Cleanup(func() { os.RemoveAll(work) })
	}
	binary := filepath.Join(work, "test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Another process writes it: a child that is being forked here would hold a
	// descriptor of ours, and execve(2) refuses what is open for writing (ETXTBSY).
	if out, err := exec.Command("cp", self, binary).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{work, filepath.Join(work, "ws")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, uid, -1); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^TestOnThisHost$")
	cmd.Dir = work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + work, hostVariable + "=" + h.name, "HARDSHELL_TEST_WORK=" + work}
	if uid != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.Output()
	if err != nil {
		stderr := ""
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = string(exit.Stderr)
		}
		t.Fatalf("uid %d: %v\n%s%s", uid, err, out, stderr)
	}
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(line, "outcome "); ok {
			var o outcome
			if err := json.Unmarshal([]byte(text), &o); err != nil {
				t.Fatal(err)
			}
			return o
		}
	}
	t.Fatalf("uid %d: no outcome:\n%s", uid, out)
	return outcome{}
}

// hostVariable names the host that a process of this test binary is to make.
const hostVariable = "HARDSHELL_TEST_HOST"

// TestOnThisHost makes the host of hostVariable of its process, and confines a
// command there.
func TestOnThisHost(t *testing.T) {
	name := os.Getenv(hostVariable)
	if name == "" {
		t.Skip("it is run by TestEveryHostGetsTheRightTierOrARefusal")
	}
	work := os.Getenv("HARDSHELL_TEST_WORK")
	var h host
	for _, candidate := range hosts() {
		if candidate.name == name {
			h = candidate
		}
	}
	var o outcome
	if h.inside && os.Getenv("HARDSHELL_TEST_INSIDE") == "" {
		o = inside(t, work)
	} else {
		if h.layers > 0 {
			nest(t, h.layers)
		}
		install(t, h.refuses)
		o = confine(t, work, filepath.Join(work, "home"), []string{"bash", "-c", "touch ws/in && printf 'written '; touch out 2>/dev/null; echo -n $?"})
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("\noutcome " + string(text) + "\n")
}

// confine runs a command in a sandbox whose workspace is work/ws.
func confine(t *testing.T, work, home string, argv []string) (o outcome) {
	provider, err := native.New(native.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	confinement, err := provider.Confine(context.Background(), sandbox.Policy{
		Mode: sandbox.WorkspaceWrite, WorkspaceRoot: filepath.Join(work, "ws"),
	})
	if err != nil {
		return outcome{Code: fault.CodeOf(err), Message: err.Error()}
	}
	o.Report = confinement.Report()
	runtime := local.New(local.Config{})
	defer runtime.Close(context.Background())
	collect := subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 1 << 20}
	child, err := runtime.Spawn(context.Background(), subprocess.Spec{
		Argv: argv, Dir: work, Stdin: subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Env:    map[string]string{"HARDSHELL_TEST_INSIDE": "1", "HARDSHELL_TEST_WORK": os.Getenv("HARDSHELL_TEST_WORK")},
		Stdout: collect, Stderr: collect, Grace: time.Second, Confinement: confinement,
	})
	if err != nil {
		return outcome{Code: fault.CodeOf(err), Message: err.Error()}
	}
	<-child.Done()
	o.Inside = child.Reader(subprocess.Stdout).Collected().Text
	if exit := child.Exit(); exit.Code != 0 {
		o.Message = child.Reader(subprocess.Stderr).Collected().Text
	}
	return o
}

// inside runs this test again in a sandbox of its own, and returns what that one
// says. Its work is below the workspace, its home too: the outer one is hidden.
func inside(t *testing.T, work string) outcome {
	inner := filepath.Join(work, "ws", "inner")
	if err := os.MkdirAll(filepath.Join(inner, "ws"), 0o755); err != nil {
		t.Fatal(err)
	}
	os.Setenv("HARDSHELL_TEST_WORK", inner)
	o := confine(t, work, filepath.Join(work, "home"), []string{filepath.Join(work, "test"), "-test.run=^TestOnThisHost$"})
	for line := range strings.Lines(o.Inside) {
		if text, ok := strings.CutPrefix(line, "outcome "); ok {
			var innermost outcome
			if err := json.Unmarshal([]byte(text), &innermost); err != nil {
				t.Fatal(err)
			}
			return innermost
		}
	}
	t.Fatalf("no outcome inside: %+v", o)
	return o
}

// install makes this process refuse system calls, on all its threads.
func install(t *testing.T, refuses []refusal) {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		anyBit = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K
	)
	var program []unix.SockFilter
	for _, r := range refuses {
		program = append(program, unix.SockFilter{Code: load, K: 0})
		if r.flags == 0 {
			program = append(program, unix.SockFilter{Code: equal, K: r.nr, Jf: 1})
		} else {
			program = append(program,
				unix.SockFilter{Code: equal, K: r.nr, Jf: 3},
				unix.SockFilter{Code: load, K: 16},
				unix.SockFilter{Code: anyBit, K: r.flags, Jf: 1})
		}
		program = append(program, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(r.errno)})
	}
	program = append(program, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	prog := &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(prog))); errno != 0 {
		t.Fatal(errno)
	}
}

// nest begins this process anew under rulesets of Landlock that allow everything.
func nest(t *testing.T, layers int) {
	const nested = "HARDSHELL_TEST_NESTED"
	if os.Getenv(nested) != "" {
		return
	}
	abi, err := landlock.ABI()
	if err != nil {
		t.Skip("there is no Landlock")
	}
	runtime.LockOSThread() // the thread that is restricted is the one that goes on
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	for range layers {
		rules, err := landlock.New(landlock.Handled{Files: landlock.WriteRights(abi)})
		if err != nil {
			t.Fatal(err)
		}
		if err := rules.Allow("/", landlock.WriteRights(abi)); err != nil {
			t.Fatal(err)
		}
		if err := rules.RestrictThread(); err != nil {
			t.Fatal(err)
		}
		rules.Close()
	}
	t.Fatal(syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), nested+"=1")))
}
