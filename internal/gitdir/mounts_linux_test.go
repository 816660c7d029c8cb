package gitdir

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// confined runs a script in a mount namespace of its own in which the world is
// read-only but for root and what the layout of root makes writable, mounted
// as the layout says.
func (w world) confined(root, script string) (string, error) {
	w.t.Helper()
	l := Find(w.path(root))
	var mounts []string
	add := func(paths []string, options string) {
		for _, path := range paths {
			mounts = append(mounts, path+"\x00mount --bind \""+path+"\" \""+path+"\" && mount -o remount,bind,"+options+" \""+path+"\"")
		}
	}
	for _, dir := range l.Hooks {
		if err := os.Mkdir(dir, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	add([]string{w.top}, "ro")
	add(append([]string{w.path(root)}, l.Writable...), "rw")
	add(l.Pinned, "rw")
	add(append(l.Protected, l.Hooks...), "ro")
	slices.Sort(mounts) // parents before children
	setup := []string{"set -e"}
	for _, mount := range mounts {
		_, command, _ := strings.Cut(mount, "\x00")
		setup = append(setup, command)
	}
	setup = append(setup, "cd "+w.path(root), "set -x", script)

	args := []string{"--mount", "--propagation", "private", "bash", "-c", strings.Join(setup, "\n")}
	if os.Geteuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@x", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@x", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func needsMounts(t *testing.T) {
	t.Helper()
	args := []string{"--mount", "--propagation", "private", "mount", "--bind", "/tmp", "/tmp"}
	if os.Geteuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	if out, err := exec.Command("unshare", args...).CombinedOutput(); err != nil {
		t.Skipf("mounts cannot be made here: %v: %s", err, out)
	}
}

const ordinaryWork = `
echo x > new; git add new; git commit -q -m new
git checkout -q -b topic; echo y > new; git commit -q -a -m topic
git checkout -q -; git branch other; git branch -d other
echo z > third; git add third; git commit -q -m third
git rebase -q topic
echo w > new; git stash -q; git stash pop -q; git checkout -q new
git tag t; git worktree add -q "$PWD/extra-tree"; git -C extra-tree commit -q --allow-empty -m w
git worktree remove extra-tree
git gc -q; git fsck; git status
test -z "$(git status --porcelain)"
`

// Each layout must leave git able to work, and must hold against what is tried
// here. A failing line of the first kind fails the script (set -e).
func TestGitWorksAsTheLayoutIsMounted(t *testing.T) {
	t.Parallel()
	needsMounts(t)
	for _, c := range []struct {
		name, root string
		make       func(w world)
		gitdir     string // of the common repository, from root
	}{
		{"in a plain repository", "r", func(w world) { w.repository("r") }, ".git"},
		{"in one whose hooks are absent", "r", func(w world) { w.repository("r"); w.remove("r/.git/hooks") }, ".git"},
		{"in a linked work tree", "wt", func(w world) {
			w.repository("main")
			w.git("main", "worktree", "add", "-q", "../wt")
		}, "../main/.git"},
		{"in a repository with a linked work tree", "r", func(w world) {
			w.repository("r")
			w.git("r", "worktree", "add", "-q", "../wt")
		}, ".git"},
		{"in a submodule", "super/sub", func(w world) {
			w.repository("inner")
			w.repository("super")
			w.git("super", "submodule", "--quiet", "add", "../inner", "sub")
		}, "../.git/modules/sub"},
		{"in a repository with submodules and attributes", "super", func(w world) {
			w.repository("inner")
			w.repository("super")
			w.git("super", "submodule", "--quiet", "add", "../inner", "lib/sub")
			w.git("super", "commit", "-q", "-m", "sub")
			w.write("super/.git/info/attributes", "* text\n")
		}, ".git"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.make(w)
			attempts := `
git remote add x /x 2>/dev/null && echo HOLE remote
(echo x >> G/config) 2>/dev/null && echo HOLE config
(echo x > G/hooks/pre-commit) 2>/dev/null && echo HOLE hook
rm -rf G/hooks 2>/dev/null && echo HOLE hooks
mv G G.away 2>/dev/null && echo HOLE rename
rm G/config 2>/dev/null && echo HOLE delete
test -f .git && mv .git away 2>/dev/null && echo HOLE link
mv .git away 2>/dev/null && echo HOLE .git
for d in G/info/attributes; do test -e $d && mv G/info away 2>/dev/null && echo HOLE info; done
for d in G/modules G/modules/lib G/modules/lib/sub G/worktrees G/worktrees/wt; do
	test -e $d && mv $d away 2>/dev/null && echo HOLE $d
done
for f in lib/sub/.git G/modules/lib/sub/config G/worktrees/wt/gitdir G/worktrees/wt/commondir; do
	test -e $f && (echo x > $f) 2>/dev/null && echo HOLE $f
done
true
`
			out, err := w.confined(c.root, ordinaryWork+"set +x +e"+strings.ReplaceAll(attempts, "G", c.gitdir))
			if err != nil {
				t.Errorf("git does not work: %v\n%s", err, out)
			}
			if strings.Contains(out, "HOLE") {
				t.Errorf("the layout does not hold:\n%s", out)
			}
		})
	}
}
