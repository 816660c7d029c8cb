//go:build unix

package state

import (
	"errors"
	"os"
	"strings"
	"testing"

	"hardshell/internal/fault"
)

func TestCheckOfModes(t *testing.T) {
	t.Parallel()
	for mode, trusted := range map[os.FileMode]bool{
		0o700: true, 0o755: true, 0o750: true, 0o770: false, 0o702: false, 0o777: false,
	} {
		home := Home{root: t.TempDir()}
		chmod(t, home.Root(), mode)
		err := home.Check()
		if trusted && err != nil {
			t.Errorf("mode %o: %v", mode, err)
		}
		if !trusted && (!errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "chmod go-w")) {
			t.Errorf("mode %o: got %v, want %s with the fix", mode, err, fault.InvalidArgument)
		}
	}
}

func TestCheckOfTheOwner(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if os.Geteuid() == 0 {
		if err := os.Chown(root, 65534, -1); err != nil {
			t.Fatal(err)
		}
	} else {
		root = "/" // of root, and not to be written by others
	}
	err := (Home{root: root}).Check()
	if !errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("got %v, want %s naming the owner", err, fault.InvalidArgument)
	}
}
