//go:build unix

package subprocesstest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"hardshell/subprocess"
)

// processChecks are about what a child must not take from this process, and
// what it must. They change this process for a moment.
func processChecks() []check {
	return []check{
		{"ignored signals are not inherited", ignoredSignals},
		{"blocked signals are not inherited", blockedSignals},
		{"descriptors without close-on-exec are not inherited", strayDescriptors},
		{"a raised limit of open files is not inherited", originalLimit},
		{"a loose umask does not open the spill files", looseUmask},
		{"a working directory that is gone gives an error or a run", deletedDirectory},
		{"without an ambient environment this process's own counts", ownEnvironment},
		{"an inherited PWD does not rename the workdir", inheritedPWD},
		{"the temporary directory stays clean until something spills", temporaryDirectory},
	}
}

// signalsOf returns the sets of signals that a leader starts with, in the
// notation of /proc/PID/status.
func (f *fixture) signalsOf(h subprocess.Handle) (blocked, ignored string) {
	f.Helper()
	for line := range strings.Lines(stdout(h)) {
		if set, ok := strings.CutPrefix(line, "SigBlk:"); ok {
			blocked = strings.TrimSpace(set)
		}
		if set, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			ignored = strings.TrimSpace(set)
		}
	}
	return blocked, ignored
}

const noSignals = "0000000000000000"

// A harness that was started with nohup, or in the background of a plain
// shell, ignores signals that its commands must not ignore.
func ignoredSignals(f *fixture) {
	f.needProcfs()
	const inside = "SUBPROCESSTEST_IGNORES_SIGNALS"
	if os.Getenv(inside) == "" {
		f.again(inside, "trap '' HUP INT QUIT PIPE USR1")
		return
	}
	h := f.run(f.program("cat", "/proc/self/status"))
	if blocked, ignored := f.signalsOf(h); blocked != noSignals || ignored != noSignals {
		f.Errorf("the child starts with the signals %s blocked and %s ignored, want none", blocked, ignored)
	}
	f.expectSignal(f.run(f.bash("kill -HUP $$; exit 3")), "SIGHUP")
}

// again runs this check in a process of its own, which finds the variable set,
// after a line of shell: Go cannot take back that it ignores a signal.
func (f *fixture) again(variable, line string) {
	f.Helper()
	var pattern []string
	for name := range strings.SplitSeq(f.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(name)+"$")
	}
	cmd := exec.Command("bash", "-c", line+`; exec "$@"`, "bash", os.Args[0],
		"-test.run="+strings.Join(pattern, "/"), "-test.timeout=2m")
	cmd.Env = append(os.Environ(), variable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Errorf("%v:\n%s", err, out)
	}
}

// strayDescriptors leaves open what other code of this process might: plain
// descriptors that an exec would pass on.
func strayDescriptors(f *fixture) {
	f.needProcfs()
	null, err := os.Open(os.DevNull)
	if err != nil {
		f.Fatal(err)
	}
	defer null.Close()
	for range 100 {
		fd, err := syscall.Dup(int(null.Fd())) // dup(2) clears close-on-exec
		if err != nil {
			f.Fatal(err)
		}
		defer syscall.Close(fd)
	}
	const list = `for n in {0..254}; do [ -e /dev/fd/$n ] && echo $n; done` // bash looks by itself
	f.expectStdout(f.run(f.bash(list)), "0\n1\n2\n")

	spec := f.bash(list)
	spec.ExtraFiles = []*os.File{null}
	f.expectStdout(f.run(spec), "0\n1\n2\n3\n")

	spec = f.bash(list)
	spec.Stdin.Mode = subprocess.StdinInherit
	spec.Stderr = subprocess.Output{Mode: subprocess.OutputInherit}
	f.expectStdout(f.run(spec), "0\n1\n2\n")
}

// originalLimit begins with a low limit, which the Go runtime raises for itself
// when it starts: programs that use select(2) cannot live with a high one.
func originalLimit(f *fixture) {
	const inside = "SUBPROCESSTEST_LOW_LIMIT"
	if os.Getenv(inside) == "" {
		f.again(inside, "ulimit -Sn 256")
		return
	}
	f.expectStdout(f.run(f.bash("ulimit -Sn")), "256\n")
}

func looseUmask(f *fixture) {
	defer syscall.Umask(syscall.Umask(0))
	f.use(Options{})
	path := collected(f.cat(numbered(100))).SpillPath
	if path == "" {
		f.Fatal("there is no spill file")
	}
	defer os.RemoveAll(filepath.Dir(path))
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
		info, err := os.Lstat(name)
		if err != nil {
			f.Fatal(err)
		}
		if info.Mode() != want {
			f.Errorf("%s has the mode %v, want %v", name, info.Mode(), want)
		}
	}
}

func deletedDirectory(f *fixture) {
	back := workingDirectory(f.T)
	gone := f.path("gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.Chdir(gone); err != nil {
		f.Fatal(err)
	}
	defer os.Chdir(back)
	if err := os.Remove(gone); err != nil {
		f.Fatal(err)
	}
	for _, dir := range []string{"", ".", "below", f.Dir} {
		spec := f.program("true")
		spec.Dir = dir
		h, err := f.Runtime.Spawn(context.Background(), spec)
		switch {
		case err == nil:
			f.await(h)
			f.expectCode(h, 0)
			if dir == "below" {
				f.Error("a child starts in a directory that is not there")
			}
		case dir == f.Dir:
			f.Errorf("Spawn in a workdir of its own = %v, want no error", err)
		case err.Error() == "":
			f.Error("the error says nothing")
		}
	}
}

func ownEnvironment(f *fixture) {
	f.Setenv("SUBPROCESSTEST_PLAIN", "plain")
	f.Setenv("SUBPROCESSTEST_TOKEN", "secret")
	f.Setenv("DSH_SUBPROCESSTEST", "stale")
	f.use(Options{SpillDir: f.SpillDir, Ambient: nil})
	spec := f.bash(`echo "${SUBPROCESSTEST_PLAIN-absent} ${SUBPROCESSTEST_TOKEN-absent} ${DSH_SUBPROCESSTEST-absent}"`)
	f.expectStdout(f.run(spec), "plain absent absent\n")
	f.Setenv("SUBPROCESSTEST_PLAIN", "changed")
	f.expectStdout(f.run(spec), "changed absent absent\n")
	if os.Getenv("SUBPROCESSTEST_TOKEN") != "secret" || os.Getenv("DSH_SUBPROCESSTEST") != "stale" {
		f.Error("this process's own environment has changed")
	}
}

// A shell believes a PWD that leads to where it is, whatever its spelling.
func inheritedPWD(f *fixture) {
	base, err := filepath.EvalSymlinks(f.Dir)
	if err != nil {
		f.Fatal(err)
	}
	if err := os.Mkdir(base+"/real", 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.Symlink("real", base+"/link"); err != nil {
		f.Fatal(err)
	}
	f.Setenv("PWD", base+"/link")
	spec := f.bash("pwd")
	spec.Dir = base + "/real"
	f.expectStdout(f.run(spec), base+"/real\n")
}

func temporaryDirectory(f *fixture) {
	f.Setenv("TMPDIR", f.Dir)
	f.use(Options{})
	spec := f.program("echo", "hi")
	spec.Stdout.Spill = &subprocess.Spill{MaxBytes: 1 << 20}
	f.run(spec)
	f.close()
	if entries, err := os.ReadDir(f.Dir); err != nil || len(entries) != 0 {
		f.Errorf("the temporary directory holds %v (%v), want nothing", entries, err)
	}
}
