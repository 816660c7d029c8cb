package sandboxtest

import (
	"maps"
	"os"
	"os/exec"

	"hardshell/sandbox"
)

// protectedPaths are, below the workspace of newRepository, what a command must
// not change although it may write around them: what the programs of the user
// execute or believe.
var protectedPaths = []string{
	".git/hooks", ".git/config", ".git/config.worktree", ".git/info/attributes", "hook-directory",
	".claude", ".codex", ".cursor", ".vscode", ".mcp.json", ".envrc",
	"sub/.git", ".git/modules/sub/config", ".git/modules/sub/hooks", "extra",
}

// newRepository makes the workspace a repository with a submodule, and with one
// of everything that is protected.
func (f *fixture) newRepository() {
	f.Helper()
	f.shared.once.Do(func() { f.outsideIn(f.shared.repository, modelRepository) })
	f.outside(`cp -a '` + f.shared.repository + `'/workspace/. workspace/`)
}

const modelRepository = `git init -q lib && git -C lib commit -q --allow-empty -m lib
git init -q workspace && cd workspace && echo one >tracked && git add tracked && git commit -q -m one
git -c protocol.file.allow=always submodule --quiet add ../lib sub && git commit -q -m sub
mkdir -p .claude .codex .cursor .vscode hook-directory extra .git/hooks .git/modules/sub/hooks .git/info
echo '{}' | tee .claude/settings.json .codex/config.toml .cursor/mcp.json .vscode/tasks.json >.mcp.json
echo true | tee .envrc hook-directory/pre-push extra/file .git/hooks/pre-commit.sample >/dev/null
chmod +x hook-directory/pre-push; echo '* text' >.git/info/attributes; : >.git/config.worktree
git config core.hooksPath hook-directory`

// outside runs a script on the host.
func (f *fixture) outside(script string) string {
	f.Helper()
	return f.outsideIn(f.Base, script)
}

func (f *fixture) outsideIn(dir, script string) string {
	f.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+f.UserHome, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.Fatalf("on the host: %v\n%s", err, out)
	}
	return string(out)
}

// protectedState is the protected part of the workspace.
func (f *fixture) protectedState() snapshot {
	s := snapshot{}
	for _, path := range protectedPaths {
		maps.Copy(s, content(f.Workspace+"/"+path))
	}
	return s
}

func (f *fixture) protecting() sandbox.Policy {
	policy := f.policy(sandbox.WorkspaceWrite)
	policy.Protect = []string{f.Workspace + "/extra"}
	return policy
}

// protectedChecks are about protected paths. A tier that says that it cannot
// protect them is believed, and what happened then is logged.
func protectedChecks() []check {
	var checks []check
	for _, c := range []change{
		{"a hook is not made", `echo evil >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`},
		{"a hook is not written", `echo evil >.git/hooks/pre-commit.sample`},
		{"a hook is not moved in", `echo evil >x; mv x .git/hooks/pre-commit`},
		{"a hook is not linked in", `echo evil >x; ln x .git/hooks/pre-commit; ln -s ../../x .git/hooks/post-commit`},
		{"the hooks are not moved away", `mv .git/hooks .git/old && mkdir .git/hooks && echo evil >.git/hooks/pre-commit`},
		{"the hooks are not replaced by a link", `rm -rf .git/hooks; mkdir h; ln -s ../h .git/hooks; echo evil >h/pre-commit`},
		{"the repository is not moved away", `mv .git .git2 && mkdir -p .git/hooks && echo evil >.git/hooks/pre-commit; cp -r .git2/. .git`},
		{"the repository is not deleted with what is protected", `rm -rf .git; mkdir -p .git/hooks && echo evil >.git/hooks/pre-commit`},
		{"the repository is not made anew elsewhere", `mv .git x; git init -q --separate-git-dir="$ws/y" .; git config core.fsmonitor evil`},
		{"the configuration is not written", `echo '[core]' >>.git/config`},
		{"the configuration is not set by git", `git config core.fsmonitor evil`},
		{"no remote is added", `git remote add origin /evil`},
		{"the configuration is not replaced", `echo '[core]' >x; mv x .git/config; cp --remove-destination x .git/config`},
		{"the configuration is not replaced by a hard link", `echo '[core]' >x; ln -f x .git/config`},
		{"the configuration is not deleted", `rm -f .git/config`},
		{"the configuration of a worktree is not written", `echo '[core]' >>.git/config.worktree; rm -f .git/config.worktree`},
		{"the attributes are not written", `echo '* filter=evil' >>.git/info/attributes`},
		{"the attributes are not moved away with their directory", `mv .git/info .git/x; mkdir .git/info; echo '* filter=evil' >.git/info/attributes`},
		{"the directory of the hooks is not written to", `echo evil >hook-directory/pre-commit; echo evil >hook-directory/pre-push`},
		{"the directory of the hooks is not moved away", `mv hook-directory x; mkdir hook-directory; echo evil >hook-directory/pre-push`},
		{"the configuration of a submodule is not written", `echo '[core]' >>.git/modules/sub/config; git -C sub config core.fsmonitor evil`},
		{"a hook of a submodule is not made", `echo evil >.git/modules/sub/hooks/pre-commit`},
		{"a submodule is not led elsewhere", `git init -q x; echo "gitdir: $ws/x/.git" >sub/.git`},
		{"the submodules are not moved away", `mv .git/modules .git/x; mkdir -p .git/modules/sub/hooks; echo evil >.git/modules/sub/hooks/pre-commit`},
		{"the settings of an agent are not written", `echo evil >.claude/settings.json; echo evil >.claude/new; echo evil >.codex/config.toml; echo evil >.cursor/mcp.json`},
		{"the settings of an agent are not moved away", `mv .claude x; mkdir .claude; echo evil >.claude/settings.json`},
		{"the settings of an agent are not deleted", `rm -rf .claude .codex .cursor .vscode .mcp.json .envrc`},
		{"the settings of an editor are not written", `echo evil >.vscode/tasks.json; rm .vscode/tasks.json`},
		{"the servers of an agent are not written", `echo evil >.mcp.json; echo evil >x; mv x .mcp.json`},
		{"the environment of the directory is not written", `echo evil >.envrc; echo evil >x; ln -f x .envrc`},
		{"what the policy adds is not written", `echo evil >extra/file; echo evil >extra/new; mv extra x`},
		{"nothing is written through the descriptor of a directory", `cd .git && echo evil >hooks/pre-commit; cd ../.claude && echo evil >./settings.json`},
		{"nothing is written through /proc", `echo evil >/proc/self/cwd/.git/hooks/pre-commit; echo evil >"/proc/self/root$ws/.envrc"`},
		{"nothing is written by another spelling", `echo evil >"$ws/./.git//hooks/../hooks/pre-commit"`},
	} {
		checks = append(checks, check{name: c.name, run: func(f *fixture) {
			f.newRepository()
			f.expectProtected(f.confine(f.protecting()), c.script)
		}})
	}
	return append(checks,
		check{name: "the mode of a protected file is not changed", run: func(f *fixture) {
			f.newRepository()
			c := f.confine(f.protecting())
			before := everythingOf(f.Workspace + "/.git/hooks")
			r := f.sh(c, `chmod 0777 .git/hooks/pre-commit.sample; touch .git/hooks/pre-commit.sample; chmod 0777 .git/hooks`)
			if c.Report().Effects.ProtectedPaths == sandbox.Full {
				f.expectRefused(r)
				f.expectUnchanged(before, everythingOf(f.Workspace+"/.git/hooks"))
			}
		}},
		check{name: "hooks of a repository that has none are not made", run: func(f *fixture) {
			f.outside(`git init -q workspace && rm -rf workspace/.git/hooks`)
			c := f.workspaceWrite()
			r := f.sh(c, `mkdir -p .git/hooks; echo evil >.git/hooks/pre-commit; mv .git/hooks .git/x; mkdir .git/hooks && echo evil >.git/hooks/pre-commit`)
			if c.Report().Effects.ProtectedPaths == sandbox.Full && exists(f.Workspace+"/.git/hooks/pre-commit") {
				f.Errorf("the hook was made: %v", r)
			}
		}},
		check{name: "a configuration that git replaces on the host stays protected", run: func(f *fixture) {
			f.newRepository()
			f.sh(f.confine(f.protecting()), `true`)
			f.outside(`git -C workspace config user.name B`)
			f.expectProtected(f.confine(f.protecting()), `echo '[core]' >>.git/config`)
		}},
		check{name: "a repository that comes later is protected", run: func(f *fixture) {
			f.sh(f.confine(f.policy(sandbox.WorkspaceWrite)), `true`)
			f.newRepository()
			f.expectProtected(f.confine(f.protecting()), `echo '[core]' >>.git/config; echo evil >.git/hooks/pre-commit; echo evil >.envrc`)
		}},
		check{name: "the configuration of a repository is not displaced by a common directory", run: func(f *fixture) {
			f.newRepository()
			c := f.confine(f.protecting())
			r := f.sh(c, `cp -r .git "$ws/evil"; rm -f evil/config; printf '[core]\n\tfsmonitor = evil\n' >evil/config; echo "$ws/evil" >.git/commondir`)
			if seen := f.outside(`git -C workspace config --get core.fsmonitor || true`); seen != "" && c.Report().Effects.ProtectedPaths == sandbox.Full {
				f.Errorf("git believes %q: %v", seen, r)
			}
		}},
		check{name: "a file .git that a command writes widens nothing", run: func(f *fixture) {
			f.expectRefused(f.sh(f.workspaceWrite(), `echo "gitdir: $out" >.git; echo x >"$out/new"`))
			f.expectRefusedOutside(f.workspaceWrite(), `echo x >"$out/new"`)
		}},
		check{name: "a file .git that leads to another repository widens nothing", run: func(f *fixture) {
			f.outside(`git init -q outside`)
			f.write(f.Workspace+"/.git", "gitdir: "+f.Outside+"/.git\n")
			f.expectRefusedOutside(f.workspaceWrite(), `echo x >"$out/.git/refs/heads/new"; echo x >"$out/.git/HEAD"`)
		}},
		check{name: "a symbolic link .git to another repository widens nothing", run: func(f *fixture) {
			f.outside(`git init -q outside`)
			f.symlink(f.Outside+"/.git", f.Workspace+"/.git")
			f.expectRefusedOutside(f.workspaceWrite(), `echo x >"$out/.git/refs/heads/new"; echo x >"$out/.git/HEAD"`)
		}},
		check{name: "a common directory that a command names widens nothing", run: func(f *fixture) {
			f.outside(`git init -q outside`)
			f.mkdir(f.Workspace + "/.git")
			f.write(f.Workspace+"/.git/commondir", f.Outside+"/.git\n")
			f.write(f.Workspace+"/.git/HEAD", "ref: refs/heads/main\n")
			f.write(f.Workspace+"/.git/gitdir", f.Workspace+"/.git\n")
			f.expectRefusedOutside(f.workspaceWrite(), `echo x >"$out/.git/refs/heads/new"; echo x >"$out/.git/HEAD"`)
		}},
		check{name: "a directory of hooks outside is not made writable", run: func(f *fixture) {
			f.outside(`git init -q workspace; git -C workspace config core.hooksPath ` + f.Outside)
			f.expectRefusedOutside(f.workspaceWrite(), `echo x >"$out/pre-commit"`)
		}},
		check{name: "the main working tree of a linked worktree is not written to", run: func(f *fixture) {
			f.linkWorktree()
			before := content(f.Base + "/main/tracked")
			f.expectRefused(f.sh(f.workspaceWrite(), `echo x >../main/tracked`))
			f.expectUnchanged(before, content(f.Base+"/main/tracked"))
		}},
		check{name: "the hooks and the configuration of a linked worktree are not written", run: func(f *fixture) {
			f.linkWorktree()
			state := func() snapshot {
				s := content(f.Base + "/main/.git/hooks")
				maps.Copy(s, content(f.Base+"/main/.git/config"))
				maps.Copy(s, content(f.Workspace+"/.git"))
				return s
			}
			before := state()
			c := f.workspaceWrite()
			f.sh(c, `echo evil >../main/.git/hooks/pre-commit; git config core.fsmonitor evil; echo '[core]' >>../main/.git/config; mv ../main/.git ../main/x; echo "gitdir: $ws/x" >.git`)
			if c.Report().Effects.ProtectedPaths == sandbox.Full {
				f.expectUnchanged(before, state())
			}
		}},
	)
}

// expectProtected runs a script that would change what is protected.
func (f *fixture) expectProtected(c sandbox.Confinement, script string) {
	f.Helper()
	before := f.protectedState()
	r := f.sh(c, script)
	if c.Report().Effects.ProtectedPaths != sandbox.Full {
		f.Logf("tolerated: protected paths are reported %s", c.Report().Effects.ProtectedPaths)
		return
	}
	f.Log(r)
	f.expectUnchanged(before, f.protectedState())
}

// linkWorktree makes the workspace a linked worktree of the repository main.
func (f *fixture) linkWorktree() {
	f.Helper()
	f.outside(`rmdir workspace; git init -q main && cd main && echo one >tracked && git add tracked && git commit -q -m one
git worktree add -q ../workspace -b side; mkdir -p .git/hooks`)
}
