package hostsockets

import (
	"slices"
	"strings"
	"testing"
)

const header = "Num       RefCount Protocol Flags    Type St Inode Path\n"

// row is how the kernel writes a listening stream socket: unix_seq_show.
const row = "0000000000000000: 00000002 00000000 00010000 0001 01    23 "

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"the header alone", header, nil},
		{"a socket", header + row + "/run/docker.sock\n", []string{"/run/docker.sock", "/run/docker.sock\n"}},
		{"a long inode", "ffff9d5b: 00000003 00000000 00000000 0005 03 4026531840 /run/x", []string{"/run/x"}},
		{"one without a path", header + "0000000000000000: 00000003 00000000 00000000 0001 03 12345\n", nil},
		{"an abstract one", row + "@/tmp/.X11-unix/X0", nil},
		{"a relative one", row + "docker.sock", nil},
		{"blanks in a path, and around it", row + "/a  b ", []string{"/a  b "}},
		{"a path that begins with blanks is relative", row + " /a", nil},
		{"a path that looks deleted", row + "/a (deleted)", []string{"/a (deleted)"}},
		{"a newline in a path", row + "/a\nb", []string{"/a", "/a\nb"}},
		{
			"a path that holds what looks like another socket", row + "/a\n" + row + "/b",
			[]string{"/a", "/a\n" + row + "/b", "/b"},
		},
		{"a path as long as can be", row + "/" + strings.Repeat("x", 107), []string{"/" + strings.Repeat("x", 107)}},
		{"a longer one is none", row + "/" + strings.Repeat("x", 108), nil},
		{"a cut line", "0000000000000000: 00000002 0000", nil},
		{"a line with a word for a number", strings.Replace(row, "0001", "zero", 1) + "/a", nil},
		{"no number", ": 0 0 0 0 0 0 /a", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(c.text); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(header + row + "/run/a\n" + row + "@b\n" + row + "/c\nd\n")
	f.Add(row)
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range parse(text) {
			if !strings.HasPrefix(path, "/") || len(path) > maxPath || !strings.Contains(text, path) {
				t.Errorf("%q is no path of the text", path)
			}
		}
		// Whatever else stands there, a socket at the end is found.
		if paths := parse(text + "\n" + row + "/last"); !slices.Contains(paths, "/last") {
			t.Errorf("the last socket is not among %q", paths)
		}
	})
}

func TestVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SSH_AUTH_SOCK", "DISPLAY", "VSCODE_IPC_HOOK", "VSCODE_IPC_HOOK_CLI", "ZELLIJ", "PAM_KWALLET5_LOGIN", "XDG_RUNTIME_DIR"} {
		if !IsVariable(name) {
			t.Errorf("%s leads nowhere", name)
		}
	}
	for _, name := range []string{"", "PATH", "HOME", "TERM", "DISPLAYS", "SSH_AUTH_SOC", "XDG_CONFIG_HOME", "VSCODE_PID", "PAM_KWALLET", "display"} {
		if IsVariable(name) {
			t.Errorf("%s is dropped", name)
		}
	}
	names := Variables()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("they are not sorted, or have duplicates")
	}
	for _, name := range names {
		if strings.Count(name, "*") > 1 || !IsVariable(strings.Replace(name, "*", "X", 1)) {
			t.Errorf("%s does not match itself", name)
		}
	}
	names[0] = "spoiled"
	if slices.Contains(Variables(), "spoiled") {
		t.Error("a caller can change the list")
	}
}
