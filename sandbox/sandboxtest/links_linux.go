package sandboxtest

import (
	"os"

	"hardshell/sandbox"
)

// linkChecks are about names in the workspace that lead out of it.
func linkChecks() []check {
	return []check{
		{name: "a symbolic link to a file outside is not written through", run: func(f *fixture) {
			f.symlink(f.Outside+"/file", f.Workspace+"/link")
			f.expectRefusedOutside(f.workspaceWrite(), `echo x >"$ws/link"`)
		}},
		{name: "a symbolic link that the command makes is not written through", run: func(f *fixture) {
			f.expectRefusedOutside(f.workspaceWrite(), `ln -s "$out" "$ws/link" && echo x >"$ws/link/new"`)
		}},
		{name: "a symbolic link to the parent is not written through", run: func(f *fixture) {
			f.expectRefusedOutside(f.workspaceWrite(), `ln -s .. "$ws/up" && echo x >"$ws/up/outside/new"`)
		}},
		{name: "a chain of symbolic links is not written through", run: func(f *fixture) {
			f.expectRefusedOutside(f.workspaceWrite(), `ln -s "$out" "$ws/a"; ln -s a "$ws/b"; ln -s b/dir "$ws/c"; echo x >"$ws/c/file"`)
		}},
		{name: "a symbolic link in the temp is not written through", run: func(f *fixture) {
			f.expectRefusedOutside(f.readOnly(), `ln -s "$out" "$TMPDIR/link" && echo x >"$TMPDIR/link/new"`)
		}},
		{name: "a file outside cannot be hard linked into the workspace and written", run: func(f *fixture) {
			f.expectRefusedOutside(f.workspaceWrite(), `ln "$out/file" "$ws/hard" && echo x >"$ws/hard"`)
		}},
		{name: "a file outside cannot be moved into the workspace", run: func(f *fixture) {
			f.expectRefusedOutside(f.workspaceWrite(), `mv "$out/file" "$ws/moved"`)
		}},
		{name: "a directory outside cannot be moved into the workspace", run: func(f *fixture) {
			f.expectRefusedOutside(f.workspaceWrite(), `mv "$out/dir" "$ws/moved"`)
		}},
		{name: "a directory that becomes a symbolic link between two commands is not written through", run: func(f *fixture) {
			f.mkdir(f.Workspace + "/dir")
			c := f.workspaceWrite()
			f.sh(c, `echo first >"$ws/dir/first"`)
			if err := os.RemoveAll(f.Workspace + "/dir"); err != nil {
				f.Fatal(err)
			}
			f.symlink(f.Outside, f.Workspace+"/dir")
			f.expectRefusedOutside(c, `echo x >"$ws/dir/new"`)
		}},
		{name: "a directory that a command swaps for a symbolic link all the time is not written through", run: func(f *fixture) {
			c := f.workspaceWrite()
			before := content(f.Outside)
			f.attempt(c, "write into a directory that is swapped", f.targetOf(nil))
			f.expectUnchanged(before, content(f.Outside))
		}},
		{name: "a workspace that becomes a symbolic link to elsewhere takes nothing along", run: func(f *fixture) {
			link := f.Base + "/link"
			f.symlink(f.Workspace, link)
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.WorkspaceRoot = link
			c := f.confine(policy)
			f.sh(c, `echo first >first`)
			if err := os.Remove(link); err != nil {
				f.Fatal(err)
			}
			f.symlink(f.Outside, link)
			f.expectRefusedOutside(c, `cd "$ws/../link" && echo x >new`)
		}},
		{name: "a workspace that a command replaces takes nothing along", run: func(f *fixture) {
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.WorkspaceRoot = f.Workspace + "/sub"
			policy.WritableRoots = []string{f.Workspace}
			f.mkdir(policy.WorkspaceRoot)
			f.sh(f.confine(policy), `mv "$ws/sub" "$ws/x" && ln -s "$out" "$ws/sub"`)
			c, err := f.Provider.Confine(f.Context(), policy)
			if err != nil {
				return // refusing it is as good
			}
			f.expectRefusedOutside(c, `echo x >"$out/new"`)
		}},
		{name: "a workspace that is replaced takes nothing along", run: func(f *fixture) {
			c := f.workspaceWrite()
			f.sh(c, `echo first >first`)
			if err := os.Rename(f.Workspace, f.Workspace+".old"); err != nil {
				f.Fatal(err)
			}
			f.symlink(f.Outside, f.Workspace)
			spec := f.bash(c, `echo x >"$ws/new"`)
			spec.Dir = f.Base
			before := content(f.Outside)
			if h, err := f.Runtime.Spawn(f.Context(), spec); err == nil { // refusing it is as good
				f.await(h)
			}
			f.expectUnchanged(before, content(f.Outside))
		}},
	}
}

// expectRefusedOutside runs a script that would change what lies outside.
func (f *fixture) expectRefusedOutside(c sandbox.Confinement, script string) {
	f.Helper()
	before := content(f.Outside)
	f.expectRefused(f.sh(c, script))
	f.expectUnchanged(before, content(f.Outside))
}
