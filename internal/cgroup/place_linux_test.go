package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

const hybrid = `30 22 0:27 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
34 30 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 30 0:37 / /sys/fs/cgroup/unified rw,relatime shared:5 - cgroup2 cgroup2 rw
`

func unified(root, point, options string) string {
	return "35 24 0:30 " + root + " " + point + " " + options + " shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
}

func TestTheGroupOfAProcessIsLocated(t *testing.T) {
	t.Parallel()
	const rw = "rw,nosuid,nodev,noexec,relatime"
	for name, c := range map[string]struct{ own, table, dir, top string }{
		"in the usual place":                {"0::/user.slice/x.scope\n", unified("/", "/sys/fs/cgroup", rw), "/sys/fs/cgroup/user.slice/x.scope", "/sys/fs/cgroup"},
		"at the root":                       {"0::/\n", unified("/", "/sys/fs/cgroup", rw), "/sys/fs/cgroup", "/sys/fs/cgroup"},
		"beside the first version":          {"4:memory:/a\n1:name=systemd:/b\n0::/c\n", hybrid, "/sys/fs/cgroup/unified/c", "/sys/fs/cgroup/unified"},
		"where a part is mounted":           {"0::/a/b/c\n", unified("/a/b", "/mnt", rw), "/mnt/c", "/mnt"},
		"not where another part is mounted": {"0::/a/bc\n", unified("/a/b", "/mnt", rw), "", ""},
		"not on a read-only mount":          {"0::/a\n", unified("/", "/sys/fs/cgroup", "ro,nosuid"), "", ""},
		"not with the first version alone":  {"4:memory:/a\n", hybrid, "", ""},
		"not outside of the namespace":      {"0::/../a\n", unified("/", "/sys/fs/cgroup", rw), "", ""},
		"not after it was removed":          {"0::/a (deleted)\n", unified("/", "/sys/fs/cgroup", rw), "", ""},
		"not where nothing is mounted":      {"0::/a\n", "30 22 0:27 / / rw - ext4 /dev/a rw\n", "", ""},
		"not in a tree that is measured":    {"0::/x.service/hardshell-12-3\n", unified("/", "/sys/fs/cgroup", rw), "", ""},
		"not below a tree that is measured": {"0::/x.service/hardshell-12-3/a\n", unified("/", "/sys/fs/cgroup", rw), "", ""},
		"in a unit with such a name":        {"0::/hardshell-a.service/main\n", unified("/", "/sys/fs/cgroup", rw), "/sys/fs/cgroup/hardshell-a.service/main", "/sys/fs/cgroup"},
	} {
		if dir, top, _ := locate(c.own, c.table); dir != c.dir || dir != "" && top != c.top {
			t.Errorf("%s: %q in %q, want %q in %q", name, dir, top, c.dir, c.top)
		}
	}
}

func FuzzLocate(f *testing.F) {
	f.Add("0::/a/b\n", unified("/", "/sys/fs/cgroup", "rw"))
	f.Add("4:memory:/a\n0::/c\n", hybrid)
	f.Fuzz(func(t *testing.T, own, table string) {
		dir, top, mounts := locate(own, table)
		if dir != "" && (!slices.Contains(mounts, top) || dir != filepath.Clean(dir)) {
			t.Errorf("%q, %q, %q", dir, top, mounts)
		}
	})
}

// group makes what looks like a control group.
func group(t *testing.T, dir, controllers string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cgroup.procs": "", "cgroup.subtree_control": controllers} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAPlaceIsFoundWhereItIsDelegated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		above, own string // the controllers of their children; "-" is no group
		marked     bool
		change     func(t *testing.T, above string)
		want       string // "above", "own" or ""
	}{
		"beside its own group":              {above: "cpu memory", marked: true, want: "above"},
		"beside it once memory is enabled":  {above: "cpu", marked: true, want: "above"},
		"not where systemd did not mark it": {above: "cpu memory"},
		"not where memory is no controller": {marked: true, change: func(t *testing.T, above string) {
			os.Remove(above + "/cgroup.subtree_control")
		}},
		"not where no process may be put": {above: "memory", marked: true, change: func(t *testing.T, above string) {
			os.Remove(above + "/cgroup.procs")
		}},
		"in its own group, when that is the root and ready": {above: "-", own: "cpu memory", want: "own"},
		"not in a root that is not":                         {above: "-", own: "cpu", marked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			own := top
			if c.above != "-" {
				group(t, top, c.above)
				own = filepath.Join(top, "main")
			}
			group(t, own, c.own)
			if c.change != nil {
				c.change(t, top)
			}
			got := settle(own, top, func(dir string) bool { return c.marked && dir == top })
			want := map[string]string{"above": top, "own": own, "": ""}[c.want]
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if list, _ := os.ReadFile(own + "/cgroup.subtree_control"); string(list) != c.own {
				t.Errorf("the own group's controllers are %q", list)
			}
		})
	}
}

func TestWhatGoneProcessesLeftIsRemoved(t *testing.T) {
	t.Parallel()
	const gone = "2147483646" // above every id that Linux gives
	dir := t.TempDir()
	own := strconv.Itoa(os.Getpid())
	for _, name := range []string{"hardshell-" + gone + "-1", "hardshell-" + gone + "-2/inside", "hardshell-" + own + "-1", "hardshell-" + gone + ".service", "hardshell-" + gone, "main"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir)
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	want := []string{"hardshell-" + gone + "-2", "hardshell-" + own + "-1", "hardshell-" + gone + ".service", "hardshell-" + gone, "main"}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left is %v, want %v", left, want)
	}
}
