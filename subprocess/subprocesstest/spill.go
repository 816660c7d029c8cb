//go:build unix

package subprocesstest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"hardshell/subprocess"
)

// spillChecks are about the file of a stream that outgrew its window: it is
// complete, or there is none.
func spillChecks() []check {
	return []check{
		{"the file is the whole stream, from its first byte", spillIsWhole},
		{"the limit is exact", spillBoundary},
		{"the limit is exact, however the bytes come", spillBoundaryByBytes},
		{"without a spill there is never a file", noSpillAsked},
		{"the path is told while the stream is open, and withdrawn when it grows too long", pathWhileOpen},
		{"the files are private and cannot be guessed", spillIsPrivate},
		{"each stream of each command has its own file", spillsAreApart},
		{"a file outlives the runtime", spillOutlivesRuntime},
		{"at the end of the drain the file is what was collected", spillAtDrain},
		{"a spill directory is made when needed, or there is no file", spillDirectoryMissing},
		{"a spill directory that is a file costs only the file", spillDirectoryIsFile},
		{"a spill directory that goes costs only the file", spillDirectoryGoes},
		{"a spill directory that may not be written costs only the file", spillDirectoryReadOnly},
		{"a full disk costs only the file", spillDiskFull},
		{"the runtime's own directory is private", privateDirectory},
	}
}

// spilled lists the files under the check's spill directory.
func (f *fixture) spilled() []string {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(f.SpillDir, "*"))
	if err != nil {
		f.Fatal(err)
	}
	return files
}

// spillPath is the path of the standard output's file, which is told in two
// ways.
func (f *fixture) spillPath(h subprocess.Handle) string {
	f.Helper()
	path := collected(h).SpillPath
	if also := h.Reader(subprocess.Stdout).SpillPath(); also != path {
		f.Errorf("SpillPath is %q, and in Collected %q", also, path)
	}
	return path
}

func (f *fixture) expectNoSpill() {
	f.Helper()
	if files := f.spilled(); len(files) != 0 {
		f.Errorf("there are spill files: %q", files)
	}
}

// expectSpill expects a file that is the complete stream.
func (f *fixture) expectSpill(path, content string) {
	f.Helper()
	if path == "" {
		f.Error("there is no spill file")
		return
	}
	if !filepath.IsAbs(path) {
		f.Errorf("the path %q is not absolute", path)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		f.Errorf("the advertised file cannot be read: %v", err)
	} else if string(got) != content {
		f.Errorf("the spill file has %d bytes %.200q, want the %d bytes %.200q", len(got), got, len(content), content)
	}
}

// expectContained expects that a command ended well with the tail of content,
// and with a complete file or none.
func (f *fixture) expectContained(h subprocess.Handle, content string, window int) {
	f.Helper()
	f.expectCode(h, 0)
	got := collected(h)
	if got.Text != content[len(content)-window:] || !got.Truncated || got.Bytes != int64(len(content)) {
		f.Errorf("collected %.100q (truncated %v, %d bytes), want the last %d of %d bytes",
			got.Text, got.Truncated, got.Bytes, window, len(content))
	}
	if got.SpillPath != "" {
		f.expectSpill(got.SpillPath, content)
	}
}

// numbered is text of which every part can be told from every other.
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line-%04d\n", i+1)
	}
	return b.String()
}

// cat prints content under a window of 500 bytes with a large spill.
func (f *fixture) cat(content string) subprocess.Handle {
	f.Helper()
	spec := f.program("cat")
	spec.Stdin = data(content)
	spec.Stdout = collectSpilling(500, 1<<30)
	return f.run(spec)
}

func spillIsWhole(f *fixture) {
	for _, lines := range []int{51, 200, 100_000} {
		content := numbered(lines)
		got := collected(f.cat(content))
		if want := content[len(content)-500:]; got.Text != want || !got.Truncated {
			f.Errorf("%d lines: collected %.100q, want %.100q", lines, got.Text, want)
		}
		f.expectSpill(got.SpillPath, content)
	}
}

func spillBoundary(f *fixture) {
	for size, filed := range map[int]bool{1000: false, 1001: true, 1999: true, 2000: true, 2001: false, 300_000: false} {
		content := strings.Repeat("x", size)
		spec := f.program("cat")
		spec.Stdin = data(content)
		spec.Stdout = collectSpilling(1000, 2000)
		got := collected(f.run(spec))
		if got.Truncated != (size > 1000) || got.Bytes != int64(size) {
			f.Errorf("%d bytes: truncated %v, %d counted", size, got.Truncated, got.Bytes)
		}
		if !filed {
			if got.SpillPath != "" {
				f.Errorf("%d bytes: there is the file %s", size, got.SpillPath)
			}
			f.expectNoSpill()
			continue
		}
		f.expectSpill(got.SpillPath, content)
		os.Remove(got.SpillPath)
	}
}

func spillBoundaryByBytes(f *fixture) {
	d := f.feed(collectSpilling(4, 8))
	whole := ""
	for _, c := range "abcdefgh" {
		d.print(string(c))
		whole += string(c)
		if path := f.spillPath(d.h); (path != "") != (len(whole) > 4) {
			f.Errorf("after %q the path is %q", whole, path)
		}
	}
	f.expectSpill(f.spillPath(d.h), whole)
	d.print("i")
	if path := f.spillPath(d.h); path != "" {
		f.Errorf("past the limit the path is %q", path)
	}
	if got, want := d.end(), (subprocess.CollectedOutput{Text: "fghi", Truncated: true, Bytes: 9}); got != want {
		f.Errorf("collected %+v, want %+v", got, want)
	}
	f.expectNoSpill()
}

func noSpillAsked(f *fixture) {
	spec := f.program("cat")
	spec.Stdin = data(strings.Repeat("x", 1000))
	spec.Stdout = collect(100)
	if got := collected(f.run(spec)); !got.Truncated || got.SpillPath != "" || len(got.Text) != 100 {
		f.Errorf("collected %+v, want a tail without a file", got)
	}
	f.expectNoSpill()
}

func pathWhileOpen(f *fixture) {
	d := f.feed(collectSpilling(4, 10))
	d.print("abcd")
	if path := f.spillPath(d.h); path != "" {
		f.Errorf("within the window the path is %q", path)
	}
	d.print("efgh")
	path := f.spillPath(d.h)
	f.expectSpill(path, "abcdefgh")
	d.print("ijk")
	if now := f.spillPath(d.h); now != "" {
		f.Errorf("past the limit the path is %q", now)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		f.Errorf("the file that grew too long is still there (%v)", err)
	}
	d.end()
}

var spillName = regexp.MustCompile(`^dsh-subprocess-\d+-\d+-[0-9a-f]{12}-(stdout|stderr)\.log$`)

func spillIsPrivate(f *fixture) {
	path := collected(f.cat(numbered(100))).SpillPath
	info, err := os.Lstat(path)
	if err != nil {
		f.Fatal(err)
	}
	if info.Mode() != 0o600 {
		f.Errorf("the file's mode is %v, want a plain file of 0600", info.Mode())
	}
	if filepath.Dir(path) != f.SpillDir {
		f.Errorf("the file is %s, want it in %s", path, f.SpillDir)
	}
	if !spillName.MatchString(filepath.Base(path)) {
		f.Errorf("the file's name is %s, want %s", filepath.Base(path), spillName)
	}
}

func spillsAreApart(f *fixture) {
	content := numbered(100)
	seen := map[string]bool{}
	var handles []subprocess.Handle
	for range 5 {
		spec := f.bash(`tee /dev/stderr`)
		spec.Stdin = data(content)
		spec.Stdout = collectSpilling(500, 10_000)
		spec.Stderr = collectSpilling(500, 10_000)
		handles = append(handles, f.start(spec))
	}
	for _, h := range handles {
		f.await(h)
		for _, stream := range []subprocess.Stream{subprocess.Stdout, subprocess.Stderr} {
			path := h.Reader(stream).Collected().SpillPath
			f.expectSpill(path, content)
			if seen[path] {
				f.Errorf("two streams share %s", path)
			}
			seen[path] = true
			if !strings.Contains(filepath.Base(path), string(stream)) {
				f.Errorf("the file of %s is %s", stream, path)
			}
		}
	}
}

func spillOutlivesRuntime(f *fixture) {
	content := numbered(100)
	h := f.cat(content)
	f.close()
	f.expectSpill(f.spillPath(h), content)
}

func spillAtDrain(f *fixture) {
	spec := f.bash(`printf "%s" "$(cat)"; while :; do echo more; done & sleep 0.05`)
	spec.Stdin = data(numbered(100))
	spec.Stdout = collectSpilling(500, 1<<30)
	spec.Grace = brief
	h := f.run(spec)
	got := collected(h)
	h.Kill()
	f.awaitTree(h)
	if later := collected(h); later != got {
		f.Errorf("after Done the stream went from %d to %d bytes, path %q to %q", got.Bytes, later.Bytes, got.SpillPath, later.SpillPath)
	}
	content, err := os.ReadFile(got.SpillPath)
	if err != nil {
		f.Fatal(err)
	}
	if int64(len(content)) != got.Bytes || !strings.HasSuffix(string(content), got.Text) {
		f.Errorf("the file has %d bytes and not the text as its end; %d were collected", len(content), got.Bytes)
	}
}

func spillDirectoryMissing(f *fixture) {
	f.use(Options{SpillDir: f.path("not/there")})
	content := numbered(100)
	f.expectContained(f.cat(content), content, 500)
}

func spillDirectoryIsFile(f *fixture) {
	f.touch("file")
	for _, dir := range []string{f.path("file"), f.path("file/below")} {
		f.use(Options{SpillDir: dir})
		content := numbered(100)
		h := f.cat(content)
		f.expectContained(h, content, 500)
		if path := collected(h).SpillPath; path != "" {
			f.Errorf("there is the file %s, which cannot be", path)
		}
	}
}

func spillDirectoryGoes(f *fixture) {
	content := numbered(100)
	d := f.feed(collectSpilling(500, 1<<20))
	d.print(content)
	if f.spillPath(d.h) == "" {
		f.Error("there is no file to begin with")
	}
	if err := os.RemoveAll(f.SpillDir); err != nil {
		f.Fatal(err)
	}
	d.print(content)
	d.end()
	f.expectContained(d.h, content+content, 500)
	f.expectContained(f.cat(content), content, 500)
}

func spillDirectoryReadOnly(f *fixture) {
	if err := os.Chmod(f.SpillDir, 0o500); err != nil {
		f.Fatal(err)
	}
	defer os.Chmod(f.SpillDir, 0o700)
	content := numbered(100)
	f.expectContained(f.cat(content), content, 500) // root may write it all the same
}

func spillDiskFull(f *fixture) {
	mountTiny(f, f.SpillDir, 64<<10)
	content := numbered(20_000) // 200 kB
	for range 2 {
		h := f.cat(content)
		f.expectContained(h, content, 500)
		if path := collected(h).SpillPath; path != "" {
			f.Errorf("there is the file %s on a disk that cannot hold it", path)
		}
		f.expectNoSpill()
	}
	small := numbered(100)
	f.expectSpill(collected(f.cat(small)).SpillPath, small)
}

func privateDirectory(f *fixture) {
	f.use(Options{})
	content := numbered(100)
	first, second := collected(f.cat(content)).SpillPath, collected(f.cat(content)).SpillPath
	f.expectSpill(first, content)
	f.expectSpill(second, content)
	dir := filepath.Dir(first)
	defer os.RemoveAll(dir)
	info, err := os.Lstat(dir)
	if err != nil {
		f.Fatal(err)
	}
	if info.Mode() != os.ModeDir|0o700 {
		f.Errorf("the directory's mode is %v, want 0700", info.Mode())
	}
	if !strings.HasPrefix(filepath.Base(dir), "dsh-subprocess-") || filepath.Dir(second) != dir {
		f.Errorf("the files are %s and %s, want them in one directory dsh-subprocess-…", first, second)
	}
	h := f.run(f.program("true"))
	f.close()
	f.expectCode(h, 0)
	f.expectSpill(first, content)
}
