package shelltest

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"hardshell/shell"
)

// cost checks what commands leave behind in this process and what they cost
// it. Nothing else may run meanwhile, so none of the checks is parallel.
func (s suite) cost(t *testing.T) {
	t.Run("a command leaves no goroutine and no descriptor", s.leaks)
	t.Run("an endless stream costs its window", s.hugeOutput)
	t.Run("a child that is left running costs no time", s.idleChildren)
}

// leaks runs commands of every kind twice: what the second time leaves behind
// beyond the first is a leak.
func (s suite) leaks(t *testing.T) {
	r := s.rig(t, Options{MaxOutputBytes: 1000})
	broken := brokenRequests(t)
	t.Run("first", func(t *testing.T) { r.oneOfEach(t, broken) })
	before := handles{runtime.NumGoroutine(), openDescriptors()}
	for range 3 {
		t.Run("again", func(t *testing.T) { r.oneOfEach(t, broken) })
	}
	var after handles
	if !within(10*time.Second, func() bool {
		after = handles{runtime.NumGoroutine(), openDescriptors()}
		return after.goroutines <= before.goroutines && after.descriptors <= before.descriptors
	}) {
		stacks := make([]byte, 1<<20)
		t.Errorf("goroutines and descriptors went from %v to %v\n%s", before, after, stacks[:runtime.Stack(stacks, true)])
	}
}

// handles are what a leak is made of.
type handles struct{ goroutines, descriptors int }

// oneOfEach runs commands that end in every way. It leaves no process behind.
func (r *rig) oneOfEach(t *testing.T, broken []broken) {
	input := strings.Repeat("x", 4<<20)
	const far = time.Hour
	for _, req := range []shell.Request{
		{Command: "seq 1 1000; seq 1 1000 >&2", Stdout: new(tap)},
		{Command: "exit 3", Stdin: strings.NewReader(input), Timeout: far, TimeoutUncapped: true},
		{Command: "exec 0<&-; exit 3", Stdin: strings.NewReader(input)},
		{Command: "sleep 0.5 <&0 & exit 3", Stdin: strings.NewReader(input)},
		{Command: "sleep 0.5 & exit 3"},
		{Command: padded("true", 1<<20)},
		{Command: "kill -KILL $$"},
		{Command: "sleep " + marker(), Timeout: 20 * ms, Stdin: strings.NewReader(input)},
	} {
		r.run(t, req)
	}
	r.runAborted(t, shell.Request{Command: "echo armed; sleep " + marker()})
	settle(t, r.bg(t, "seq 1 1000"))
	killed := r.bg(t, "sleep "+marker())
	killed.Kill()
	settle(t, killed)
	for _, b := range broken {
		if _, err := r.try(b.context(t), b.req); err == nil {
			t.Errorf("%s is no error", b.name)
		}
		settle(t, r.startIn(t, b.context(t), b.req))
	}
}

func (s suite) hugeOutput(t *testing.T) {
	size := int64(1 << 30)
	if testing.Short() {
		size = 256 << 20
	}
	r := s.bareRig(t, Options{Workdir: tempDir(t), SpillDir: tempDir(t)})
	stop := make(chan struct{})
	most := make(chan usage, 1)
	r.sh(t, "true")
	debug.FreeOSMemory()
	before := residentBytes()
	go func() {
		var peak usage
		for {
			peak = peak.max(usage{residentBytes(), bytesBelow(r.spill)})
			select {
			case <-stop:
				most <- peak
				return
			case <-time.After(20 * ms):
			}
		}
	}()
	start := time.Now()
	res := r.sh(t, "head -c "+strconv.FormatInt(size, 10)+" /dev/zero | tr '\\0' a; echo END")
	elapsed := time.Since(start)
	close(stop)
	peak := <-most

	wantExit(t, res, 0)
	wantCut(t, res, uncut)
	if want := strings.Repeat("a", defaultMaxOutputBytes-4) + "END\n"; res.Stdout.Text != want {
		t.Errorf("the tail has %d bytes: %q", len(res.Stdout.Text), clip(res.Stdout.Text))
	}
	if !res.Stdout.Truncated || res.Stdout.Bytes != size+4 || res.Stdout.SpillPath != "" {
		t.Errorf("truncated %v, bytes %d, spill %q", res.Stdout.Truncated, res.Stdout.Bytes, res.Stdout.SpillPath)
	}
	const spillBound, margin = 64 << 20, 1 << 20
	if peak.files > spillBound+margin {
		t.Errorf("the spill files took %d bytes at one time", peak.files)
	}
	if files := filesBelow(t, r.spill); len(files) > 0 {
		t.Errorf("these files are left: %v", files)
	}
	if grown := peak.memory - before; grown > 64<<20 {
		t.Errorf("memory has grown by %d MiB", grown>>20)
	}
	t.Logf("%d MiB in %v; memory +%d KiB; files %d MiB", size>>20, elapsed, (peak.memory-before)>>10, peak.files>>20)
}

// idleChildren leaves many background children to the runtime. One that polled
// for each of them would be seen.
func (s suite) idleChildren(t *testing.T) {
	if processorTime() < 0 {
		t.Skip("the processor time is read from /proc")
	}
	r := s.rig(t, Options{Grace: 50 * ms})
	const children = 20
	id := marker()
	for range children {
		r.sh(t, "nohup sleep "+id+" >/dev/null 2>&1 &")
	}
	awaitSleepers(t, id, children)
	for range 3 {
		start, before := time.Now(), processorTime()
		<-time.After(time.Second)
		used, elapsed := processorTime()-before, time.Since(start)
		t.Logf("%v of %v", used, elapsed)
		if used < elapsed/10 {
			return
		}
	}
	t.Errorf("%d children that sleep cost a tenth of a processor and more", children)
}

// usage is what a command takes of the machine.
type usage struct{ memory, files int64 }

func (u usage) max(other usage) usage {
	return usage{max(u.memory, other.memory), max(u.files, other.files)}
}

// residentBytes is the memory that this process holds, 0 where it is not known.
func residentBytes() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// processorTime is what this process has used, negative where it is not known.
// It counts in ticks of 10 ms: proc_pid_stat(5), utime and stime.
func processorTime() time.Duration {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return -1
	}
	// The second field, a name in brackets, may contain spaces.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	const utime, stime = 11, 12
	if len(fields) <= stime {
		return -1
	}
	var ticks int64
	for _, field := range []string{fields[utime], fields[stime]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return -1
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func bytesBelow(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if info, err := entry.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

// openDescriptors counts those of this process, 0 where they are not known.
func openDescriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
