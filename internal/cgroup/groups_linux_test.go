package cgroup

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/spawn"
)

func TestMemoryIsWhatNoFileHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stat string
		want int64
		ok   bool
	}{
		"anonymous and shared":         {"anon 4096\nfile 999\nkernel 999\nshmem 8192\nfile_mapped 999\nanon_thp 999\nshmem_thp 999\n", 12288, true},
		"nothing":                      {"anon 0\nfile 0\nshmem 0\n", 0, true},
		"not without the shared":       {"anon 4096\nfile 0\n", 0, false},
		"not with what is no number":   {"anon x\nshmem 0\n", 0, false},
		"not with less than nothing":   {"anon -1\nshmem 0\n", 0, false},
		"not with too large a sum":     {"anon 9223372036854775807\nshmem 1\n", 0, false},
		"not from a file that is none": {"", 0, false},
	} {
		if got, ok := held(c.stat); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %d, %v, want %d, %v", name, got, ok, c.want, c.ok)
		}
	}
}

func FuzzHeld(f *testing.F) {
	f.Add("anon 1\nshmem 2\n")
	f.Fuzz(func(t *testing.T, stat string) {
		if n, ok := held(stat); ok && n < 0 {
			t.Errorf("%d bytes", n)
		}
	})
}

func TestNoGroupForWhatCouldChangeIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		writable []string
		refused  bool
	}{
		"a directory beside it": {[]string{t.TempDir()}, false},
		"nothing":               {nil, false},
		"all":                   {[]string{"/"}, true},
		"the mount itself":      {[]string{dir}, true},
		"a group in it":         {[]string{dir + "/x"}, true},
		"another mount of it":   {[]string{"/else"}, true},
	} {
		g := with(place{dir: dir, mounts: []string{dir, "/else/cgroup"}})
		group, file, err := g.New(c.writable)
		if refused := errors.Is(err, ErrNotDelegated); refused != c.refused || !refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		file.Close()
		group.Remove()
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

// mounted is the variable that tells a child of mount where to mount.
const mounted = "HARDSHELL_TEST_CGROUP"

// mount runs the test in a process whose mounts are its own, with the hierarchy
// mounted. It returns its directory there, and "" in the process that waits.
func mount(t *testing.T, way string) string {
	t.Helper()
	if dir := os.Getenv(mounted); dir != "" {
		if err := unix.Mount("cgroup2", dir, "cgroup2", 0, ""); err != nil {
			t.Skipf("version 2 cannot be mounted: %v", err)
		}
		return dir
	}
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root may mount")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mounted+"="+t.TempDir(), "HARDSHELL_SPAWN="+way)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, unix.EPERM):
		t.Skip("skipped: no mounts of its own for a process here")
	case err != nil:
		t.Errorf("%q: %v\n%s", way, err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	default:
		t.Logf("%q: %s", way, out)
	}
	return ""
}

func TestATreeIsBornIntoItsGroup(t *testing.T) {
	dir := mount(t, "")
	if dir == "" {
		for _, way := range []string{"portable", "clone"} {
			mount(t, way)
		}
		return
	}
	groups := In(dir)
	group, place, err := groups.New(nil)
	if err != nil {
		t.Skipf("no group can be made: %v", err)
	}
	defer group.Remove()
	path := "/" + filepath.Base(group.path)
	wantIn := os.Getenv("HARDSHELL_SPAWN") != "clone" // which knows no groups
	for name, confine := range map[string]*spawn.Confine{
		"a plain child": nil, "one that forks": {Fork: true}, "one that forks late": {Fork: true, Late: true},
	} {
		if confine != nil && !spawn.CanConfine() {
			continue
		}
		in, input, _ := os.Pipe()
		output, out, _ := os.Pipe()
		child, err := spawn.Start(&spawn.Attr{
			Path: "/bin/sh", Env: os.Environ(), Files: []int{int(in.Fd()), int(out.Fd()), 2}, Cgroup: int(place.Fd()), Confine: confine,
			Argv: []string{"sh", "-c", `a=$(head -c 1000000 /dev/zero | tr '\0' x)
				grep ^0:: /proc/$$/cgroup; setsid grep ^0:: /proc/self/cgroup; ls /proc/self/fd | wc -l; read x`},
		})
		in.Close()
		out.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lines := bufio.NewScanner(output)
		next := func() string { lines.Scan(); return lines.Text() }
		own, left, descriptors := next(), next(), next()
		if child.InCgroup() != wantIn || (own == "0::"+path) != wantIn || left != own || descriptors != "4" {
			t.Errorf("%s: in a group: %v; it is in %q, what left its session in %q, want %q; %s descriptors",
				name, child.InCgroup(), own, left, path, descriptors)
		}
		n, ok := group.Memory()
		if hasMemory := has(dir); wantIn && (ok != hasMemory || ok && (n < 1000000 || n > 100000000)) {
			t.Errorf("%s: memory is %d, %v; the controller is there: %v", name, n, ok, hasMemory)
		}
		if wantIn {
			group.Remove()
			if _, err := os.Stat(group.path); err != nil {
				t.Errorf("%s: the group of what lives is gone: %v", name, err)
			}
		}
		input.Close()
		child.WaitExit()
		child.Reap()
		output.Close()
	}
	place.Close()
	group.Remove()
	// A kernel may count a process out of its group a moment after it is reaped.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		groups.Close()
		if _, err := os.Stat(group.path); errors.Is(err, os.ErrNotExist) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the group is left")
		}
	}
}

func TestAGroupThatIsGoneKeepsNothingFromStarting(t *testing.T) {
	dir := mount(t, "")
	if dir == "" {
		mount(t, "portable")
		return
	}
	group, place, err := In(dir).New(nil)
	if err != nil {
		t.Skipf("no group can be made: %v", err)
	}
	defer place.Close()
	group.Remove()
	child, err := spawn.Start(&spawn.Attr{Path: "/bin/true", Argv: []string{"true"}, Files: []int{0, 1, 2}, Cgroup: int(place.Fd())})
	if err != nil {
		t.Fatal(err)
	}
	child.WaitExit()
	if status := child.Reap(); status.Code != 0 || child.InCgroup() {
		t.Errorf("%+v, in a group: %v", status, child.InCgroup())
	}
	again, err := spawn.Start(&spawn.Attr{Path: "/nothing", Argv: []string{"x"}, Cgroup: int(place.Fd())})
	var failed *spawn.Error
	if !errors.As(err, &failed) || failed.Stage != spawn.StageExec || failed.Errno != unix.ENOENT {
		t.Errorf("%v, %v", again, err)
	}
}
