package sandboxtest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
)

// result is how a command ended and what it wrote.
type result struct {
	Code           int
	Signal         string
	Stdout, Stderr string
}

func (r result) String() string {
	return fmt.Sprintf("code %d, signal %q, stdout %.400q, stderr %.400q", r.Code, r.Signal, r.Stdout, r.Stderr)
}

// expectOK expects that a command worked.
func (f *fixture) expectOK(r result) {
	f.Helper()
	if r.Code != 0 {
		f.Errorf("the command failed: %v", r)
	}
}

// expectRefused expects that a command did not work.
func (f *fixture) expectRefused(r result) {
	f.Helper()
	if r.Code == 0 {
		f.Errorf("the command worked, want a refusal: %v", r)
	}
}

// expectStdout expects that a command worked and wrote this.
func (f *fixture) expectStdout(r result, want string) {
	f.Helper()
	if r.Code != 0 || r.Stdout != want {
		f.Errorf("the command ended with %v; want code 0, stdout %q", r, want)
	}
}

// expectNoSecret expects that a command read nothing of what is hidden.
func (f *fixture) expectNoSecret(r result) {
	f.Helper()
	if strings.Contains(r.Stdout+r.Stderr, secret) {
		f.Errorf("the command read what is hidden: %v", r)
	}
}

// expectFault expects an error with a code.
func (f *fixture) expectFault(err error, code fault.Code) {
	f.Helper()
	if got := fault.CodeOf(err); err == nil || got != code {
		f.Errorf("the error is %q (code %q), want the code %s", fmt.Sprint(err), got, code)
	}
}

// snapshot is the state of a directory: one line for each path in it.
type snapshot map[string]string

// content is what a directory holds: names, kinds, texts and targets.
func content(dir string) snapshot { return takeSnapshot(dir, false) }

// everythingOf adds modes, owners, times of modification and extended attributes.
func everythingOf(dir string) snapshot { return takeSnapshot(dir, true) }

func takeSnapshot(dir string, metadata bool) snapshot {
	s := snapshot{}
	filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			s[path] = "unreadable: " + err.Error()
			return nil
		}
		info, err := os.Lstat(path)
		if err != nil {
			s[path] = "gone"
			return nil
		}
		line := info.Mode().Type().String()
		switch {
		case info.Mode().IsRegular():
			data, _ := os.ReadFile(path)
			line += fmt.Sprintf(" %d bytes %x", len(data), sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			line += " to " + target
		}
		if metadata {
			st := info.Sys().(*syscall.Stat_t)
			line += fmt.Sprintf(" %v owner %d:%d links %d modified %v xattr %s",
				info.Mode(), st.Uid, st.Gid, st.Nlink, info.ModTime().UnixNano(), extended(path))
		}
		s[path] = line
		return nil
	})
	return s
}

func extended(path string) string {
	buffer := make([]byte, 4096)
	n, err := unix.Llistxattr(path, buffer)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%q", buffer[:n])
}

// expectUnchanged expects that a directory is as it was.
func (f *fixture) expectUnchanged(before, after snapshot) {
	f.Helper()
	paths := maps.Clone(before)
	maps.Copy(paths, after)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if was, is := before[path], after[path]; was != is {
			f.Errorf("the host was changed: %s\n\twas %q\n\tis  %q", path, was, is)
		}
	}
}
