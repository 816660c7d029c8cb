package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"hardshell/internal/fault"
)

func TestWriteFileCreates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := WriteFile(path, []byte("new"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("it holds %q", got)
	}
	wantMode(t, path, 0o666) // whatever the umask
	if got := names(t, dir); !slices.Equal(got, []string{"f"}) {
		t.Errorf("the directory holds %v", got)
	}
}

func TestWriteFileReplacesAndKeepsTheMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "old and longer")
	chmod(t, path, 0o644)
	before, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	if err := WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("it holds %q", got)
	}
	wantMode(t, path, 0o644)
	old := make([]byte, 100)
	if n, _ := before.Read(old); string(old[:n]) != "old and longer" {
		t.Errorf("a reader that had it open sees %q", old[:n])
	}
}

func TestWriteFileInTheWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := WriteFile("f", []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := names(t, "."); !slices.Equal(got, []string{"f"}) {
		t.Errorf("the directory holds %v", got)
	}
}

func TestWriteFileFollowsALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	// link -> dirlink/../f, where dirlink leads elsewhere: only the kernel's
	// reading of ".." finds real/f.
	target := filepath.Join(dir, "real", "f")
	write(t, target, "old")
	chmod(t, target, 0o640)
	symlink(t, filepath.Join("real", "sub"), filepath.Join(dir, "dirlink"))
	link := filepath.Join(dir, "link")
	symlink(t, "dirlink/../f", link)

	if err := WriteFile(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if got := read(t, target); got != "new" {
		t.Errorf("the target holds %q", got)
	}
	wantMode(t, target, 0o640)
	if got := tree(t, dir); !slices.Equal(got, []string{"dirlink", "link", "real", "real/f", "real/sub"}) {
		t.Errorf("the directory holds %v", got)
	}
}

func TestWriteFileRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path string
		want error
	}{
		"a directory":               {"dir", fault.InvalidArgument},
		"a link to a directory":     {"dirlink", fault.InvalidArgument},
		"a link that leads nowhere": {"dangling", fault.InvalidArgument},
		"a missing directory":       {"none/f", fs.ErrNotExist},
		"a file as directory":       {"file/f", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "dir", "full"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "file"), "old")
			symlink(t, "dir", filepath.Join(dir, "dirlink"))
			symlink(t, "nowhere", filepath.Join(dir, "dangling"))
			before := tree(t, dir)
			err := WriteFile(filepath.Join(dir, tt.path), []byte("new"), 0o600)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if after := tree(t, dir); !slices.Equal(after, before) {
				t.Errorf("the directory held %v and now %v", before, after)
			}
		})
	}
}

func TestReadersOfWriteFileNeverSeeAMixture(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	content := func(i int) string { return fmt.Sprintf("%0*d", 1000*(i%3+1), i) }
	write(t, path, content(0))
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			b, err := os.ReadFile(path)
			i, numErr := strconv.Atoi(string(b))
			if err != nil || numErr != nil || string(b) != content(i) {
				t.Errorf("read %d bytes: %v, %v", len(b), err, numErr)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for i := range 50 {
		if err := WriteFile(path, []byte(content(i)), 0o600); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	reader.Wait()
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}
