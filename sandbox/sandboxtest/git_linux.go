package sandboxtest

import (
	"os"

	"hardshell/sandbox"
)

// gitChecks are about git that works although parts of its repository are
// protected.
func gitChecks() []check {
	var checks []check
	for _, c := range []change{
		{"git add and commit work", `echo two >new && git add new tracked && git commit -q -m two && git log -1 --format=%s`},
		{"git commit -a and amend work", `echo two >>tracked && git commit -q -a -m two && git commit -q --amend -m 'two' && git log -1 --format=%s`},
		{"git branch and switch work", `git switch -q -c side && echo x >x && git add x && git commit -q -m two && git branch -q -d main && git log -1 --format=%s`},
		{"git rebase works", `git checkout -q -b side && echo s >s && git add s && git commit -q -m two && git checkout -q main && echo m >m && git add m && git commit -q -m m && git rebase -q main side && git log -1 --format=%s`},
		{"git merge works", `git checkout -q -b side && echo s >s && git add s && git commit -q -m s && git checkout -q main && echo m >m && git add m && git commit -q -m m && git merge -q side -m two && git log -1 --format=%s`},
		{"git stash works", `echo x >>tracked && git stash -q && git stash pop -q && git commit -q -a -m two && git log -1 --format=%s`},
		{"git reset, restore and clean work", `echo x >>tracked && git restore tracked && git commit -q --allow-empty -m two && echo >junk && git clean -q -f && git reset -q --hard HEAD && git log -1 --format=%s`},
		{"git tag and notes work", `git commit -q --allow-empty -m two && git tag -a -m t v1 && git notes add -m n && git log -1 --format=%s --no-notes`},
		{"git worktree add works", `git worktree add -q wt -b side && cd wt && git commit -q --allow-empty -m two && git log -1 --format=%s && cd .. && git worktree remove wt`},
		{"git gc works", `git commit -q --allow-empty -m two && git gc -q --prune=now && git fsck --no-progress >/dev/null && git log -1 --format=%s`},
		{"git cherry-pick and revert work", `git checkout -q -b side && echo s >s && git add s && git commit -q -m two && git checkout -q main && git cherry-pick side >/dev/null && git log -1 --format=%s && git revert -n HEAD`},
		{"git status and diff work", `git status --short && git diff && git commit -q --allow-empty -m two && git log -1 --format=%s`},
	} {
		checks = append(checks, check{name: c.name, run: func(f *fixture) {
			f.outside(`git init -q workspace && cd workspace && echo one >tracked && git add tracked && git commit -q -m one && rm -f .git/hooks/*`)
			f.expectStdout(f.sh(f.workspaceWrite(), c.script), "two\n")
			f.expectSound(f.Workspace)
		}})
	}
	const commit = `echo two >>tracked && git commit -q -a -m two && git log -1 --format=%s`
	return append(checks,
		check{name: "git works in a linked worktree", run: func(f *fixture) {
			f.linkWorktree()
			f.expectStdout(f.sh(f.workspaceWrite(), commit+` && git stash list && git branch other && git gc -q`), "two\n")
			f.expectSound(f.Base + "/main")
		}},
		check{name: "git works in a submodule", run: func(f *fixture) {
			f.outside(`git init -q lib && cd lib && echo one >tracked && git add tracked && git commit -q -m one && cd ..
git init -q super && cd super && git -c protocol.file.allow=always submodule --quiet add ../lib sub && git commit -q -m sub`)
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.WorkspaceRoot = f.Base + "/super/sub"
			spec := f.bash(f.confine(policy), commit)
			spec.Dir = policy.WorkspaceRoot
			f.expectStdout(f.run(spec), "two\n")
			f.expectSound(f.Base + "/super/sub")
		}},
		check{name: "git works in a repository with submodules", run: func(f *fixture) {
			f.newRepository()
			f.expectStdout(f.sh(f.confine(f.protecting()), `cd sub && git commit -q --allow-empty -m inner && cd .. && git add sub && git commit -q -m two && git log -1 --format=%s`), "two\n")
		}},
		check{name: "git works in a repository below the workspace", run: func(f *fixture) {
			f.outside(`mkdir workspace/below; git init -q workspace/below && cd workspace/below && echo one >tracked && git add tracked && git commit -q -m one`)
			f.expectStdout(f.sh(f.workspaceWrite(), `cd below && `+commit), "two\n")
		}},
		check{name: "git makes a new repository in the workspace", run: func(f *fixture) {
			f.expectStdout(f.sh(f.workspaceWrite(), `git init -q new && cd new && echo one >tracked && git add tracked && `+commit), "two\n")
		}},
		check{name: "git clones into the workspace", run: func(f *fixture) {
			f.outside(`git init -q lib && cd lib && git commit -q --allow-empty -m two`)
			f.expectStdout(f.sh(f.workspaceWrite(), `git clone -q ../lib new && git -C new log -1 --format=%s`), "two\n")
		}},
		check{name: "git reads under read-only", run: func(f *fixture) {
			f.outside(`git init -q workspace && cd workspace && git commit -q --allow-empty -m two`)
			f.expectStdout(f.sh(f.readOnly(), `git status --short && git log -1 --format=%s`), "two\n")
		}},
		check{name: "an absent directory of hooks is made, and nothing that git would see", run: func(f *fixture) {
			f.outside(`git init -q workspace && rm -rf workspace/.git/hooks workspace/.git/info`)
			before := content(f.Workspace)
			f.expectOK(f.sh(f.workspaceWrite(), `true`))
			after := content(f.Workspace)
			delete(after, f.Workspace+"/.git/hooks")
			// A common directory that is the repository itself changes nothing,
			// and keeps a command from naming another.
			if text, err := os.ReadFile(f.Workspace + "/.git/commondir"); err == nil && string(text) == ".\n" {
				delete(after, f.Workspace+"/.git/commondir")
			}
			f.expectUnchanged(before, after)
			f.outside(`git -C workspace commit -q --allow-empty -m x && git -C workspace fsck --no-progress`)
		}},
		check{name: "a workspace without a repository gets nothing made in it", run: func(f *fixture) {
			f.expectOK(f.sh(f.workspaceWrite(), `true`))
			f.expectOK(f.sh(f.readOnly(), `true`))
			if after := content(f.Workspace); len(after) != 1 {
				f.Errorf("the workspace holds %v", after)
			}
		}},
	)
}

// expectSound expects that the host's git finds a repository in order.
func (f *fixture) expectSound(repository string) {
	f.Helper()
	f.outside(`cd "` + repository + `" && git fsck --no-progress --strict && git status --short`)
}
