package sandboxtest

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"hardshell/sandbox"
)

// workspaceChecks are about workspaces of every kind.
func workspaceChecks() []check {
	in := func(f *fixture, root, dir, script string) result {
		policy := f.policy(sandbox.WorkspaceWrite)
		policy.WorkspaceRoot = root
		spec := f.bash(f.confine(policy), script)
		spec.Dir = dir
		return f.run(spec)
	}
	return []check{
		{name: "the workspace is written to", run: func(f *fixture) {
			f.expectStdout(f.sh(f.workspaceWrite(), `echo hi >new && cat new && pwd`), "hi\n"+f.Workspace+"\n")
			if !exists(f.Workspace + "/new") {
				f.Error("the host does not see the file")
			}
		}},
		{name: "everything that is written outside can be written in the workspace", run: func(f *fixture) {
			for _, c := range append(changes, metadataChanges...) {
				if c.name == "writing through dots" || c.name == "changing the owner" {
					continue
				}
				dir := f.Workspace + "/at"
				f.mkdir(dir + "/dir")
				f.write(dir+"/file", "before\n")
				f.write(dir+"/dir/file", "before\n")
				if r := f.sh(f.workspaceWrite(), `at=$ws/at; `+c.script); r.Code != 0 {
					f.Errorf("%s: %v", c.name, r)
				}
				if err := os.RemoveAll(dir); err != nil {
					f.Fatal(err)
				}
			}
		}},
		{name: "a workspace that is a symbolic link is written to by both names", run: func(f *fixture) {
			link := f.Base + "/link"
			f.symlink(f.Workspace, link)
			f.expectOK(in(f, link, link, `echo x >a && echo x >"$ws/b" && echo x >"$ws/../link/c"`))
		}},
		{name: "a link and dots are followed as the file system does", run: func(f *fixture) {
			f.mkdir(f.Base + "/elsewhere/inner")
			f.symlink(f.Base+"/elsewhere/inner", f.Workspace+"/link")
			root := f.Workspace + "/link/.."
			f.expectOK(in(f, root, f.Base+"/elsewhere", `echo x >new`))
			r := in(f, root, f.Base+"/elsewhere", `echo x >"$ws/new"`)
			f.expectRefused(r)
			if !exists(f.Base+"/elsewhere/new") || exists(f.Workspace+"/new") {
				f.Error("the dots were taken from the text")
			}
		}},
		{name: "a workspace with spaces, quotes and newlines in its name is written to", run: func(f *fixture) {
			dir := f.Base + "/a b'c\"d\\e\nf,g:h=i"
			f.mkdir(dir)
			f.expectStdout(in(f, dir, dir, `echo hi >new && cat new`), "hi\n")
		}},
		{name: "a working directory below the workspace and one outside work", run: func(f *fixture) {
			f.mkdir(f.Workspace + "/below")
			f.expectStdout(in(f, f.Workspace, f.Workspace+"/below", `pwd`), f.Workspace+"/below\n")
			f.expectStdout(in(f, f.Workspace, f.Outside, `pwd; cat file`), f.Outside+"\nbefore\n")
		}},
		{name: "the root as a workspace is written to, and the home stays hidden", run: func(f *fixture) {
			f.expectOK(in(f, "/", f.Workspace, `echo x >"$out/new" && echo x >new`))
			if !exists(f.Outside + "/new") {
				f.Error("the host does not see the file")
			}
			before := f.homeState()
			f.expectNoSecret(in(f, "/", f.Workspace, `cat "$dsh/run/token"; echo x >"$dsh/settings.yaml"; mv "$dsh" "$dsh.away"; cat "$dsh.away/run/token"; true`))
			f.expectUnchanged(before, f.homeState())
		}},
		{name: "the root as a workspace is not written to under read-only", run: func(f *fixture) {
			policy := f.policy(sandbox.ReadOnly)
			policy.WorkspaceRoot = "/"
			f.expectRefusedOutside(f.confine(policy), `echo x >"$out/new"`)
		}},
		{name: "the home of the user as a workspace keeps the home of hardshell hidden", run: func(f *fixture) {
			f.expectNoSecret(in(f, f.Base, f.Base, `cat hardshell/run/token; mv hardshell x; cat x/run/token; true`))
		}},
		{name: "a workspace of another user is written to as far as its modes allow", run: func(f *fixture) {
			if os.Geteuid() != 0 {
				f.Skip("skipped: only root may give a directory away")
			}
			if err := os.Chown(f.Workspace, 1234, 1234); err != nil {
				f.Fatal(err)
			}
			if err := os.Chmod(f.Workspace, 0o700); err != nil {
				f.Fatal(err)
			}
			f.expectStdout(f.sh(f.workspaceWrite(), `echo hi >new && cat new && chown 1234:1234 new`), "hi\n")
			var st unix.Stat_t
			if err := unix.Stat(f.Workspace+"/new", &st); err != nil || st.Uid != 1234 {
				f.Errorf("on the host the file belongs to %d (%v), want 1234", st.Uid, err)
			}
		}},
		{name: "files of root belong to root on the host", run: func(f *fixture) {
			f.expectOK(f.sh(f.workspaceWrite(), `echo x >new`))
			var st unix.Stat_t
			if err := unix.Stat(f.Workspace+"/new", &st); err != nil || int(st.Uid) != os.Getuid() {
				f.Errorf("on the host the file belongs to %d (%v), want %d", st.Uid, err, os.Getuid())
			}
		}},
		{name: "the user is the same inside", run: func(f *fixture) {
			want := f.outside(`id -u; id -g`)
			f.expectStdout(f.sh(f.workspaceWrite(), `id -u; id -g`), want)
		}},
		{name: "overlapping commands of both modes keep their own", run: func(f *fixture) {
			ro, ww := f.readOnly(), f.workspaceWrite()
			first := f.start(f.bash(ro, `await "$ws/go"; echo x >ro`))
			second := f.start(f.bash(ww, `await "$ws/go"; echo x >ww`))
			third := f.start(f.bash(ro, `await "$ws/ww"; echo x >ro`))
			f.write(f.Workspace+"/go", "")
			f.expectOK(f.await(second))
			f.expectRefused(f.await(third))
			f.expectRefused(f.await(first))
			if exists(f.Workspace+"/ro") || !exists(f.Workspace+"/ww") {
				f.Error("a command had the mode of another")
			}
		}},
		{name: "overlapping commands of two workspaces keep their own", run: func(f *fixture) {
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.WorkspaceRoot = f.Outside
			one, other := f.workspaceWrite(), f.confine(policy)
			f.expectOK(f.sh(one, `echo x >"$ws/one"`))
			f.expectOK(f.sh(other, `echo x >"$out/other"`))
			f.expectRefused(f.sh(one, `echo x >"$out/one"`))
			f.expectRefused(f.sh(other, `echo x >"$ws/other"`))
		}},
	}
}

// inMountNamespace is set in the process of submount checks.
const inMountNamespace = "SANDBOXTEST_IN_MOUNT_NAMESPACE"

// submountChecks mount in a mount namespace of their own, which needs root.
func submountChecks() []check {
	within := func(run func(f *fixture)) func(f *fixture) {
		return func(f *fixture) {
			if os.Geteuid() != 0 {
				f.Skip("skipped: only root may mount")
			}
			if f.again(inMountNamespace, &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}) {
				return
			}
			run(f)
		}
	}
	return []check{
		{name: "a read-only mount in the workspace is not written to", run: within(func(f *fixture) {
			f.mountReadOnly(f.Workspace + "/mount")
			c := f.workspaceWrite()
			f.expectOK(f.sh(c, `echo x >new && cat mount/file`))
			f.expectRefused(f.sh(c, `echo x >mount/new`))
			f.expectRefused(f.sh(c, `mount -o remount,bind,rw mount && echo x >mount/new`))
			if exists(f.Workspace + "/mount/new") {
				f.Error("the file is on the host")
			}
		})},
		{name: "a mount below a directory outside is not written to", run: within(func(f *fixture) {
			dir := f.Outside + "/mount"
			f.mkdir(dir)
			f.mount("tmpfs", dir, "tmpfs", 0)
			f.write(dir+"/file", "before\n")
			f.expectRefusedOutside(f.workspaceWrite(), `echo x >"$out/mount/new"`)
		})},
		{name: "a writable mount in the workspace is written to, and not under read-only", run: within(func(f *fixture) {
			dir := f.Workspace + "/mount"
			f.mkdir(dir)
			f.mount("tmpfs", dir, "tmpfs", 0)
			f.expectOK(f.sh(f.workspaceWrite(), `echo x >mount/new`))
			f.expectRefused(f.sh(f.readOnly(), `echo x >mount/other`))
			if !exists(dir+"/new") || exists(dir+"/other") {
				f.Error("the mount was written to in the wrong mode")
			}
		})},
		{name: "a workspace on a read-only mount is read, not written", run: within(func(f *fixture) {
			f.mountReadOnly(f.Base + "/disk")
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.WorkspaceRoot = f.Base + "/disk"
			c := f.confine(policy)
			f.expectStdout(f.sh(c, `cat "$ws/../disk/file"`), "before\n")
			f.expectRefused(f.sh(c, `echo x >"$ws/../disk/new"`))
			if exists(f.Base + "/disk/new") {
				f.Error("the file is on the host")
			}
		}), rare: true},
		{name: "a hidden directory that is a mount is not read", run: within(func(f *fixture) {
			dir := f.Outside + "/mount"
			f.mkdir(dir)
			f.mount("tmpfs", dir, "tmpfs", 0)
			f.write(dir+"/key", secret)
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.Hide = []string{dir}
			f.expectNoSecret(f.sh(f.confine(policy), `cat "$out/mount/key"; true`))
		})},
	}
}

// mountReadOnly mounts a file system with one file.
func (f *fixture) mountReadOnly(dir string) {
	f.Helper()
	f.mkdir(dir)
	f.mount("tmpfs", dir, "tmpfs", 0)
	f.write(dir+"/file", "before\n")
	f.mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY)
}

func (f *fixture) mount(source, target, kind string, flags uintptr) {
	f.Helper()
	if err := unix.Mount(source, target, kind, flags, ""); err != nil {
		f.Skipf("skipped: nothing can be mounted here: %v", err)
	}
	f.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
}
