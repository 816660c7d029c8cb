package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDefaultHide(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	hidden := []string{".ssh/id_rsa", ".ssh/id_work", ".ssh/deploy_ed25519", ".ssh/cloud.pem", ".config/google-chrome-beta"}
	readable := []string{".ssh/id_rsa.pub", ".ssh/config", ".ssh/known_hosts", ".ssh/deploy_ed25519.pub", ".npmrc", ".gitconfig", ".config/git/config"}
	for _, name := range append(slices.Clone(hidden), readable...) {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := DefaultHide(home)
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Error("it is not sorted, or has duplicates")
	}
	// Absent ones are listed too.
	for _, name := range append(hidden, ".aws", ".netrc", ".mozilla", ".gnupg") {
		if !slices.Contains(got, filepath.Join(home, name)) {
			t.Errorf("%s is not hidden", name)
		}
	}
	for _, name := range readable {
		for _, hidden := range got {
			if file := filepath.Join(home, name); file == hidden || strings.HasPrefix(file, hidden+"/") {
				t.Errorf("%s is hidden by %s", name, hidden)
			}
		}
	}
	if got := DefaultHide("relative"); got != nil {
		t.Errorf("below a relative home %q is hidden", got)
	}
}

func TestADirectoryOfPatternsThatCannotBeListedIsHiddenAsAWhole(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("skipped: root lists every directory")
	}
	home := t.TempDir()
	dir := filepath.Join(home, ".ssh")
	if err := os.Mkdir(dir, 0o100); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	if !slices.Contains(DefaultHide(home), dir) {
		t.Error(".ssh is not hidden")
	}
	if os.Chmod(dir, 0o700); slices.Contains(DefaultHide(home), dir) {
		t.Error(".ssh is hidden as a whole although it can be listed")
	}
}

func TestEverySecretIsWellFormed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, secret := range secrets {
		dir, pattern := path.Split(secret.path)
		if secret.what == "" || seen[secret.path] || path.Clean(secret.path) != secret.path || path.IsAbs(secret.path) || strings.Contains(dir, "*") {
			t.Errorf("%q", secret.path)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			t.Errorf("%q: %v", secret.path, err)
		}
		seen[secret.path] = true
	}
}
