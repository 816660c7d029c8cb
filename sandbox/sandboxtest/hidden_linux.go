package sandboxtest

import (
	"os"

	"hardshell/sandbox"
)

// hiddenChecks are about what a policy hides.
func hiddenChecks() []check {
	hide := func(mode sandbox.Mode, path func(*fixture) string, script string) func(*fixture) {
		return func(f *fixture) {
			policy := f.policy(mode)
			policy.Hide = []string{path(f)}
			r := f.sh(f.confine(policy), script+"\ntrue")
			f.expectNoSecret(r)
		}
	}
	file := func(f *fixture) string {
		f.write(f.Outside+"/key", secret)
		return f.Outside + "/key"
	}
	directory := func(f *fixture) string {
		f.mkdir(f.Outside + "/keys/deep")
		f.write(f.Outside+"/keys/key", secret)
		f.write(f.Outside+"/keys/deep/key", secret)
		return f.Outside + "/keys"
	}
	fileInside := func(f *fixture) string {
		f.write(f.Workspace+"/key", secret)
		return f.Workspace + "/key"
	}
	directoryInside := func(f *fixture) string {
		f.mkdir(f.Workspace + "/keys")
		f.write(f.Workspace+"/keys/key", secret)
		return f.Workspace + "/keys"
	}
	link := func(f *fixture) string {
		f.symlink(file(f), f.Outside+"/link")
		return f.Outside + "/link"
	}
	return []check{
		{name: "a hidden file is not read", run: hide(sandbox.ReadOnly, file, `cat "$out/key"; cp "$out/key" "$TMPDIR/k" && cat "$TMPDIR/k"; ln -s "$out/key" "$TMPDIR/l"; cat "$TMPDIR/l"`)},
		{name: "a hidden file is not read under workspace-write", run: hide(sandbox.WorkspaceWrite, file, `cat "$out/key"; mv "$out/key" "$ws/k" && cat "$ws/k"; ln "$out/key" "$ws/l" && cat "$ws/l"`)},
		{name: "a hidden directory is not read", run: hide(sandbox.ReadOnly, directory, `cat "$out"/keys/* "$out/keys/key" "$out/keys/deep/key"; cd "$out/keys" && cat key; tar cf - "$out/keys"`)},
		{name: "a hidden directory is not read under workspace-write", run: hide(sandbox.WorkspaceWrite, directory, `cat "$out/keys/key"; mv "$out/keys" "$ws/k" && cat "$ws/k/key"`)},
		{name: "a hidden file in the workspace is not read under read-only", run: hide(sandbox.ReadOnly, fileInside, `cat "$ws/key"; cat ./key`)},
		{name: "a hidden file in the workspace is not read", run: hide(sandbox.WorkspaceWrite, fileInside, `cat "$ws/key"; mv "$ws/key" "$ws/k" && cat "$ws/k"; ln "$ws/key" "$ws/l" && cat "$ws/l"; cat ./key`)},
		{name: "a hidden directory in the workspace is not read", run: hide(sandbox.WorkspaceWrite, directoryInside, `cat "$ws/keys/key"; mv "$ws/keys" "$ws/k" && cat "$ws/k/key"; cd keys && cat key`)},
		{name: "what a hidden symbolic link leads to is not read", run: hide(sandbox.ReadOnly, link, `cat "$out/link"; cat "$out/key"`)},
		{name: "the parent of a hidden file in the workspace is not moved away to read it", run: func(f *fixture) {
			f.mkdir(f.Workspace + "/parent")
			f.write(f.Workspace+"/parent/key", secret)
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.Hide = []string{f.Workspace + "/parent/key"}
			f.expectNoSecret(f.sh(f.confine(policy), `mv parent moved; cat moved/key parent/key; true`))
		}},
		{name: "a hidden file that the host replaces stays hidden", run: func(f *fixture) {
			f.write(f.Outside+"/key", "old")
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.Hide = []string{f.Outside + "/key"}
			c := f.confine(policy)
			f.expectOK(f.sh(c, `true`))
			// As editors and credential programs save.
			f.write(f.Outside+"/key.new", secret)
			if err := os.Rename(f.Outside+"/key.new", f.Outside+"/key"); err != nil {
				f.Fatal(err)
			}
			f.expectNoSecret(f.sh(f.confine(policy), `cat "$out/key"; true`))
		}},
		{name: "a hidden file that comes later is hidden", run: func(f *fixture) {
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.Hide = []string{f.Outside + "/later"}
			f.expectOK(f.sh(f.confine(policy), `true`))
			f.write(f.Outside+"/later", secret)
			f.expectNoSecret(f.sh(f.confine(policy), `cat "$out/later"; true`))
		}},
		{name: "a hidden directory in the workspace is not written to", run: func(f *fixture) {
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.Hide = []string{directoryInside(f)}
			before := content(f.Workspace + "/keys")
			f.sh(f.confine(policy), `echo x >keys/key; echo x >keys/new; rm -rf keys; true`)
			f.expectUnchanged(before, content(f.Workspace+"/keys"))
		}},
	}
}

// grantChecks are about explicit grants.
func grantChecks() []check {
	grant := func(f *fixture, change func(*sandbox.Policy)) sandbox.Confinement {
		policy := f.policy(sandbox.WorkspaceWrite)
		change(&policy)
		return f.confine(policy)
	}
	return []check{
		{name: "a writable root is written to", run: func(f *fixture) {
			c := grant(f, func(p *sandbox.Policy) { p.WritableRoots = []string{f.Outside} })
			f.expectOK(f.sh(c, `echo after >"$out/file" && mkdir "$out/new" && echo x >"$out/new/x"`))
			if !exists(f.Outside + "/new/x") {
				f.Error("the host does not see the file")
			}
		}},
		{name: "a writable root that is a symbolic link is written to", run: func(f *fixture) {
			f.symlink(f.Outside, f.Base+"/link")
			c := grant(f, func(p *sandbox.Policy) { p.WritableRoots = []string{f.Base + "/link"} })
			f.expectOK(f.sh(c, `echo x >"$out/new" && echo x >"$out/../link/other"`))
		}},
		{name: "a writable root does not count under read-only", run: func(f *fixture) {
			policy := f.policy(sandbox.ReadOnly)
			policy.WritableRoots = []string{f.Outside}
			f.expectRefusedOutside(f.confine(policy), `echo x >"$out/new"`)
		}},
		{name: "a writable root that is hidden is read and written", run: func(f *fixture) {
			c := grant(f, func(p *sandbox.Policy) {
				p.Hide, p.WritableRoots = []string{f.Outside}, []string{f.Outside}
			})
			f.expectStdout(f.sh(c, `cat "$out/file" && echo x >"$out/new"`), "before\n")
		}},
		{name: "a writable root below a hidden directory is read and written", run: func(f *fixture) {
			f.write(f.Outside+"/key", secret)
			c := grant(f, func(p *sandbox.Policy) {
				p.Hide, p.WritableRoots = []string{f.Outside}, []string{f.Outside + "/dir"}
			})
			r := f.sh(c, `cat "$out/key" 2>/dev/null; cat "$out/dir/file" && echo x >"$out/dir/new"`)
			f.expectStdout(r, "before\n")
		}},
		{name: "a workspace below a hidden directory is read and written", run: func(f *fixture) {
			c := grant(f, func(p *sandbox.Policy) { p.Hide = []string{f.Base} })
			f.expectStdout(f.sh(c, `echo hi >new && cat new`), "hi\n")
			f.expectNoSecret(f.sh(c, `cat "$dsh/run/token"; true`))
		}},
		{name: "a writable root that is protected is written to", run: func(f *fixture) {
			f.mkdir(f.Workspace + "/granted")
			c := grant(f, func(p *sandbox.Policy) {
				p.Protect, p.WritableRoots = []string{f.Workspace + "/granted"}, []string{f.Workspace + "/granted"}
			})
			f.expectOK(f.sh(c, `echo x >granted/new`))
		}},
		{name: "a control directory that is granted is written to", run: func(f *fixture) {
			f.mkdir(f.Workspace + "/.vscode")
			c := grant(f, func(p *sandbox.Policy) { p.WritableRoots = []string{f.Workspace + "/.vscode"} })
			f.expectOK(f.sh(c, `echo '{}' >.vscode/settings.json`))
		}},
		{name: "hiding what does not exist is no obstacle", run: func(f *fixture) {
			c := grant(f, func(p *sandbox.Policy) { p.Hide = []string{f.Base + "/none", f.Base + "/none/below"} })
			f.expectStdout(f.sh(c, `echo hi`), "hi\n")
			if exists(f.Base + "/none") {
				f.Error("it was made on the host")
			}
		}},
		{name: "what is beside a hidden file is read", run: func(f *fixture) {
			f.write(f.Outside+"/key", secret)
			c := grant(f, func(p *sandbox.Policy) { p.Hide = []string{f.Outside + "/key"} })
			f.expectStdout(f.sh(c, `cat "$out/file" "$out/dir/file"`), "before\nbefore\n")
		}},
	}
}
