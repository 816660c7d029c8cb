//go:build unix

package subprocesstest

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

// refusalChecks are about spawns that fail: an error that says why, no handle,
// and nothing left behind.
func refusalChecks() []check {
	return []check{
		{"an invalid spec spawns nothing", invalidSpecs},
		{"the grace is checked first, then the context, then the arguments", refusalOrder},
		{"a context that has ended spawns nothing and tells its cause", endedContext},
		{"a workdir that is not there", missingWorkdir},
		{"a workdir that is a file", fileAsWorkdir},
		{"a workdir that may not be entered", closedWorkdir},
		{"a program that cannot be started", hopelessPrograms},
		{"a missing program is not blamed on the workdir, nor the reverse", blame},
		{"more arguments than the kernel takes", tooManyArguments},
		{"a refusal takes nothing from the caller", refusalLeavesStreamsAlone},
	}
}

// refused expects that Spawn fails with a code and spawns nothing: the spec's
// script, if it has one, would touch the file "ran".
func (f *fixture) refused(ctx context.Context, spec subprocess.Spec, code fault.Code) error {
	f.Helper()
	h, err := f.Runtime.Spawn(ctx, spec)
	if err == nil {
		f.Errorf("Spawn(%.80q in %.80q) works, want a refusal", spec.Argv, spec.Dir)
		h.Kill()
		return errors.New("no refusal")
	}
	if h != nil {
		f.Errorf("Spawn returns the handle %v beside its error", h)
	}
	if !errors.Is(err, code) {
		f.Errorf("Spawn = %v (code %q), want code %s", err, fault.CodeOf(err), code)
	}
	if f.exists("ran") {
		f.Errorf("the command ran, although Spawn said: %v", err)
	}
	f.expectGone()
	return err
}

// mentions expects words in the text of an error.
func (f *fixture) mentions(err error, words ...string) {
	f.Helper()
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			f.Errorf("the error says %q, which lacks %q", err, word)
		}
	}
}

func invalidSpecs(f *fixture) {
	for name, spoil := range map[string]func(*subprocess.Spec){
		"no grace":       func(s *subprocess.Spec) { s.Grace = 0 },
		"no arguments":   func(s *subprocess.Spec) { s.Argv = nil },
		"no program":     func(s *subprocess.Spec) { s.Argv[0] = "" },
		"a NUL":          func(s *subprocess.Spec) { s.Argv[2] += "\x00" },
		"a NUL in Dir":   func(s *subprocess.Spec) { s.Dir = "\x00" },
		"a NUL in Env":   func(s *subprocess.Spec) { s.Env = map[string]string{"A": "x\x00"} },
		"a bad name":     func(s *subprocess.Spec) { s.Env = map[string]string{"A=B": "x"} },
		"no input":       func(s *subprocess.Spec) { s.Stdin = subprocess.Stdin{} },
		"no output":      func(s *subprocess.Spec) { s.Stdout = subprocess.Output{} },
		"no window":      func(s *subprocess.Spec) { s.Stderr.MaxBytes = 0 },
		"an empty spill": func(s *subprocess.Spec) { s.Stderr.Spill = &subprocess.Spill{} },
	} {
		spec := f.bash(`touch "$dir/ran"`)
		spoil(&spec)
		err := f.refused(context.Background(), spec, fault.InvalidArgument)
		if want := spec.Validate(context.Background()); want == nil || err.Error() != want.Error() {
			f.Errorf("%s: Spawn says %q, Validate says %v", name, err, want)
		}
	}
}

func refusalOrder(f *fixture) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("too late"))
	spec := f.program()
	spec.Grace = 0
	spec.Dir = "/nonexistent"
	f.mentions(f.refused(ctx, spec, fault.InvalidArgument),
		"subprocess graceMs must be a positive finite number no greater than 2147483647")
	spec.Grace = time.Second
	f.mentions(f.refused(ctx, spec, fault.Aborted), "aborted before spawn: too late")
	f.mentions(f.refused(context.Background(), spec, fault.InvalidArgument), "non-empty program name")
	spec.Argv = []string{"true"}
	f.refused(context.Background(), spec, fault.WorkdirNotFound)
}

func endedContext(f *fixture) {
	reason := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	err := f.refused(ctx, f.bash(`touch "$dir/ran"`), fault.Aborted)
	if !errors.Is(err, reason) {
		f.Errorf("the error %v does not carry the cause %v", err, reason)
	}
	f.mentions(err, "aborted before spawn: the user left")

	plain, cancelPlain := context.WithCancel(context.Background())
	cancelPlain()
	if err := f.refused(plain, f.bash(`touch "$dir/ran"`), fault.Aborted); err.Error() != "aborted" {
		f.Errorf("without a reason the error says %q, want %q", err, "aborted")
	}
}

func missingWorkdir(f *fixture) {
	for _, dir := range []string{f.path("missing"), f.path("missing/below"), "missing-beside-the-test"} {
		spec := f.bash(`touch "$2/ran"`)
		spec.Dir = dir
		err := f.refused(context.Background(), spec, fault.WorkdirNotFound)
		f.mentions(err, dir)
		f.carries(err, syscall.ENOENT, "ENOENT")
	}
	if err := os.Symlink("nowhere", f.path("dangling")); err != nil {
		f.Fatal(err)
	}
	spec := f.program("true")
	spec.Dir = f.path("dangling")
	f.refused(context.Background(), spec, fault.WorkdirNotFound)
}

func fileAsWorkdir(f *fixture) {
	f.touch("file")
	spec := f.program("true")
	spec.Dir = f.path("file")
	err := f.refused(context.Background(), spec, fault.WorkdirNotDirectory)
	f.mentions(err, spec.Dir)
	f.carries(err, syscall.ENOTDIR, "ENOTDIR")
}

// carries expects the errno in the chain or at least in the text.
func (f *fixture) carries(err error, errno syscall.Errno, name string) {
	f.Helper()
	if !errors.Is(err, errno) && !strings.Contains(err.Error(), name) {
		f.Errorf("the error %#v carries no %s", err, name)
	}
}

func closedWorkdir(f *fixture) {
	if os.Geteuid() == 0 {
		f.Skip("skipped: root may enter every directory")
	}
	if err := os.Mkdir(f.path("closed"), 0o000); err != nil {
		f.Fatal(err)
	}
	spec := f.program("true")
	spec.Dir = f.path("closed")
	err := f.refused(context.Background(), spec, fault.SpawnFailed)
	f.mentions(err, spec.Dir)
	f.carries(err, syscall.EACCES, "EACCES")
}

func hopelessPrograms(f *fixture) {
	f.touch("plain")
	writeExecutable(f.T, f.path("no-interpreter"), "#!/nonexistent/interpreter\n")
	writeExecutable(f.T, f.path("no-format"), "no program\n")
	empty := f.path("empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		f.Fatal(err)
	}
	for _, program := range []string{
		"no-such-program-anywhere", "/no/such/program", "./no-such-program",
		f.path("plain"), f.Dir, f.path("no-interpreter"), f.path("no-format"),
	} {
		f.mentions(f.refused(context.Background(), f.program(program, f.Marker), fault.SpawnFailed), program)
	}
	for _, path := range []string{"", empty} {
		spec := f.program("sleep", f.Marker)
		spec.Env = map[string]string{"PATH": path}
		f.mentions(f.refused(context.Background(), spec, fault.SpawnFailed), "sleep")
	}
}

func blame(f *fixture) {
	spec := f.program("/no/such/program")
	spec.Dir = f.Dir
	if err := f.refused(context.Background(), spec, fault.SpawnFailed); strings.Contains(err.Error(), f.Dir) {
		f.Errorf("the error %q blames the workdir", err)
	}
	spec = f.program("bash", "-c", "true")
	spec.Dir = f.path("missing")
	if err := f.refused(context.Background(), spec, fault.WorkdirNotFound); strings.Contains(err.Error(), "bash") {
		f.Errorf("the error %q blames the program", err)
	}
}

func tooManyArguments(f *fixture) {
	f.needProcfs() // the limits differ elsewhere
	// MAX_ARG_STRLEN of execve(2): 32 pages with the final NUL.
	one := strings.Repeat("x", 128<<10)
	f.refused(context.Background(), f.program("true", one), fault.SpawnFailed)
	spec := f.program("true")
	spec.Env = map[string]string{"BIG": one}
	err := f.refused(context.Background(), spec, fault.SpawnFailed)
	if strings.Contains(err.Error(), "xxxx") {
		f.Error("the error shows the value of a variable")
	}
	f.expectCode(f.run(f.program("true", one[:len(one)-1])), 0)
}

func refusalLeavesStreamsAlone(f *fixture) {
	input := strings.NewReader("untouched")
	var tee lockedBuffer
	spec := f.program("/no/such/program")
	spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: input}
	spec.Stdout.Tee = &tee
	spec.Stdout.Spill = &subprocess.Spill{MaxBytes: 1000}
	spec.ExtraFiles = []*os.File{os.Stdin}
	f.refused(context.Background(), spec, fault.SpawnFailed)
	if input.Len() != len("untouched") {
		f.Errorf("%d bytes of the input were read", len("untouched")-input.Len())
	}
	if tee.String() != "" {
		f.Errorf("the tee received %q", tee.String())
	}
	if _, err := os.Stdin.Stat(); err != nil {
		f.Errorf("an extra file was closed: %v", err)
	}
	f.expectNoSpill()
}
