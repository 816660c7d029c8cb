package gitdir

import (
	"slices"
	"testing"
)

func TestWhatAConfigurationNamesIsProtected(t *testing.T) {
	for _, c := range []struct {
		name, config string
		files        []string
		links        map[string]string
		protected    []string
		pinned       []string
		exposed      []string
	}{
		{
			name: "a directory of hooks", config: "[core]\n\thooksPath = .husky/_\n", files: []string{".husky/_/pre-commit"},
			protected: []string{".husky/_"}, pinned: []string{".husky"},
		},
		{
			name: "one that is absent", config: "[core]\n\thooksPath = no/such\n", exposed: []string{"no/such"},
		},
		{
			name: "one behind a link", config: "[core]\n\thooksPath = l/h\n", files: []string{"real/h/x"}, links: map[string]string{"l": "real"},
			protected: []string{"real/h"}, pinned: []string{"real"}, exposed: []string{"l/h"},
		},
		{
			name: "one that is the work tree, which cannot be closed", config: "[core]\n\thooksPath = .\n", exposed: []string{""},
		},
		{
			name: "one that holds the repository", config: "[core]\n\thooksPath = .git\n", exposed: []string{".git"},
		},
		{
			name: "one outside, which is not writable", config: "[core]\n\thooksPath = /usr/share\n",
		},
		{
			name: "one below the home", config: "[core]\n\thooksPath = ~/h\n", files: []string{"h/x"}, protected: []string{"h"},
		},
		{
			name: "an included file", config: "[include]\n\tpath = ../.gitconfig\n", files: []string{".gitconfig"}, protected: []string{".gitconfig"},
		},
		{
			name: "what is included on a condition", config: "[includeIf \"onbranch:x\"]\n\tpath = ../a/b\n", files: []string{"a/b"},
			protected: []string{"a/b"}, pinned: []string{"a"},
		},
		{
			name:   "hooks inside of a protected directory are protected with it",
			config: "[core]\n\thooksPath = a\n[include]\n\tpath = ../a/b/c\n", files: []string{"a/b/c"}, protected: []string{"a"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			root := w.repository("r")
			t.Setenv("HOME", root)
			w.write("r/.git/config", "[core]\n\trepositoryformatversion = 0\n"+c.config)
			for _, file := range c.files {
				w.write("r/"+file, "")
			}
			for name, target := range c.links {
				w.link(target, "r/"+name)
			}
			want := Layout{
				Pinned:    append([]string{".git"}, c.pinned...),
				Protected: append([]string{".git/config", ".git/hooks"}, c.protected...),
				Exposed:   append([]string{".git/commondir"}, c.exposed...),
			}
			for _, list := range []*[]string{&want.Pinned, &want.Protected, &want.Exposed} {
				for i, path := range *list {
					if path == "" {
						(*list)[i] = "r"
					} else {
						(*list)[i] = "r/" + path
					}
				}
				slices.Sort(*list)
			}
			w.want(Find(root), want)
		})
	}
}

func TestIncludesAreFollowedForProtectionInCirclesToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.repository("r")
	w.git("r", "config", "include.path", "../one")
	w.write("r/one", "[include]\n\tpath = two\n\tpath = one\n")
	w.write("r/two", "[include]\n\tpath = one\n[core]\n\thooksPath = tools\n")
	w.write("r/tools/pre-commit", "")
	got := Find(root)
	for _, path := range []string{"r/one", "r/two", "r/tools"} {
		if !slices.Contains(got.Protected, w.path(path)) {
			t.Errorf("%s is not protected", path)
		}
	}
	if got.Truncated {
		t.Error("a circle is no reason to give up")
	}
}

func TestHooksAreTakenFromEachWorkTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("main")
	w.git("main", "config", "core.hooksPath", "tools")
	w.git("main", "worktree", "add", "-q", "../wt")
	w.mkdir("wt/tools")
	if got := Find(w.path("wt")).Protected; !slices.Contains(got, w.path("wt/tools")) {
		t.Errorf("protected: %q", got)
	}
}

func TestFurtherConfigurationsAreHonoured(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.repository("r")
	w.write("r/user/config", "[core]\n\thooksPath = githooks\n")
	w.mkdir("r/githooks")
	got := Search{Configs: []string{w.path("r/user/config"), w.path("absent")}}.Find(root)
	for _, path := range []string{"r/user/config", "r/githooks"} {
		if !slices.Contains(got.Protected, w.path(path)) {
			t.Errorf("%s is not protected", path)
		}
	}
}
