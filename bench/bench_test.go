//go:build unix

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/sandbox/native"
)

// newTestPlace returns a place that is closed with the benchmark.
func newTestPlace(b testing.TB) *place {
	b.Helper()
	p, err := newPlace()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := p.close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return p
}

// pair reports a measurement's ratio as the benchmark's metric.
func pair(b *testing.B, name string, o Options) {
	b.Helper()
	for _, m := range newTestPlace(b).measurements(o) {
		if m.name != name {
			continue
		}
		for b.Loop() {
			p, err := m.measure(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(p.Ratio, "ratio")
			b.ReportMetric(float64(p.A.Median.Microseconds())/1000, "a-ms")
			b.ReportMetric(float64(p.B.Median.Microseconds())/1000, "b-ms")
			b.ReportMetric(0, "ns/op")
		}
		return
	}
	b.Fatalf("there is no measurement %q", name)
}

// BenchmarkSpawn is the time of Run("true") over that of a bare spawn and wait of
// the same bash in the same process: goal 1.10 at most.
func BenchmarkSpawn(b *testing.B) { pair(b, "spawn", Options{Runs: 300}) }

// BenchmarkOutput is the time of captured output over that of a read loop that
// throws away: goal 1.25 at most, which is 0.80 of its speed.
func BenchmarkOutput(b *testing.B) { pair(b, "output", Options{Runs: 300, Bytes: 1 << 30}) }

// BenchmarkCold is the time of `hardshell run true`, cold, over that of
// `bash -c true`: goal 3.0 at most.
func BenchmarkCold(b *testing.B) {
	self := filepath.Join(b.TempDir(), "hardshell")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", self, "hardshell/cmd/hardshell")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	b.Setenv("DSH_HOME", b.TempDir())
	pair(b, "cold", Options{Runs: 300, Self: self})
}

// BenchmarkNamespaces is the time of a command in namespaces that are there over
// that of a bare spawn: goal 1.25 at most.
func BenchmarkNamespaces(b *testing.B) { pair(b, "namespaces", Options{Runs: 300}) }

// BenchmarkLandlock is the same for Landlock alone: goal 1.25 at most.
func BenchmarkLandlock(b *testing.B) { pair(b, "landlock", Options{Runs: 300}) }

// BenchmarkResident is the time of a command in namespaces of a process that
// holds 512 MiB over that of one that holds little: goal 1.1 at most.
func BenchmarkResident(b *testing.B) { pair(b, "resident", Options{Runs: 200, Resident: 512 << 20}) }

// BenchmarkMemory is how much the resident memory grows while 10 GB pass through
// one run: goal 16 MiB at most.
func BenchmarkMemory(b *testing.B) {
	p := newTestPlace(b)
	runCommand(b, p, "true")
	for b.Loop() {
		before := residentBytes(b)
		runCommand(b, p, "exec dd if=/dev/zero bs=64k count=152588 status=none")
		b.ReportMetric(float64(peakBytes(b)-before)/(1<<20), "MiB-growth")
	}
}

// BenchmarkSurvivor is the processor time of this process over three seconds
// with 20 background processes left by finished runs: goal, none.
func BenchmarkSurvivor(b *testing.B) {
	p := newTestPlace(b)
	for range 20 {
		runCommand(b, p, "sleep 600 >/dev/null 2>&1 &")
	}
	time.Sleep(time.Second) // each run looked once for what it left behind
	for b.Loop() {
		before := processorTime(b)
		time.Sleep(3 * time.Second)
		b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000, "cpu-ms/3s")
	}
}

// BenchmarkLeak is how many goroutines and descriptors 10,000 runs leave behind:
// goal, none.
func BenchmarkLeak(b *testing.B) {
	p := newTestPlace(b)
	runCommand(b, p, "true")
	for b.Loop() {
		goroutines, descriptors := settled(b, runtime.NumGoroutine()), openDescriptors(b)
		for range 10000 {
			runCommand(b, p, "true")
		}
		b.ReportMetric(float64(settled(b, goroutines)-goroutines), "goroutines")
		b.ReportMetric(float64(openDescriptors(b)-descriptors), "descriptors")
	}
}

func runCommand(b *testing.B, p *place, command string) {
	b.Helper()
	if err := p.run(context.Background(), p.plain, command); err != nil {
		b.Fatal(err)
	}
}

// settled is the number of goroutines once it is no more than want, or after a
// second.
func settled(b *testing.B, want int) int {
	b.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return runtime.NumGoroutine()
}

func openDescriptors(b *testing.B) int {
	b.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		b.Fatal(err)
	}
	return len(entries)
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// residentBytes resets the peak and returns the resident memory now.
func residentBytes(b *testing.B) int64 {
	b.Helper()
	runtime.GC()
	// proc_pid_clear_refs(5): 5 resets the peak.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Skip("the peak of the resident memory cannot be reset here")
	}
	return statusBytes(b, "VmRSS:")
}

func peakBytes(b *testing.B) int64 { return statusBytes(b, "VmHWM:") }

func statusBytes(b *testing.B, field string) int64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("there is no /proc here")
	}
	_, rest, _ := strings.Cut(string(status), field)
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		b.Fatal(err)
	}
	return kilobytes << 10
}

func TestRunMeasuresOrSkipsEveryPair(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var told, skipped []string
	pairs, err := Run(context.Background(), Options{
		Runs: 1, Bytes: 1 << 20, Resident: 1 << 20,
		Progress: func(name string) { told = append(told, name) },
		Skipped: func(name string, why error) {
			skipped = append(skipped, name)
			t.Logf("skipped %s: %v", name, why)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range pairs {
		names = append(names, p.Name)
		if p.Ratio <= 0 || p.A.Median <= 0 || p.B.Median <= 0 || p.A.Name == "" || p.B.Name == "" {
			t.Errorf("pair %+v has nothing measured", p)
		}
	}
	want := []string{"spawn", "output"}
	for _, tier := range native.Tiers() {
		want = append(want, string(tier), string(tier)+"-first")
	}
	want = append(want, "git-status", "tar", "resident")
	if !slices.Equal(told, want) || len(names)+len(skipped) != len(want) || !slices.Equal(names[:2], want[:2]) {
		t.Errorf("told of %q, measured %q, skipped %q", told, names, skipped)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestAPairThatThisHostDoesNotHaveIsSkipped(t *testing.T) {
	p := newTestPlace(t)
	m := p.program("cold-nothing", Options{Runs: 1}, "/nonexistent/program")
	if _, err := m.measure(t.Context()); err == nil || !m.optional {
		t.Errorf("a program that is not there gives %v, optional %t", err, m.optional)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, Options{Runs: 1000, Bytes: 1 << 20}); err == nil {
		t.Fatal("a measurement under an ended context succeeded")
	}
}
