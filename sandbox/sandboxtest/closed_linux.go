package sandboxtest

import (
	"context"
	"os"
	"strings"

	"hardshell/internal/fault"
	"hardshell/sandbox"
)

// closedChecks are about directories from which a command takes its own user's
// permissions, to have what is in them counted as absent when the next sandbox
// is made, and gives them back in that.
func closedChecks() []check {
	var checks []check
	for _, mode := range []sandbox.Mode{sandbox.ReadOnly, sandbox.WorkspaceWrite} {
		for _, bits := range []string{"0", "0400", "0100"} {
			checks = append(checks, check{name: string(mode) + ": what is hidden below a directory of the mode " + bits + " stays hidden", run: func(f *fixture) {
				for _, dir := range []string{f.Workspace, f.Outside} {
					f.mkdir(dir + "/.config/cloud")
					f.write(dir+"/.config/cloud/key", secret)
					f.write(dir+"/.config/other", "other\n")
				}
				policy := f.policy(mode)
				policy.Hide = []string{f.Workspace + "/.config/cloud", f.Outside + "/.config/cloud/key"}
				f.sh(f.confine(policy), `chmod `+bits+` "$ws/.config" "$out/.config"`)
				f.expectNoSecret(f.sh(f.confine(policy), `chmod 755 "$ws/.config" "$out/.config"; cat "$ws"/.config/cloud/* "$out/.config/cloud/key"; true`))
				// Mended outside, it is as it was.
				f.outside(`chmod 755 workspace/.config outside/.config`)
				r := f.sh(f.confine(policy), `cat "$ws/.config/cloud/key" "$out/.config/cloud/key" 2>/dev/null; cat "$ws/.config/other"`)
				f.expectNoSecret(r)
				f.expectStdout(r, "other\n")
			}})
		}
	}
	checks = append(checks,
		check{name: "what is hidden behind a link to a closed directory stays hidden", run: func(f *fixture) {
			f.mkdir(f.Workspace + "/dotfiles/deep/config")
			f.write(f.Workspace+"/dotfiles/deep/config/key", secret)
			f.symlink("dotfiles/deep/config", f.Workspace+"/.config")
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.Hide = []string{f.Workspace + "/.config", f.Workspace + "/.config/key"}
			f.sh(f.confine(policy), `chmod 0 dotfiles/deep; chmod 0 dotfiles`)
			f.expectNoSecret(f.sh(f.confine(policy), `chmod 755 dotfiles; chmod 755 dotfiles/deep; cat dotfiles/deep/config/key .config/key; true`))
		}},
		check{name: "what is hidden and protected at once is hidden", run: func(f *fixture) {
			f.mkdir(f.Workspace + "/.claude/deep")
			f.write(f.Workspace+"/.claude/deep/key", secret)
			f.write(f.Workspace+"/.envrc", secret)
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.Hide = []string{f.Workspace + "/.claude", f.Workspace + "/.claude/deep/key", f.Workspace + "/.envrc"}
			policy.Protect = []string{f.Workspace + "/.claude/deep"}
			f.expectNoSecret(f.sh(f.confine(policy), `cat .claude/deep/key .envrc; true`))
		}},
	)
	for _, closed := range []string{".git", ".git/info", ".git/modules", ".git/modules/sub", "sub", "parent", "repository"} {
		for _, bits := range []string{"0", "0400", "0300"} {
			checks = append(checks, check{name: "what is protected below " + closed + " stays so with its mode " + bits, run: func(f *fixture) {
				f.newRepository()
				f.outside(`cd workspace && mkdir -p parent/extra && echo true >parent/extra/file && git init -q repository`)
				policy := f.protecting()
				policy.Protect = append(policy.Protect, f.Workspace+"/parent/extra")
				state := func() string {
					return f.outside(`cd workspace && chmod u+rwx .git .git/info .git/modules .git/modules/sub sub parent repository
cat .git/config .git/info/attributes .git/modules/sub/config sub/.git parent/extra/file repository/.git/config
ls .git/hooks .git/modules/sub/hooks repository/.git/hooks parent/extra hook-directory`)
				}
				reported := f.confine(policy).Report() // and what it needs is made
				before := state()
				f.sh(f.confine(policy), `chmod `+bits+` `+closed)
				c, err := f.Provider.Confine(context.Background(), policy)
				if err != nil {
					// What is in it names other paths, which are not known now.
					f.expectClosed(err, f.Workspace+"/"+closed)
					if f.outside(`chmod 755 workspace/` + closed); f.confine(policy).Report() != reported {
						f.Error("less is enforced after it was mended")
					}
					return
				}
				r := f.sh(c, `chmod 755 `+closed+`
for file in .git/config .git/info/attributes .git/modules/sub/config sub/.git parent/extra/file repository/.git/config; do echo evil >>$file; done
for dir in .git/hooks .git/modules/sub/hooks repository/.git/hooks parent/extra hook-directory; do echo evil >$dir/evil; done; true`)
				if reported.Effects.ProtectedPaths != sandbox.Full {
					f.Logf("tolerated: protected paths are reported %s", reported.Effects.ProtectedPaths)
				} else if c.Report() != reported {
					f.Errorf("less is enforced: %+v", c.Report())
				} else if after := state(); after != before {
					f.Errorf("protected was\n%s\nand is\n%s\n%v", before, after, r)
				}
			}})
		}
	}
	return checks
}

// closedWorkspaceChecks are about a workspace that cannot be looked into itself.
func closedWorkspaceChecks() []check {
	return []check{
		{name: "a workspace that its user cannot look into is refused, with the remedy", run: func(f *fixture) {
			f.newRepository()
			f.sh(f.workspaceWrite(), `chmod 0 .`)
			c, err := f.Provider.Confine(context.Background(), f.policy(sandbox.WorkspaceWrite))
			if os.Geteuid() == 0 {
				if err != nil {
					f.Fatalf("root may look into everything: %v", err)
				}
				f.expectStdout(f.sh(c, `cat tracked`), "one\n")
				return
			}
			f.expectClosed(err, f.Workspace)
			f.outside(`chmod 755 workspace`)
			f.expectStdout(f.sh(f.workspaceWrite(), `cat tracked`), "one\n")
		}},
	}
}

// expectClosed expects a refusal that says how to mend what is closed.
func (f *fixture) expectClosed(err error, path string) {
	f.Helper()
	f.expectFault(err, fault.SandboxUnavailable)
	if err == nil || !strings.Contains(err.Error(), "chmod u+rwX '"+path+"'") {
		f.Errorf("the refusal does not say how to mend %s: %v", path, err)
	}
}
