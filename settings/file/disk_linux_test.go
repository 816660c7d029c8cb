package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/settings"
)

// exchange swaps two files in one step, as some editors do.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

func init() {
	saves["exchange"] = func(path, data string) error {
		return errors.Join(os.WriteFile(path+".swp", []byte(data), 0o600), exchange(path+".swp", path), os.Remove(path+".swp"))
	}
	roles["small-disk"] = func(args []string) error {
		// Private mounts: they go with this process.
		disk := filepath.Join(args[0], "disk")
		if err := errors.Join(
			unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
			os.Mkdir(disk, 0o700),
			unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k,nr_inodes=64"),
		); err != nil {
			return err
		}
		home, err := state.ResolveHome(filepath.Join(args[0], "home"))
		if err != nil {
			return err
		}
		path := filepath.Join(disk, "settings.yaml")
		p, err := New(Config{Home: home, Path: path, Debounce: -1})
		if err != nil {
			return err
		}
		if _, err := p.Open(bg, func(settings.Document) {}); err != nil {
			return err
		}
		if _, err := set(bg, p, "alpha", "a", 1); err != nil {
			return err
		}
		before, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		refused := func(what string, cause error) error {
			began := time.Now()
			_, err := set(bg, p, "alpha", "a", strings.Repeat("x", 100_000))
			if !errors.Is(err, fault.SettingsReadOnly) || !errors.Is(err, cause) || time.Since(began) > 3*time.Second {
				return fmt.Errorf("%s: %w after %v", what, err, time.Since(began))
			}
			after, err := os.ReadFile(path)
			if string(after) != string(before) {
				return fmt.Errorf("%s: the file holds %q, %w", what, after, err)
			}
			if entries, err := os.ReadDir(disk); len(entries) != 1 {
				return fmt.Errorf("%s: the directory has %v, %w", what, entries, err)
			}
			return nil
		}
		if err := refused("a full disk", syscall.ENOSPC); err != nil {
			return err
		}
		if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			return err
		}
		if err := refused("a read-only disk", syscall.EROFS); err != nil {
			return err
		}
		if err := unix.Mount("", disk, "", unix.MS_REMOUNT, ""); err != nil {
			return err
		}
		stored, err := set(bg, p, "alpha", "a", 2)
		if err == nil && stored.Revision != 2 {
			err = fmt.Errorf("the revision is %d", stored.Revision)
		}
		return err
	}
}

func TestADiskThatIsFullOrReadOnly(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	cmd := process(t, "small-disk", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
