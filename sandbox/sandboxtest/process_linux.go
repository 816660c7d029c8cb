package sandboxtest

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"hardshell/sandbox"
)

// processChecks change the environment of this process for a moment.
func processChecks() []check {
	private := func(f *fixture, policy func(*sandbox.Policy)) sandbox.Confinement {
		f.Setenv("HOME", f.UserHome)
		for _, name := range []string{"XDG_CACHE_HOME", "npm_config_cache", "CARGO_HOME", "GOPATH", "GOMODCACHE", "GOCACHE", "PIP_CACHE_DIR"} {
			f.Setenv(name, "") // registers the restoration
			os.Unsetenv(name)
		}
		p := f.policy(sandbox.WorkspaceWrite)
		policy(&p)
		return f.confine(p)
	}
	const cache = `cache=${XDG_CACHE_HOME:-$HOME/.cache}; mkdir -p "$cache" && `
	return []check{
		{name: "a private cache is kept for the workspace and is not the user's", run: func(f *fixture) {
			f.mkdir(f.UserHome + "/.cache")
			before := content(f.UserHome)
			c := private(f, func(*sandbox.Policy) {})
			f.expectOK(f.sh(c, cache+`echo kept >"$cache/x"`))
			f.expectUnchanged(before, content(f.UserHome))
			p := f.policy(sandbox.WorkspaceWrite)
			p.SessionID = stranger
			f.expectStdout(f.sh(f.confine(p), cache+`cat "$cache/x"`), "kept\n")
		}},
		{name: "a private cache is not shared between workspaces", run: func(f *fixture) {
			f.mkdir(f.UserHome + "/.cache")
			c := private(f, func(*sandbox.Policy) {})
			f.expectOK(f.sh(c, cache+`echo `+secret+` >"$cache/x"`))
			p := f.policy(sandbox.WorkspaceWrite)
			p.WorkspaceRoot = f.Outside
			f.expectNoSecret(f.sh(f.confine(p), cache+`cat "$cache/x"; true`))
		}},
		{name: "a private cache works where the user has none", run: func(f *fixture) {
			c := private(f, func(*sandbox.Policy) {})
			before := content(f.UserHome)
			r := f.sh(c, cache+`echo kept >"$cache/x"`)
			f.Log(r) // where the directory cannot be shown, the write may fail
			f.expectUnchanged(before, content(f.UserHome))
		}},
		{name: "a shared cache is the user's", run: func(f *fixture) {
			f.mkdir(f.UserHome + "/.cache")
			c := private(f, func(p *sandbox.Policy) { p.Caches = sandbox.CachesShared })
			f.expectOK(f.sh(c, `echo x >"$HOME/.cache/x"`))
			if !exists(f.UserHome + "/.cache/x") {
				f.Error("the host does not see the file")
			}
		}},
		{name: "without caches the user's is read and not written", run: func(f *fixture) {
			f.mkdir(f.UserHome + "/.cache")
			f.write(f.UserHome+"/.cache/x", "before\n")
			c := private(f, func(p *sandbox.Policy) { p.Caches = sandbox.CachesNone })
			f.expectStdout(f.sh(c, `cat "$HOME/.cache/x"`), "before\n")
			f.expectRefused(f.sh(c, `echo x >"$HOME/.cache/x"`))
			f.expectRefused(f.sh(c, `echo x >"$HOME/.cache/new"`))
		}},
		{name: "read-only writes to no cache", run: func(f *fixture) {
			f.mkdir(f.UserHome + "/.cache")
			before := content(f.UserHome)
			c := private(f, func(p *sandbox.Policy) { p.Mode = sandbox.ReadOnly })
			f.sh(c, `echo x >"$HOME/.cache/new"`)
			f.expectUnchanged(before, content(f.UserHome))
		}},
	}
}

// inheritanceChecks are about what the caller has that a command must not get.
func inheritanceChecks() []check {
	return []check{
		{name: "a descriptor without close-on-exec does not arrive", run: func(f *fixture) {
			file, err := os.OpenFile(f.Outside+"/file", os.O_WRONLY, 0)
			if err != nil {
				f.Fatal(err)
			}
			defer file.Close()
			fd, err := syscall.Dup(int(file.Fd())) // dup(2) clears close-on-exec
			if err != nil {
				f.Fatal(err)
			}
			defer syscall.Close(fd)
			before := content(f.Outside)
			r := f.sh(f.workspaceWrite(), `for n in {3..254}; do [ -e /dev/fd/$n ] && echo $n; done; echo x >&`+strconv.Itoa(fd))
			f.expectRefused(r)
			if r.Stdout != "" {
				f.Errorf("the descriptors %q arrived", r.Stdout)
			}
			f.expectUnchanged(before, content(f.Outside))
		}, rare: true}, // the runtime may close what the sandbox would let through
		{name: "a descriptor of a directory does not arrive", run: func(f *fixture) {
			fd, err := unix.Open(f.Outside, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			if err != nil {
				f.Fatal(err)
			}
			defer unix.Close(fd)
			f.expectRefusedOutside(f.workspaceWrite(), `echo x >/proc/self/fd/`+strconv.Itoa(fd)+`/new`)
		}, rare: true},
		{name: "a script for the start of bash acts only inside", run: func(f *fixture) {
			f.write(f.Workspace+"/start", `echo x >"`+f.Outside+`/new"`)
			spec := f.bash(f.workspaceWrite(), `[ -e "$out/new" ]`)
			spec.Env["BASH_ENV"], spec.Env["ENV"] = f.Workspace+"/start", f.Workspace+"/start"
			before := content(f.Outside)
			f.expectRefused(f.run(spec))
			f.expectUnchanged(before, content(f.Outside))
		}},
		{name: "the dynamic linker acts only inside", run: func(f *fixture) {
			// The linker of every dynamic program would write its trace there.
			spec := f.bash(f.workspaceWrite(), `/bin/ls >/dev/null`)
			spec.Env["LD_DEBUG"], spec.Env["LD_DEBUG_OUTPUT"] = "libs", f.Outside+"/trace"
			before := content(f.Outside)
			f.run(spec)
			f.expectUnchanged(before, content(f.Outside))
		}},
		{name: "a PATH of the caller leads to no program outside of the sandbox", run: func(f *fixture) {
			for _, name := range []string{"bwrap", "unshare", "sh", "mount", "newuidmap", "newgidmap", "hardshell"} {
				path := f.Workspace + "/bin/" + name
				f.mkdir(f.Workspace + "/bin")
				if err := os.WriteFile(path, []byte("#!/bin/bash\necho x >'"+f.Outside+"/new'\n"), 0o755); err != nil {
					f.Fatal(err)
				}
			}
			f.Setenv("PATH", f.Workspace+"/bin:"+os.Getenv("PATH"))
			f.expectRefusedOutside(f.workspaceWrite(), `unshare`)
		}},
	}
}

// privilegeChecks are about what the kernel says of a confined process.
func privilegeChecks() []check {
	return []check{
		{name: "no program gains privileges", run: func(f *fixture) {
			f.expectStatus("NoNewPrivs", func(value string) bool { return value == "1" })
		}},
		{name: "a seccomp filter is in force", run: func(f *fixture) {
			f.expectStatus("Seccomp", func(value string) bool { return value == "2" })
		}},
		{name: "root has the capabilities that builds need at most, and nobody else has any", run: func(f *fixture) {
			// CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID; see
			// capability.h of Linux.
			allowed := uint64(1<<0 | 1<<1 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7)
			if os.Geteuid() != 0 {
				allowed = 0
			}
			within := func(value string) bool {
				set, err := strconv.ParseUint(value, 16, 64)
				return err == nil && set&^allowed == 0
			}
			for _, set := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
				f.expectStatus(set, within)
			}
			if os.Geteuid() == 0 {
				f.expectStatus("CapBnd", within)
			}
		}},
		{name: "a set-user-ID program runs as the user that started it", run: func(f *fixture) {
			if os.Geteuid() == 0 {
				f.Skip("skipped: root gains nothing by it")
			}
			for _, name := range []string{"su", "mount", "passwd", "sudo"} {
				path, err := exec.LookPath(name)
				if err != nil {
					continue
				}
				t := f.targetOf(nil)
				t.Socket = path
				if f.attempt(f.workspaceWrite(), "gain by a set-user-ID program", t).Done {
					f.Errorf("%s runs as another user", path)
				}
			}
		}},
	}
}

// expectStatus expects a line of /proc/self/status inside of both modes.
func (f *fixture) expectStatus(field string, good func(string) bool) {
	f.Helper()
	for _, c := range []sandbox.Confinement{f.readOnly(), f.workspaceWrite()} {
		r := f.run(f.program(c, "cat", "/proc/self/status"))
		for line := range strings.Lines(r.Stdout) {
			if name, value, _ := strings.Cut(line, ":"); name == field && !good(strings.TrimSpace(value)) {
				f.Errorf("%s is %s", field, strings.TrimSpace(value))
			}
		}
		f.expectOK(r)
	}
}
