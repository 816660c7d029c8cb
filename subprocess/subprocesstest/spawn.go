//go:build unix

package subprocesstest

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hardshell/subprocess"
)

// spawnChecks are about what a child finds when it starts.
func spawnChecks() []check {
	return []check{
		{"no shell reads the arguments", argumentsAreLiteral},
		{"the child leads a session and a group of its own", leadsItsSession},
		{"the child has no controlling terminal", hasNoTerminal},
		{"an ignored stream is the null device", ignoredStreamsAreNull},
		{"every other stream is a fifo", streamsAreFifos},
		{"the names of the streams under dev work", deviceNamesWork},
		{"each stream shows the surface of its mode and no other", surfacesFollowTheModes},
		{"a conversation over pipes", conversationOverPipes},
		{"a piped output that nobody reads does not hold back Done", unreadPipeDoesNotHoldDone},
		{"a piped output is complete and ends when read after Done", pipeIsReadableAfterDone},
		{"closing a piped output is seen by the writer", closedPipeEndsTheWriter},
		{"an inherited stream is this process's own", inheritedStreamsAreOurs},
		{"extra files are the descriptors from three on", extraFilesFollow},
		{"only the standard streams reach the child", onlyStandardStreams},
		{"a workdir is entered physically", workdirIsPhysical},
		{"a relative workdir is taken from this process's own", relativeWorkdir},
		{"no workdir is this process's own", noWorkdir},
		{"a workdir may go while the command runs", workdirRemovedUnderIt},
		{"a program with a slash is taken from the workdir", programFromWorkdir},
		{"a script runs through its interpreter", scriptWithInterpreter},
		{"many children at once keep apart", manyAtOnce},
	}
}

func argumentsAreLiteral(f *fixture) {
	h := f.run(f.program("printf", "%s|", "$HOME", "a  b", "*", "", `"'`, "`id`", "a\nb"))
	f.expectCode(h, 0)
	f.expectStdout(h, "$HOME|a  b|*||\"'|`id`|a\nb|")
}

func leadsItsSession(f *fixture) {
	f.needProcfs()
	h := f.run(f.program("cat", "/proc/self/stat"))
	fields := strings.Fields(stdout(h))
	if len(fields) < 7 {
		f.Fatalf("stdout is no stat line: %q", stdout(h))
	}
	pid := strconv.Itoa(h.PID())
	for i, name := range map[int]string{0: "process", 4: "group", 5: "session"} {
		if fields[i] != pid {
			f.Errorf("the %s id is %s, want the handle's %s", name, fields[i], pid)
		}
	}
}

func hasNoTerminal(f *fixture) {
	h := f.run(f.bash(`read -r x </dev/tty && echo terminal`))
	f.expectCode(h, 1)
	f.expectStdout(h, "")
	if procfs() {
		h = f.run(f.program("cat", "/proc/self/stat"))
		if fields := strings.Fields(stdout(h)); len(fields) < 7 || fields[6] != "0" {
			f.Errorf("the stat line names a terminal: %q", stdout(h))
		}
	}
}

func ignoredStreamsAreNull(f *fixture) {
	spec := f.bash(`for n in 0 1 2; do [ /dev/fd/$n -ef /dev/null ] && echo $n >>"$dir/null"; done; cat; echo x; exit 4`)
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputIgnore}
	spec.Stderr = spec.Stdout
	f.expectCode(f.run(spec), 4)
	if got := f.read("null"); got != "0\n1\n2\n" {
		f.Errorf("the null device stands at the descriptors %q, want all three", got)
	}
}

const fifoScript = `for n in 0 1 2; do [ -p /dev/fd/$n ] && echo $n >>"$dir/fifo"; done; cat >/dev/null`

func streamsAreFifos(f *fixture) {
	spec := f.bash(fifoScript)
	spec.Stdin = data("")
	f.run(spec)

	spec = f.bash(fifoScript)
	spec.Stdin.Mode = subprocess.StdinPipe
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputPipe}
	spec.Stderr = spec.Stdout
	h := f.start(spec)
	f.closeAll(h.Stdin(), h.Output(subprocess.Stdout), h.Output(subprocess.Stderr))
	f.await(h)
	if got, want := f.read("fifo"), strings.Repeat("0\n1\n2\n", 2); got != want {
		f.Errorf("collected and then piped streams are fifos at the descriptors %q, want %q", got, want)
	}
}

func (f *fixture) closeAll(closers ...io.Closer) {
	f.Helper()
	for _, c := range closers {
		if c == nil {
			f.Fatal("a piped stream has no end for the caller")
		}
		if err := c.Close(); err != nil {
			f.Errorf("closing the caller's end: %v", err)
		}
	}
}

func deviceNamesWork(f *fixture) {
	spec := f.bash(`cat /dev/stdin; echo out >/dev/stdout; echo err >/dev/stderr; echo both | tee /dev/stderr`)
	spec.Stdin = data("in\n")
	h := f.run(spec)
	f.expectCode(h, 0)
	f.expectStdout(h, "in\nout\nboth\n")
	f.expectStderr(h, "err\nboth\n")
}

func surfacesFollowTheModes(f *fixture) {
	spec := f.bash(`echo out; echo err >&2`)
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputIgnore}
	h := f.run(spec)
	if h.Stdin() != nil || h.Output(subprocess.Stdout) != nil || h.Output(subprocess.Stderr) != nil {
		f.Errorf("ends for the caller without a pipe: %v, %v, %v",
			h.Stdin(), h.Output(subprocess.Stdout), h.Output(subprocess.Stderr))
	}
	if h.Reader(subprocess.Stdout) != nil || h.Reader(subprocess.Stderr) == nil {
		f.Errorf("readers are %v and %v, want one of stderr only", h.Reader(subprocess.Stdout), h.Reader(subprocess.Stderr))
	}
	f.expectStderr(h, "err\n")

	spec = f.bash(`cat`)
	spec.Stdin = data("x")
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputPipe}
	h = f.start(spec)
	if h.Stdin() != nil {
		f.Errorf("Stdin = %v for an input of data, want nil", h.Stdin())
	}
	if h.Output(subprocess.Stdout) == nil || h.Reader(subprocess.Stdout) != nil {
		f.Errorf("a piped stdout shows Output %v and Reader %v", h.Output(subprocess.Stdout), h.Reader(subprocess.Stdout))
	}
	f.closeAll(h.Output(subprocess.Stdout))
	f.await(h)
}

func conversationOverPipes(f *fixture) {
	spec := f.bash(`while read -r line; do echo "got $line"; echo "log $line" >&2; done; echo end`)
	spec.Stdin.Mode = subprocess.StdinPipe
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputPipe}
	h := f.start(spec)
	out := h.Output(subprocess.Stdout)
	defer out.Close()
	for _, word := range []string{"one", "two"} {
		if _, err := io.WriteString(h.Stdin(), word+"\n"); err != nil {
			f.Fatal(err)
		}
		want := "got " + word + "\n"
		got := make([]byte, len(want))
		if _, err := io.ReadFull(out, got); err != nil || string(got) != want {
			f.Fatalf("the child answers %q (%v), want %q", got, err, want)
		}
	}
	f.closeAll(h.Stdin())
	if rest, err := io.ReadAll(out); err != nil || string(rest) != "end\n" {
		f.Errorf("the rest is %q (%v), want %q and its end", rest, err, "end\n")
	}
	f.await(h)
	f.expectCode(h, 0)
	f.expectStderr(h, "log one\nlog two\n")
}

func unreadPipeDoesNotHoldDone(f *fixture) {
	spec := f.bash(`echo hi; sleep "$marker" & exit 3`)
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputPipe}
	h := f.run(spec)
	defer h.Output(subprocess.Stdout).Close()
	f.expectCode(h, 3)
}

func pipeIsReadableAfterDone(f *fixture) {
	spec := f.bash(`echo hi; echo late >&2`)
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputPipe}
	spec.Stderr = spec.Stdout
	h := f.run(spec)
	for stream, want := range map[subprocess.Stream]string{subprocess.Stdout: "hi\n", subprocess.Stderr: "late\n"} {
		got, err := io.ReadAll(h.Output(stream))
		if err != nil || string(got) != want {
			f.Errorf("%s reads %q (%v), want %q", stream, got, err, want)
		}
		f.closeAll(h.Output(stream))
	}
}

func closedPipeEndsTheWriter(f *fixture) {
	spec := f.program("head", "-c", "100000000", "/dev/zero")
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputPipe}
	h := f.start(spec)
	f.closeAll(h.Output(subprocess.Stdout))
	f.await(h)
	f.expectSignal(h, "SIGPIPE")
}

func inheritedStreamsAreOurs(f *fixture) {
	f.needProcfs()
	// The leader's descriptors, looked at from a child of its own: nothing is
	// written to the streams of the test.
	spec := f.bash(`for n in 0 1; do stat -Lc %d:%i /proc/$$/fd/$n >&2; done`)
	spec.Stdin.Mode = subprocess.StdinInherit
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputInherit}
	h := f.run(spec)
	if h.Stdin() != nil || h.Output(subprocess.Stdout) != nil || h.Reader(subprocess.Stdout) != nil {
		f.Error("an inherited stream has a surface")
	}
	f.expectStderr(h, identity(f.T, 0)+identity(f.T, 1))
}

func extraFilesFollow(f *fixture) {
	var files []*os.File
	for _, name := range []string{"three", "four"} {
		if err := os.WriteFile(f.path(name), []byte(name+"\n"), 0o600); err != nil {
			f.Fatal(err)
		}
		file, err := os.Open(f.path(name))
		if err != nil {
			f.Fatal(err)
		}
		defer file.Close()
		files = append(files, file)
	}
	spec := f.bash(`cat <&3; cat <&4; [ -e /dev/fd/5 ] && echo five; exit 0`)
	spec.ExtraFiles = files
	h := f.run(spec)
	f.expectStdout(h, "three\nfour\n")
	for _, file := range files {
		if _, err := file.Stat(); err != nil {
			f.Errorf("the caller's own file was closed: %v", err)
		}
	}
}

func onlyStandardStreams(f *fixture) {
	f.needProcfs()
	h := f.run(f.program("ls", "/proc/self/fd"))
	// Number 3 is the directory that ls itself reads.
	f.expectStdout(h, "0\n1\n2\n3\n")
}

func workdirIsPhysical(f *fixture) {
	if err := os.MkdirAll(f.path("real/sub"), 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.Symlink("real/sub", f.path("link")); err != nil {
		f.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(f.Dir)
	if err != nil {
		f.Fatal(err)
	}
	for dir, want := range map[string]string{
		f.path("link"):       base + "/real/sub",
		f.Dir + "/link/..":   base + "/real", // lexically it would be the directory above
		f.path("real") + "/": base + "/real",
	} {
		spec := f.program("/bin/pwd", "-P")
		spec.Dir = dir
		f.expectStdout(f.run(spec), want+"\n")
	}
	// A shell takes link/.. out of PWD as text, when PWD has it.
	spec := f.bash("cd . && pwd")
	spec.Dir = f.Dir + "/link/.."
	f.expectStdout(f.run(spec), base+"/real\n")
}

func relativeWorkdir(f *fixture) {
	cwd, err := filepath.EvalSymlinks(workingDirectory(f.T))
	if err != nil {
		f.Fatal(err)
	}
	spec := f.program("/bin/pwd", "-P")
	spec.Dir = ".."
	f.expectStdout(f.run(spec), filepath.Dir(cwd)+"\n")
}

func noWorkdir(f *fixture) {
	cwd, err := filepath.EvalSymlinks(workingDirectory(f.T))
	if err != nil {
		f.Fatal(err)
	}
	f.expectStdout(f.run(f.program("/bin/pwd", "-P")), cwd+"\n")
}

func workdirRemovedUnderIt(f *fixture) {
	dir := f.path("work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	spec := f.bash(`await gone; /bin/pwd 2>/dev/null; echo "rc=$?"`)
	spec.Dir = dir
	h := f.start(spec)
	if err := os.Remove(dir); err != nil {
		f.Fatal(err)
	}
	f.touch("gone")
	f.await(h)
	f.expectCode(h, 0)
	f.expectStdout(h, "rc=1\n")
}

func programFromWorkdir(f *fixture) {
	if err := os.MkdirAll(f.path("bin"), 0o700); err != nil {
		f.Fatal(err)
	}
	f.script("bin/tool", "echo \"tool $1\"")
	for _, argv := range [][]string{{"./bin/tool", "a"}, {"bin/tool", "b"}} {
		spec := f.program(argv...)
		spec.Dir = f.Dir
		f.expectStdout(f.run(spec), "tool "+argv[1]+"\n")
	}
}

func scriptWithInterpreter(f *fixture) {
	f.script("tool", `printf '%s|' "$@"`)
	f.expectStdout(f.run(f.program(f.path("tool"), "a b", "$c")), "a b|$c|")
}

// script makes an executable file in the check's directory.
func (f *fixture) script(name, body string) {
	f.Helper()
	writeExecutable(f.T, f.path(name), "#!/bin/sh\n"+body+"\n")
}

func manyAtOnce(f *fixture) {
	var handles []subprocess.Handle
	for i := range 30 {
		n := strconv.Itoa(i)
		spec := f.bash(`read -r x; echo "$x $N"; exit $N`)
		spec.Env = map[string]string{"N": n}
		spec.Stdin = data("line " + n + "\n")
		handles = append(handles, f.start(spec))
	}
	var ids []int
	for i, h := range handles {
		f.await(h)
		n := strconv.Itoa(i)
		f.expectCode(h, i)
		f.expectStdout(h, "line "+n+" "+n+"\n")
		ids = append(ids, h.PID())
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(handles) {
		f.Errorf("%d handles share process ids: %v", len(handles), ids)
	}
}
