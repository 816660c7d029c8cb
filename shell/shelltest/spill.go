package shelltest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hardshell/shell"
)

// spill checks the files that hold streams which outgrew their window. A file
// that is not complete is never named.
func (s suite) spill(t *testing.T) {
	t.Run("the file has the whole stream", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 500})
		res := r.sh(t, "for i in $(seq -w 1 200); do echo line-$i; echo error-$i >&2; done")
		for name, out := range map[string]struct {
			text, path string
			truncated  bool
		}{
			"line":  {res.Stdout.Text, res.Stdout.SpillPath, res.Stdout.Truncated},
			"error": {res.Stderr.Text, res.Stderr.SpillPath, res.Stderr.Truncated},
		} {
			var want strings.Builder
			for i := range 200 {
				fmt.Fprintf(&want, "%s-%03d\n", name, i+1)
			}
			if !out.truncated || len(out.text) != 500 || !strings.HasSuffix(out.text, name+"-200\n") || strings.Contains(out.text, name+"-001") {
				t.Errorf("the %ss are %q", name, clip(out.text))
			}
			wantFile(t, out.path, want.String())
		}
		if res.Stdout.SpillPath == res.Stderr.SpillPath {
			t.Error("both streams have the same file")
		}
	})
	t.Run("the file belongs to its owner alone, in the directory for it", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 10})
		path := r.sh(t, "seq 1 100").Stdout.SpillPath
		if rel, err := filepath.Rel(r.spill, path); err != nil || strings.HasPrefix(rel, "..") {
			t.Errorf("the file %q is not below %q", path, r.spill)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Errorf("its mode is %v, want -rw-------", info.Mode())
		}
	})
	t.Run("the bound is the whole stream's", s.spillBound)
	t.Run("every run has a file of its own", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 10})
		first, second := r.sh(t, "seq 1 100"), r.sh(t, "seq 101 200")
		wantFile(t, first.Stdout.SpillPath, numbers(100))
		wantFile(t, second.Stdout.SpillPath, strings.TrimPrefix(numbers(200), numbers(100)))
	})
	t.Run("the file outlives the runtime", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 10})
		path := r.sh(t, "seq 1 100").Stdout.SpillPath
		if err := r.runtime.Close(guard(t)); err != nil {
			t.Fatal(err)
		}
		wantFile(t, path, numbers(100))
	})
	t.Run("the file is complete after an abort", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 10})
		live := new(tap)
		ctx, cancel := context.WithCancel(guard(t))
		defer cancel()
		result := r.background(t, ctx, shell.Request{Command: "seq 1 100; echo end; sleep " + marker(), Stdout: live})
		live.await(t, "end\n")
		cancel()
		res := result()
		wantCut(t, res, aborted)
		wantFile(t, res.Stdout.SpillPath, numbers(100)+"end\n")
	})
	t.Run("without a place for files the tail is kept", func(t *testing.T) {
		t.Parallel()
		file := tempDir(t) + "/file"
		touch(t, file)
		r := s.rig(t, Options{MaxOutputBytes: 10, SpillDir: file + "/spill"})
		res := r.sh(t, "seq 1 100; exit 3")
		wantExit(t, res, 3)
		if !res.Stdout.Truncated || res.Stdout.Text != "98\n99\n100\n" || res.Stdout.SpillPath != "" || res.Stdout.Bytes != 292 {
			t.Errorf("stdout is %+v, want the tail and no file", res.Stdout)
		}
	})
	t.Run("a place that has gone is no catastrophe", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 10})
		wantFile(t, r.sh(t, "seq 1 100").Stdout.SpillPath, numbers(100))
		if err := os.RemoveAll(r.spill); err != nil {
			t.Fatal(err)
		}
		res := r.sh(t, "seq 1 100; exit 3")
		wantExit(t, res, 3)
		if !res.Stdout.Truncated || res.Stdout.Text != "98\n99\n100\n" {
			t.Errorf("stdout is %+v, want the tail", res.Stdout)
		}
		if res.Stdout.SpillPath != "" {
			wantFile(t, res.Stdout.SpillPath, numbers(100))
		}
	})
}

func (s suite) spillBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script    string
		bytes           int
		truncated, file bool
	}{
		{"within the window there is none", "printf '%01000d' 7", 1000, false, false},
		{"at the bound it is complete", "printf '%02000d' 7", 2000, true, true},
		{"at the bound in small pieces it is complete", "printf '%02000d' 7 | dd bs=100 status=none", 2000, true, true},
		{"beyond the bound it is gone", "printf '%02000d' 7 | dd bs=100 status=none; printf x", 2001, true, false},
		{"far beyond the bound it is gone", "printf '%0200000d' 7", 200000, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.rig(t, Options{MaxOutputBytes: 1000, MaxSpillBytes: 2000})
			res := r.sh(t, c.script)
			if res.Stdout.Truncated != c.truncated || res.Stdout.Bytes != int64(c.bytes) || len(res.Stdout.Text) != 1000 {
				t.Errorf("truncated %v, bytes %d, %d bytes of text", res.Stdout.Truncated, res.Stdout.Bytes, len(res.Stdout.Text))
			}
			if c.file {
				wantFile(t, res.Stdout.SpillPath, strings.Repeat("0", c.bytes-1)+"7")
			} else if res.Stdout.SpillPath != "" {
				t.Errorf("the file %q is named", res.Stdout.SpillPath)
			}
			if files := filesBelow(t, r.spill); (len(files) > 0) != c.file {
				t.Errorf("the directory holds %v", files)
			}
		})
	}
}

// filesBelow lists the files in a directory and its subdirectories.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
