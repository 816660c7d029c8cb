//go:build unix

package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/internal/spawn"
	"hardshell/subprocess"
)

// Spawn implements subprocess.Runtime.
func (r *Runtime) Spawn(ctx context.Context, spec subprocess.Spec) (subprocess.Handle, error) {
	if err := spec.Validate(ctx); err != nil {
		return nil, err
	}
	if err := r.admit(); err != nil {
		return nil, err
	}
	defer r.spawning.Done()

	environ := subprocess.Environ(r.config.ambient(), withPWD(&spec), spec.Unset, spec.Dsh)
	program := spec.Argv[0]
	if !strings.ContainsRune(program, '/') {
		path, err := lookup(program, environ)
		if err != nil {
			return nil, err
		}
		program = path
	}
	start := spawn.Start
	if spec.Confinement != nil {
		starter, ok := spec.Confinement.(spawn.Starter)
		if !ok {
			return nil, fault.New(fault.SandboxUnavailable, "commands run in this process cannot be confined by %s", spec.Confinement.Confines())
		}
		start = starter.Start
	}
	stdio, err := openStdio(&spec)
	if err != nil {
		return nil, err
	}
	tag := r.tags.Next()
	started := time.Now()
	proc, err := start(&spawn.Attr{
		Path: program, Argv: spec.Argv, Env: environ, Dir: spec.Dir,
		Files: stdio.child, Tag: tag,
	})
	stdio.closeChildEnds()
	if err != nil {
		stdio.closeOwnEnds()
		return nil, spawnError(err)
	}
	c := r.newChild(proc, stdio, &spec, tag)
	c.started = started
	r.register(c)
	go c.supervise(ctx)
	return c, nil
}

// newChild puts a started process and its streams together.
func (r *Runtime) newChild(proc *spawn.Child, stdio *stdio, spec *subprocess.Spec, tag uint64) *child {
	c := &child{
		runtime: r, proc: proc,
		tree:  newTree(proc.PID(), tag, spec.Grace),
		stdin: stdio.stdin, data: spec.Stdin.Data,
		outputs: stdio.outputs,
		exited:  make(chan struct{}), done: make(chan struct{}), finished: make(chan struct{}),
	}
	streams := [2]subprocess.Stream{subprocess.Stdout, subprocess.Stderr}
	for i, out := range [2]subprocess.Output{spec.Stdout, spec.Stderr} {
		if out.Mode == subprocess.OutputCollect {
			c.windows[i] = newWindow(out, &r.spills, streams[i])
			c.pumps[i] = newPump(c.outputs[i], c.windows[i], out.Tee)
		}
	}
	return c
}

// withPWD adds the spelling of the working directory to the explicit entries: a
// PWD inherited from elsewhere may name a symbolic link to it, and a shell
// would believe it.
func withPWD(spec *subprocess.Spec) map[string]string {
	if _, explicit := spec.Env["PWD"]; explicit || spec.Dir == "" {
		return spec.Env
	}
	dir := spec.Dir
	if !strings.HasPrefix(dir, "/") {
		own, err := os.Getwd()
		if err != nil {
			return spec.Env
		}
		dir = own + "/" + dir
	}
	if filepath.Clean(dir) != dir {
		// A shell takes link/.. out of PWD as text; the kernel followed the link.
		physical, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return spec.Env // the spawn will say why
		}
		dir = physical
	}
	env := make(map[string]string, len(spec.Env)+1)
	for name, value := range spec.Env {
		env[name] = value
	}
	env["PWD"] = dir
	return env
}

// spawnError gives a failed start its code and says what to do about it.
func spawnError(err error) error {
	if fault.CodeOf(err) != "" {
		return err
	}
	var failed *spawn.Error
	if !errors.As(err, &failed) {
		return fault.New(fault.SpawnFailed, "cannot start the command: %w", err)
	}
	name := unix.ErrnoName(failed.Errno)
	code, message := fault.SpawnFailed, ""
	switch {
	case failed.Stage == spawn.StageChdir && failed.Errno == syscall.ENOTDIR:
		code, message = fault.WorkdirNotDirectory, "the workdir %q is not a directory (%s): choose a directory"
	case failed.Stage == spawn.StageChdir && failed.Errno == syscall.EACCES:
		message = "the workdir %q cannot be entered (%s): change its permissions or choose another"
	case failed.Stage == spawn.StageChdir && failed.Errno == syscall.ENOENT:
		code, message = fault.WorkdirNotFound, "the workdir %q does not exist (%s): create it or choose another"
	case failed.Stage == spawn.StageChdir:
		code, message = fault.WorkdirNotFound, "the workdir %q cannot be used (%s): choose another"
	case failed.Errno == syscall.E2BIG:
		message = "cannot run %q: its arguments and environment are too long together (%s)"
	case failed.Errno == syscall.EMFILE || failed.Errno == syscall.ENFILE:
		message = "cannot start %q (%s): no descriptor is left; close some, or raise ulimit -n"
	case failed.Stage == spawn.StageFork:
		message = "cannot start a process for %q (%s): the system or this user has no room for another"
	default:
		message = "cannot run %q (%s): it must be an executable file whose interpreter exists"
	}
	e := fault.New(code, message, failed.Path, name)
	e.Err = failed
	return e
}
