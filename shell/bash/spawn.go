package bash

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"hardshell/internal/fault"
	"hardshell/shell"
	"hardshell/subprocess"
)

// terminal is what a command must know of a terminal that is none. Explicit
// entries of a request override it.
var terminal = map[string]string{
	"NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat",
}

// outputs is where a command's output goes, and how it ends.
type outputs struct {
	stdout, stderr subprocess.Output
	grace          time.Duration
}

// record keeps both streams in the command's record, with windows of these sizes.
func (o *outputs) record(stdout, stderr int64) {
	o.stdout = subprocess.Output{Mode: subprocess.OutputRecord, MaxBytes: stdout}
	o.stderr = subprocess.Output{Mode: subprocess.OutputRecord, MaxBytes: stderr}
}

// collect keeps a stream's tail, and the whole in a file unless maxSpill is 0.
func collect(maxBytes, maxSpill int64, tee io.Writer) subprocess.Output {
	out := subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: maxBytes, Tee: tee}
	if maxSpill > 0 {
		out.Spill = &subprocess.Spill{MaxBytes: maxSpill}
	}
	return out
}

// spawn starts bash with the spec's script, or the spec's own program.
func (e *Executor) spawn(ctx context.Context, spec *shell.Spec, out outputs) (subprocess.Handle, error) {
	env := make(map[string]string, len(terminal)+len(spec.Env))
	for name, value := range terminal {
		env[name] = value
	}
	for name, value := range spec.Env {
		env[name] = value
	}
	child := subprocess.Spec{
		Argv: spec.Argv, Dir: spec.Workdir, Env: env, Dsh: spec.DshEnv,
		Stdin:  subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Stdout: out.stdout, Stderr: out.stderr, Grace: out.grace, Record: spec.Record,
	}
	if spec.Stdin != nil {
		child.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: spec.Stdin}
	}
	if spec.Argv != nil {
		return e.runtime.Spawn(ctx, child)
	}
	if strings.IndexByte(spec.Command, 0) >= 0 {
		return nil, fault.New(fault.InvalidArgument, "the command contains a NUL byte, which no program can be given: remove it")
	}
	if len(spec.Command) < maxArgument {
		// After "--" a script that begins with a dash is no option.
		child.Argv = []string{"bash", "-c", "--", spec.Command}
		return e.spawnBash(ctx, child)
	}
	script, err := scriptFile(spec.Command + scriptEnd)
	if err != nil {
		return nil, fault.New(fault.SpawnFailed, "cannot hand over a command of %d bytes: %w", len(spec.Command), err)
	}
	defer script.Close()
	child.Argv = []string{"bash", "-c", readScript}
	child.ExtraFiles = []*os.File{script}
	return e.spawnBash(ctx, child)
}

// spawnBash spawns a child whose program is bash. A failure for want of bash
// itself has a code of its own.
func (e *Executor) spawnBash(ctx context.Context, child subprocess.Spec) (subprocess.Handle, error) {
	handle, err := e.runtime.Spawn(ctx, child)
	if fault.CodeOf(err) != fault.SpawnFailed {
		return handle, err
	}
	if _, missing := e.runtime.ResolveExecutable(ctx, "bash", child.Env); fault.CodeOf(missing) == fault.SpawnFailed {
		return nil, fault.New(fault.ShellNotFound, "bash was not found on the command's PATH: install bash or correct PATH")
	}
	return nil, err
}

// maxArgument is the kernel's limit for one argument with its final NUL
// (MAX_ARG_STRLEN, execve(2)). A longer script is handed over as descriptor 3.
const maxArgument = 128 << 10

// readScript evaluates the script of descriptor 3, which the script's own
// commands do not see. The mark at its end keeps its last newlines, which the
// substitution would take away. It is one line, so that the script's first line
// stays line 1.
const (
	readScript = `set -- "$(</dev/fd/3)"; [[ $1 == *` + scriptEnd + ` ]] || { echo "bash: the command could not be read from /dev/fd/3" >&2; exit 126; }; ` +
		`eval "set --; exec 3<&-; ${1%` + scriptEnd + `}"`
	scriptEnd = "."
)
