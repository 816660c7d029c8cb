package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// cold are the pairs of whole programs that run one command and end: this one,
// and those on PATH that confine, each with the options that its manual gives
// for about the same.
func (p *place) cold(o Options) []measurement {
	if o.Self == "" {
		return nil
	}
	list := []measurement{
		p.program("cold", o, o.Self, "--home", p.home, "run", "--mode", "danger-full-access", "true"),
		p.program("cold-confined", o, o.Self, "--home", p.home, "run", "--mode", "workspace-write", "true"),
	}
	list[0].optional = false
	list[0].aName, list[1].aName = "hardshell run true, unconfined", "hardshell run true"
	for _, peer := range []struct{ name, args string }{
		{"bwrap", "--ro-bind / / --dev /dev --proc /proc --unshare-pid --tmpfs /tmp --bind WORKSPACE WORKSPACE bash -c true"},
		{"firejail", "--quiet --noprofile --private-tmp --read-only=/ --read-write=WORKSPACE bash -c true"},
		{"nsjail", "--quiet --mode o --chroot / --bindmount WORKSPACE --cwd WORKSPACE -- /bin/bash -c true"},
		{"systemd-run", "--user --scope --quiet bash -c true"},
		{"unshare", "-Urmpf --mount-proc bash -c true"},
	} {
		path, err := exec.LookPath(peer.name)
		if err != nil {
			continue
		}
		m := p.program("cold-"+peer.name, o, path, strings.Fields(strings.ReplaceAll(peer.args, "WORKSPACE", p.empty))...)
		m.aName = strings.ReplaceAll(peer.name+" "+peer.args, "WORKSPACE", ".")
		list = append(list, m)
	}
	return list
}

// program is a pair of a program and a bare bash.
func (p *place) program(name string, o Options, path string, args ...string) measurement {
	return measurement{
		name: name, runs: max(o.Runs/4, 5), optional: true,
		prepare: func(context.Context) error { return os.MkdirAll(p.empty, 0o700) },
		a: func(ctx context.Context) error {
			cmd := exec.CommandContext(ctx, path, args...)
			cmd.Dir = p.empty
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
			}
			return nil
		},
		bName: bareTrueName, b: bareTrue,
	}
}
