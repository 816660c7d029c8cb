package sandboxtest

import (
	"os"

	"hardshell/sandbox"
)

// change is a script that changes $at, a directory with "file" and "dir/file".
type change struct {
	name   string
	script string
}

// changes are the ways of writing.
var changes = []change{
	{"creating a file", `echo x >"$at/new"`},
	{"writing to a file", `echo x >"$at/file"`},
	{"appending to a file", `echo x >>"$at/file"`},
	{"truncating a file", `truncate -s 0 "$at/file"`},
	{"opening a file to read and write", `exec 3<>"$at/file"; echo x >&3`},
	{"deleting a file", `rm -f "$at/file"; [ ! -e "$at/file" ]`},
	{"deleting a directory", `rm -rf "$at/dir"; [ ! -e "$at/dir" ]`},
	{"renaming a file", `mv "$at/file" "$at/renamed"`},
	{"renaming a directory", `mv "$at/dir" "$at/renamed"`},
	{"moving a file in", `echo x >"$TMPDIR/moved" && mv "$TMPDIR/moved" "$at/moved"`},
	{"making a directory", `mkdir "$at/new"`},
	{"making a symbolic link", `ln -s file "$at/new"`},
	{"making a hard link", `ln "$at/file" "$at/new"`},
	{"making a pipe", `mkfifo "$at/new"`},
	{"copying over a file", `cp /etc/passwd "$at/file"`},
	{"replacing a file", `cp -f --remove-destination /etc/passwd "$at/file"`},
	{"writing through a descriptor of a directory", `cd "$at" && echo x >./new`},
	{"writing through /proc/self/cwd", `cd "$at" && echo x >/proc/self/cwd/new`},
	{"writing through /proc/self/root", `echo x >"/proc/self/root$at/new"`},
	{"writing through dots", `echo x >"$ws/../outside/new"`},
	{"writing through another spelling", `echo x >"//./$at//./new"`},
	{"reopening a file that is open for reading", `exec 3<"$at/file"; echo x >/proc/self/fd/3`},
	{"writing as a child of a child", `bash -c 'setsid --wait bash -c "echo x >\"$1/new\"" bash "$1"' bash "$at"`},
	{"writing in the background", `{ echo x >"$at/new"; } & wait $!`},
}

// metadataChanges are the ways of changing what is known about a file.
var metadataChanges = []change{
	{"changing the mode", `chmod 0777 "$at/file"`},
	{"changing the mode of a directory", `chmod 0777 "$at/dir"`},
	{"changing the owner", `chown 12345 "$at/file"`},
	{"changing the time", `touch -d 2001-01-01 "$at/file"`},
	{"changing the time to now", `touch -c "$at/dir/file"`},
	{"changing the mode through a descriptor", `exec 3<"$at/file"; chmod 0777 /proc/self/fd/3`},
}

// beside names a directory that looks like the workspace and is not.
const beside = "-evil"

func writeChecks() []check {
	var checks []check
	add := func(name string, mode sandbox.Mode, at func(*fixture) string, script string) {
		checks = append(checks, check{name: name, run: func(f *fixture) {
			dir := at(f)
			before := everythingOf(dir)
			c := f.confine(f.policy(mode))
			if c.Report().Effects.Metadata != sandbox.Full {
				before = content(dir)
			}
			f.expectRefused(f.sh(c, "at='"+dir+"'\n"+script))
			after := everythingOf(dir)
			if c.Report().Effects.Metadata != sandbox.Full {
				after = content(dir)
			}
			f.expectUnchanged(before, after)
		}})
	}
	outside := func(f *fixture) string { return f.Outside }
	workspace := func(f *fixture) string {
		f.mkdir(f.Workspace + "/dir")
		f.write(f.Workspace+"/file", "before\n")
		f.write(f.Workspace+"/dir/file", "before\n")
		return f.Workspace
	}
	evil := func(f *fixture) string {
		dir := f.Workspace + beside
		f.mkdir(dir + "/dir")
		f.write(dir+"/file", "before\n")
		return dir
	}
	for _, c := range changes {
		add("workspace-write: "+c.name+" outside is refused", sandbox.WorkspaceWrite, outside, c.script)
		add("read-only: "+c.name+" outside is refused", sandbox.ReadOnly, outside, c.script)
		if c.name != "writing through dots" {
			add("read-only: "+c.name+" in the workspace is refused", sandbox.ReadOnly, workspace, c.script)
		}
	}
	for _, c := range changes[:4] {
		add(c.name+" in a directory whose name begins like the workspace is refused", sandbox.WorkspaceWrite, evil, c.script)
	}
	return append(checks,
		check{name: "the parent of the workspace stays as it is", run: func(f *fixture) {
			f.expectRefused(f.sh(f.workspaceWrite(), `echo x >"$ws/../new"`))
			f.expectRefused(f.sh(f.workspaceWrite(), `mv "$ws" "$ws.away"`))
			if exists(f.Base+"/new") || !exists(f.Workspace) {
				f.Error("the parent of the workspace was changed")
			}
		}},
		check{name: "the home of the user stays as it is", run: func(f *fixture) {
			before := content(f.UserHome)
			f.expectRefused(f.sh(f.workspaceWrite(), `echo evil >>"$HOME/.bashrc"`))
			f.expectRefused(f.sh(f.workspaceWrite(), `echo evil >>"$HOME/.gitconfig"`))
			f.expectUnchanged(before, content(f.UserHome))
		}},
		check{name: "/dev/shm of the host is not written to", run: func(f *fixture) {
			path := "/dev/shm/sandboxtest-" + f.Marker
			f.sh(f.workspaceWrite(), `echo x >/dev/shm/sandboxtest-$marker`)
			if exists(path) {
				os.Remove(path)
				f.Error("the file is on the host")
			}
		}},
	)
}

// metadataChecks tolerate success where the report says that metadata is not
// fully enforced.
func metadataChecks() []check {
	var checks []check
	for _, c := range metadataChanges {
		for _, mode := range []sandbox.Mode{sandbox.WorkspaceWrite, sandbox.ReadOnly} {
			checks = append(checks, check{name: string(mode) + ": " + c.name + " outside is refused where metadata is reported full",
				run: func(f *fixture) {
					before := everythingOf(f.Outside)
					confinement := f.confine(f.policy(mode))
					r := f.sh(confinement, `at=$out; `+c.script)
					if confinement.Report().Effects.Metadata != sandbox.Full {
						f.Logf("tolerated: metadata is reported %s; %v", confinement.Report().Effects.Metadata, r)
						return
					}
					f.expectRefused(r)
					f.expectUnchanged(before, everythingOf(f.Outside))
				}})
		}
	}
	return checks
}
