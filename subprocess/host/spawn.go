//go:build unix

package host

import (
	"context"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/capture"
	"hardshell/internal/command"
	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/proctree"
	"hardshell/internal/spawn"
	"hardshell/subprocess"
)

// Spawn implements subprocess.Runtime.
func (r *Runtime) Spawn(ctx context.Context, spec subprocess.Spec) (subprocess.Handle, error) {
	if err := spec.Validate(ctx); err != nil {
		return nil, err
	}
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.entered.Done()
	request, err := r.request(&spec)
	if err != nil {
		return nil, err
	}
	if spec.Record != "" {
		h, err := r.spawnRecorded(ctx, &spec, request)
		r.unlessUnavailable(request, err)
		return h, err
	}
	link, err := r.attached(ctx)
	if err != nil {
		return nil, err
	}
	input, outputs := streams(&spec)
	stdio, err := capture.Open(input, outputs, spec.ExtraFiles, &r.spills)
	if err != nil {
		return nil, fault.New(fault.SpawnFailed, "cannot open the command's streams: %w", err)
	}
	tree, err := link.spawn(ctx, request, stdio.Files())
	stdio.CloseChildEnds()
	if err != nil {
		stdio.CloseOwnEnds()
		r.unlessUnavailable(request, err)
		return nil, err
	}
	c := command.New(tree, stdio)
	r.mu.Lock()
	r.live[c] = struct{}{}
	r.mu.Unlock()
	go r.follow(ctx, c, tree)
	return &handle{c}, nil
}

// unlessUnavailable has the host asked again about a policy that it could not
// enforce.
func (r *Runtime) unlessUnavailable(request *hostwire.Spawn, err error) {
	if request.Policy != nil && fault.CodeOf(err) == fault.SandboxUnavailable {
		r.sandbox.forget(request.Policy)
	}
}

// request is what the host is asked for. Everything that depends on this
// process is decided here: the environment, the program, the directory.
func (r *Runtime) request(spec *subprocess.Spec) (*hostwire.Spawn, error) {
	environ := subprocess.Environ(r.config.ambient(), command.WithPWD(spec.Env, spec.Dir), spec.Unset, spec.Dsh)
	s := &hostwire.Spawn{Argv: spec.Argv, Env: environ, Grace: spec.Grace}
	program := spec.Argv[0]
	if !strings.ContainsRune(program, '/') {
		path, err := command.Lookup(program, environ)
		if err != nil {
			return nil, err
		}
		program = path
	}
	s.Path = []byte(program)
	dir := spec.Dir
	if !strings.HasPrefix(dir, "/") {
		own, err := os.Getwd()
		if err != nil {
			return nil, fault.New(fault.WorkdirNotFound, "the current directory is gone: name a workdir (%w)", err)
		}
		if dir = own; spec.Dir != "" {
			dir = own + "/" + spec.Dir // as text: the kernel follows links before it takes dots away
		}
	}
	s.Dir = []byte(dir)
	if spec.Confinement != nil {
		confinement, ok := spec.Confinement.(*confinement)
		if !ok {
			return nil, fault.New(fault.SandboxUnavailable, "commands of the session host cannot be confined by %s", spec.Confinement.Confines())
		}
		s.Policy, s.Report = confinement.policy, confinement.announced
	}
	return s, nil
}

// patience is how long an answer about a spawn may take once its context has
// ended.
const patience = 5 * time.Second

// spawn has the host spawn, and returns the tree that it holds.
func (l *link) spawn(ctx context.Context, s *hostwire.Spawn, files []int) (*tree, error) {
	if err := checkFiles(string(s.Path), files); err != nil {
		return nil, err
	}
	select {
	case s.Tag = <-l.tags:
	case <-l.dead:
		return nil, l.lost()
	case <-ctx.Done():
		return nil, subprocess.AbortedBeforeSpawn(ctx)
	}
	t := newTree(l, s)
	l.add(t)
	answer, err := l.begin(&hostwire.Message{Spawn: s}, files...)
	if err != nil {
		l.forget(t.id)
		if err == hostwire.ErrClosed {
			err = l.lost()
		} else {
			l.tags <- s.Tag
		}
		return nil, err
	}
	m, err := l.awaitSpawn(ctx, answer)
	switch {
	case err != nil:
		// The host may have spawned it, and can look after it no more.
		l.forget(t.id)
		orphan := proctree.Adopt(0, s.Tag, s.Grace, false)
		orphan.Kill()
		<-orphan.Ended()
		return nil, err
	case m.Spawned == nil:
		l.forget(t.id)
		l.conn.Close()
		return nil, errAnswer
	}
	l.tags <- m.Spawned.Tag
	if m.Spawned.Failure != nil {
		l.forget(t.id)
		return nil, m.Spawned.Failure.Err()
	}
	t.born(m.Spawned.PID)
	return t, nil
}

// awaitSpawn waits for the answer to a spawn. A host that does not give it long
// after ctx has ended is taken for dead.
func (l *link) awaitSpawn(ctx context.Context, answer chan *hostwire.Message) (*hostwire.Message, error) {
	select {
	case m := <-answer:
		return m, nil
	case <-l.dead:
		return nil, l.lost()
	case <-ctx.Done():
	}
	select {
	case m := <-answer:
		return m, nil
	case <-l.dead:
		return nil, l.lost()
	case <-time.After(patience):
		l.conn.Close()
		<-l.dead
		return nil, subprocess.AbortedBeforeSpawn(ctx)
	}
}

// checkFiles finds descriptors that are not open, before they cost the
// connection.
func checkFiles(program string, files []int) error {
	for _, fd := range files {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			return command.Explain(&spawn.Error{Stage: spawn.StageFork, Path: program, Errno: unix.EBADF})
		}
	}
	if len(files) > hostwire.MaxFiles {
		return fault.New(fault.InvalidArgument, "a command of the session host may be given %d descriptors at most", hostwire.MaxFiles)
	}
	return nil
}
