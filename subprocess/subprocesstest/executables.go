//go:build unix

package subprocesstest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// executableChecks are about ResolveExecutable and the search that Spawn makes
// itself: they find the same file.
func executableChecks() []check {
	return []check{
		{"a bare name is found on the path of the child", bareName},
		{"what is no executable file is passed over", passedOver},
		{"a relative entry of the path is taken from this process's own directory", relativeEntry},
		{"an absolute name is itself", absoluteName},
		{"each refusal says why", unresolvable},
		{"a context that has ended gives its cause", resolveAborted},
		{"the inherited path counts when no other is given", inheritedPath},
	}
}

func (f *fixture) resolve(name string, env map[string]string) (string, error) {
	return f.Runtime.ResolveExecutable(context.Background(), name, env)
}

// finds expects that a name is the program at path, also for a child.
func (f *fixture) finds(name, searched, path string) {
	f.Helper()
	env := map[string]string{"PATH": searched}
	if got, err := f.resolve(name, env); err != nil || got != path {
		f.Errorf("ResolveExecutable(%q) on PATH=%s = %q, %v; want %q", name, searched, got, err, path)
	}
	spec := f.program(name)
	spec.Env = env
	f.expectStdout(f.run(spec), path+"\n")
}

// tool makes a program that prints its own path.
func (f *fixture) tool(name string) string {
	f.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
		f.Fatal(err)
	}
	f.script(name, "echo "+f.path(name))
	return f.path(name)
}

func bareName(f *fixture) {
	first, second := f.tool("a/tool"), f.tool("b/tool")
	f.finds("tool", f.path("a")+":"+f.path("b"), first)
	f.finds("tool", f.path("b")+":"+f.path("a"), second)
	f.finds("tool", f.path("missing")+":"+f.path("b"), second)
}

func passedOver(f *fixture) {
	want := f.tool("last/tool")
	for _, dir := range []string{"plain", "holder/tool", "dangling"} {
		if err := os.MkdirAll(f.path(dir), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	f.touch("plain/tool") // without the x bit: root may not run it either
	if err := os.Symlink("nowhere", f.path("dangling/tool")); err != nil {
		f.Fatal(err)
	}
	f.finds("tool", f.path("plain")+":"+f.path("holder")+":"+f.path("dangling")+":"+f.path("last"), want)
}

func relativeEntry(f *fixture) {
	want := f.tool("bin/tool")
	rel, err := filepath.Rel(workingDirectory(f.T), f.path("bin"))
	if err != nil {
		f.Fatal(err)
	}
	f.finds("tool", rel, want)
}

func absoluteName(f *fixture) {
	want := f.tool("tool")
	for _, env := range []map[string]string{nil, {"PATH": ""}} {
		if got, err := f.resolve(want, env); err != nil || got != want {
			f.Errorf("ResolveExecutable(%q) = %q, %v", want, got, err)
		}
	}
}

func unresolvable(f *fixture) {
	f.tool("tool")
	f.touch("plain")
	tests := []struct {
		name string
		env  map[string]string
		want string
	}{
		{"", nil, "must be non-empty"},
		{"./tool", nil, "is a relative path"},
		{"bin/tool", nil, "is a relative path"},
		{f.path("missing"), nil, "is not an executable file"},
		{f.path("plain"), nil, "is not an executable file"},
		{f.Dir, nil, "is not an executable file"},
		{"no-such-program-anywhere", nil, "was not found on PATH"},
		{"sleep", map[string]string{"PATH": ""}, "was not found on PATH"},
		{"plain", map[string]string{"PATH": f.Dir}, "was not found on PATH"},
	}
	for _, tt := range tests {
		got, err := f.resolve(tt.name, tt.env)
		if err == nil || got != "" {
			f.Errorf("ResolveExecutable(%q) = %q, %v; want an error", tt.name, got, err)
			continue
		}
		f.mentions(err, tt.want)
	}
}

func resolveAborted(f *fixture) {
	reason := errors.New("too late")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	if got, err := f.Runtime.ResolveExecutable(ctx, "sleep", nil); got != "" || !errors.Is(err, reason) {
		f.Errorf("ResolveExecutable = %q, %v; want the cause %v", got, err, reason)
	}
}

func inheritedPath(f *fixture) {
	want := f.tool("bin/tool")
	f.use(Options{SpillDir: f.SpillDir, Ambient: []string{"PATH=" + f.path("bin") + ":/usr/bin:/bin"}})
	if got, err := f.resolve("tool", nil); err != nil || got != want {
		f.Errorf("ResolveExecutable = %q, %v; want %q", got, err, want)
	}
	f.expectStdout(f.run(f.program("tool")), want+"\n")
	if _, err := f.resolve("tool", map[string]string{"PATH": "/usr/bin:/bin"}); err == nil {
		f.Error("the inherited path is searched although the entries give another")
	}
}
