package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/settings"
)

func TestALinkStaysAndItsTargetIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "dots"), 0o755))
	target := filepath.Join(dir, "dots", "mine.yaml")
	for name, before := range map[string]string{"of a link that leads nowhere": "", "of a link": "alpha: {a: 1}\n"} {
		t.Run(name, func(t *testing.T) {
			home := homeAt(t, t.TempDir())
			path := filepath.Join(home.Root(), "settings.yaml")
			must(t, os.Symlink(filepath.Join("..", filepath.Base(dir), "x"), path+".unused"))
			must(t, os.Symlink(filepath.Join(dir, "hop"), path))
			os.Remove(filepath.Join(dir, "hop"))
			must(t, os.Symlink("dots/../dots/mine.yaml", filepath.Join(dir, "hop")))
			os.Remove(target)
			if before != "" {
				put(t, target, before)
			}
			f := opened(t, Config{Home: home}, nil)
			f.mustSet("alpha", "a", 2)
			for _, link := range []string{path, filepath.Join(dir, "hop")} {
				if _, err := os.Readlink(link); err != nil {
					t.Error(err)
				}
			}
			if info, err := os.Lstat(target); err != nil || !info.Mode().IsRegular() {
				t.Errorf("the target: %v, %v", info, err)
			}
			f.holds(`alpha={"a":2}`)
			if left := names(t, filepath.Dir(target)); len(left) != 1 {
				t.Errorf("the target's directory holds %v", left)
			}
		})
	}
}

func TestALinkIntoADirectoryOfOthersIsNotObeyed(t *testing.T) {
	t.Parallel()
	for mode, refused := range map[os.FileMode]bool{0o777: true, 0o770: true, 0o777 | os.ModeSticky: false, 0o755: false} {
		dir := t.TempDir()
		must(t, os.Chmod(dir, mode))
		target := filepath.Join(dir, "mine.yaml")
		put(t, target, "alpha: {a: 1}\n")
		home := homeAt(t, t.TempDir())
		must(t, os.Symlink(target, filepath.Join(home.Root(), "settings.yaml")))
		p, err := New(Config{Home: home})
		must(t, err)
		_, err = p.Open(t.Context(), func(settings.Document) {})
		if refused != errors.Is(err, fault.DocumentInvalid) || !refused && err != nil {
			t.Errorf("mode %v: %v", mode, err)
		}
		must(t, p.Close(t.Context()))
		if !refused {
			opened(t, Config{Home: home}, nil).mustSet("alpha", "a", 2)
		}
		if refused && get(t, target) != "alpha: {a: 1}\n" {
			t.Errorf("mode %v: the file was written", mode)
		}
	}
}

func TestAWideModeIsNarrowedOnceWithAWarning(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, nil)
	put(t, f.path, "alpha: {a: 1}\n")
	for range 2 {
		must(t, os.Chmod(f.path, 0o666))
		f.mustSet("alpha", "a", time.Now().UnixNano())
		if info, _ := os.Stat(f.path); info.Mode() != 0o600 {
			t.Errorf("the mode is %v", info.Mode())
		}
	}
	if n := strings.Count(f.log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, f.log)
	}
	must(t, os.Chmod(f.path, 0o500))
	f.mustSet("alpha", "a", 3)
	if info, _ := os.Stat(f.path); info.Mode() != 0o500 {
		t.Errorf("the mode is %v", info.Mode())
	}
}
