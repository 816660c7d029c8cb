//go:build unix

package subprocesstest

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hardshell/subprocess"
)

// leakChecks are about what commands cost this process while they run and when
// they are over.
func leakChecks() []check {
	return []check{
		{"thousands of commands leave nothing behind", commandsLeaveNothing},
		{"refused spawns leave nothing behind", refusalsLeaveNothing},
		{"inputs that nobody reads leave nothing behind", inputsLeaveNothing},
		{"a closed runtime leaves nothing behind", closedLeavesNothing},
		{"a finished command holds no memory of the runtime", finishedHoldsNoMemory},
		{"an endless output costs its window and its spill limit", endlessOutput},
		{"what runs in the background costs no time", idleSurvivors},
	}
}

// costs is what this process holds at a moment.
type costs struct {
	goroutines, descriptors, children int
}

func (c costs) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d children", c.goroutines, c.descriptors, c.children)
}

func currentCosts() costs {
	c := costs{goroutines: runtime.NumGoroutine()}
	if !procfs() {
		return c
	}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		c.descriptors = len(entries)
	}
	self := strconv.Itoa(os.Getpid())
	for _, pid := range pids() {
		if fields, ok := stat(pid); ok && len(fields) > 1 && fields[1] == self {
			c.children++
		}
	}
	return c
}

// expectCosts waits until this process holds no more than before: what is
// over may take a moment to be let go.
func (f *fixture) expectCosts(before costs) {
	f.Helper()
	var now costs
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		now = currentCosts()
		if now.goroutines <= before.goroutines && now.descriptors <= before.descriptors && now.children <= before.children {
			return
		}
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	f.Errorf("this process holds %v, held %v before\n%.20000s", now, before, stacks)
}

// scaled is the size of a check, the smaller one where time is short.
func scaled(full, small int) int {
	if testing.Short() || raceDetector {
		return small
	}
	return full
}

// settled is the costs after a first command: what a runtime makes once, when
// first needed, is no leak.
func (f *fixture) settled() costs {
	f.Helper()
	spec := f.program("cat")
	spec.Stdin = data(numbered(100))
	spec.Stdout = collectSpilling(100, 10_000)
	f.awaitTree(f.run(spec))
	var last costs
	f.waitFor("this process to settle", func() bool {
		before := last
		time.Sleep(10 * time.Millisecond)
		last = currentCosts()
		return last == before
	})
	return last
}

func commandsLeaveNothing(f *fixture) {
	before := f.settled()
	content := numbered(100)
	kinds := []func() subprocess.Spec{
		func() subprocess.Spec { return f.program("true") },
		func() subprocess.Spec {
			spec := f.program("cat")
			spec.Stdin = data(content)
			spec.Stdout = collectSpilling(100, 500)
			return spec
		},
		func() subprocess.Spec {
			spec := f.program("sh", "-c", "exit 3")
			spec.Stdin = data(content)
			spec.Stdout = subprocess.Output{Mode: subprocess.OutputIgnore}
			return spec
		},
		func() subprocess.Spec {
			spec := f.program("sh", "-c", "sleep 0.02 & exit 0")
			spec.Grace = 10 * time.Millisecond
			return spec
		},
	}
	var workers sync.WaitGroup
	commands := make(chan int)
	for range 4 {
		workers.Go(func() {
			for i := range commands {
				ctx, cancel := context.WithCancel(context.Background())
				h, err := f.Runtime.Spawn(ctx, kinds[i%len(kinds)]())
				if err != nil {
					f.Errorf("Spawn = %v", err)
				} else {
					<-h.Done()
				}
				cancel()
			}
		})
	}
	for i := range scaled(2000, 300) {
		commands <- i
	}
	close(commands)
	workers.Wait()
	f.expectCosts(before)
	f.expectNoSpillBeyond(1)
}

// expectNoSpillBeyond expects at most n spill files.
func (f *fixture) expectNoSpillBeyond(n int) {
	f.Helper()
	if files := f.spilled(); len(files) > n {
		f.Errorf("there are %d spill files, want %d at most", len(files), n)
	}
}

func refusalsLeaveNothing(f *fixture) {
	before := f.settled()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for range scaled(100, 20) {
		for _, argv := range [][]string{{"no-such-program-anywhere"}, {"/no/such/program"}, {"/"}, {"true", strings.Repeat("x", 200_000)}} {
			spec := f.program(argv...)
			spec.Stdin = data("x")
			f.mustFail(context.Background(), spec)
		}
		spec := f.program("true")
		spec.Stdin.Mode = subprocess.StdinPipe
		spec.Stdout = subprocess.Output{Mode: subprocess.OutputPipe}
		spec.Dir = "/no/such/directory"
		f.mustFail(context.Background(), spec)
		f.mustFail(ended, f.program("true"))
	}
	f.expectCosts(before)
}

func (f *fixture) mustFail(ctx context.Context, spec subprocess.Spec) {
	f.Helper()
	if h, err := f.Runtime.Spawn(ctx, spec); err == nil {
		f.Errorf("Spawn(%.40q) works", spec.Argv)
		<-h.Done()
	}
}

func inputsLeaveNothing(f *fixture) {
	before := f.settled()
	for _, script := range []string{"sleep 0.1; exit 3", "exec 0<&-; sleep 0.1; exit 3", `sleep 0.3 <&0 & exit 3`} {
		spec := f.bash(script)
		spec.Stdin = data(strings.Repeat("x", 4<<20))
		spec.Grace = 50 * time.Millisecond
		h := f.run(spec)
		f.expectCode(h, 3)
		f.awaitTree(h)
	}
	for range 10 {
		h := f.ready(immune, 10*time.Millisecond)
		h.Terminate()
		f.await(h)
	}
	f.expectCosts(before)
}

func closedLeavesNothing(f *fixture) {
	f.settled()
	f.close()
	before := currentCosts()
	for range 3 {
		f.use(Options{SpillDir: f.SpillDir})
		f.run(f.bash(`setsid sleep "$marker" >/dev/null 2>&1 & sleep "$marker" & exit 0`))
		spec := f.program("cat")
		spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: &endless{}}
		spec.Grace = brief
		h := f.start(spec)
		f.waitFor("a flood", func() bool { return collected(h).Bytes > 1<<20 })
		f.ready(immune, brief)
		f.closeQuietly(h)
	}
	f.expectCosts(before)
}

// finishedHoldsNoMemory drops the handles of commands that filled large
// windows.
func finishedHoldsNoMemory(f *fixture) {
	f.settled()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range scaled(100, 40) {
		spec := f.program("head", "-c", "1000000", "/dev/zero")
		spec.Stdout = collect(1 << 20)
		f.run(spec)
	}
	const allowed = 16 << 20
	f.waitFor("the memory of finished commands to be let go", func() bool { return heap() < before+allowed })
}

func endlessOutput(f *fixture) {
	f.needProcfs()
	const limit, slack = 64 << 20, 8 << 20
	size := int64(scaled(1<<30, 256<<20))
	spec := f.bash(fmt.Sprintf(`head -c %d /dev/zero | tr '\0' a; echo END`, size))
	spec.Stdout = collectSpilling(64_000, limit)
	before, most, mostSpilled := memory(f.T), int64(0), int64(0)
	h := f.start(spec)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !isDone(h) {
		<-tick.C
		most = max(most, memory(f.T))
		var spilled int64
		for _, file := range f.spilled() {
			if info, err := os.Lstat(file); err == nil {
				spilled += info.Size()
			}
		}
		mostSpilled = max(mostSpilled, spilled)
	}
	f.expectCode(h, 0)
	got := collected(h)
	if want := strings.Repeat("a", 64_000-4) + "END\n"; got.Text != want || !got.Truncated || got.Bytes != size+4 {
		f.Errorf("collected %d bytes of text ending %q (truncated %v, %d bytes)",
			len(got.Text), got.Text[max(0, len(got.Text)-10):], got.Truncated, got.Bytes)
	}
	if got.SpillPath != "" {
		f.Errorf("there is the spill file %s past the limit", got.SpillPath)
	}
	f.expectNoSpill()
	if mostSpilled > limit+slack {
		f.Errorf("up to %d bytes were spilled, want %d at most", mostSpilled, limit)
	}
	if grown := most - before; grown > 64<<20 {
		f.Errorf("this process grew by %d bytes", grown)
	}
}

// memory is the resident size of this process in bytes.
func memory(t *testing.T) int64 {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// idleSurvivors lets commands run on in the background and measures what that
// costs. The limit is far above what waiting takes and far below what polling
// /proc takes.
func idleSurvivors(f *fixture) {
	const survivors, watch = 20, 1500 * time.Millisecond
	for range survivors {
		spec := f.bash(`sleep "$marker" >/dev/null 2>&1 & exit 0`)
		f.run(spec)
	}
	before := cpuTime(f.T)
	time.Sleep(watch)
	if used := cpuTime(f.T) - before; used > watch/10 {
		f.Errorf("%d commands in the background cost %v of processor time in %v", survivors, used, watch)
	}
	f.expectAlive(survivors)
}

// cpuTime is what this process has used of the processors.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
