//go:build unix

package local

import (
	"context"
	"strings"

	"hardshell/internal/capture"
	"hardshell/internal/command"
	"hardshell/internal/fault"
	"hardshell/internal/spawn"
	"hardshell/subprocess"
)

// Spawn implements subprocess.Runtime.
func (r *Runtime) Spawn(ctx context.Context, spec subprocess.Spec) (subprocess.Handle, error) {
	if err := spec.Validate(ctx); err != nil {
		return nil, err
	}
	if spec.Record != "" {
		return nil, fault.New(fault.InvalidArgument, "commands run in this process have no record: use a session host")
	}
	if err := r.trees.Enter(); err != nil {
		return nil, err
	}
	defer r.trees.Leave()

	environ := subprocess.Environ(r.config.ambient(), command.WithPWD(spec.Env, spec.Dir), spec.Unset, spec.Dsh)
	program := spec.Argv[0]
	if !strings.ContainsRune(program, '/') {
		path, err := command.Lookup(program, environ)
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
	input, outputs := streams(&spec)
	stdio, err := capture.Open(input, outputs, spec.ExtraFiles, &r.spills)
	if err != nil {
		return nil, fault.New(fault.SpawnFailed, "cannot open the command's streams: %w", err)
	}
	tree, err := r.trees.Start(start, &spawn.Attr{
		Path: program, Argv: spec.Argv, Env: environ, Dir: spec.Dir,
		Files: stdio.Files(), Tag: r.trees.NextTag(),
	}, spec.Grace)
	stdio.CloseChildEnds()
	if err != nil {
		stdio.CloseOwnEnds()
		return nil, command.Explain(err)
	}
	c := command.New(tree, stdio)
	r.mu.Lock()
	r.live[c] = struct{}{}
	r.mu.Unlock()
	go r.follow(ctx, c, tree)
	return &handle{c}, nil
}
