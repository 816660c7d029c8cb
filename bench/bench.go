package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"hardshell/shell"
	"hardshell/shell/bash"
	"hardshell/subprocess/local"
)

// Options say how much to measure.
type Options struct {
	// Runs is how often each side runs.
	Runs int
	// Bytes is how much output passes in one run of the throughput pair.
	Bytes int64
	// Self is the path of this program, measured cold; "" leaves that out.
	Self string
	// Progress, when set, is told before each pair.
	Progress func(name string)
}

// Pair is two ways of doing the same, measured in turn.
type Pair struct {
	Name string `json:"name"`
	// Ratio is the median, over all pairs, of A's time over B's.
	Ratio float64 `json:"ratio"`
	// A and B are medians of one run.
	A Side `json:"a"`
	B Side `json:"b"`
}

// Side is one way.
type Side struct {
	Name   string        `json:"name"`
	Median time.Duration `json:"medianNs"`
}

// Run measures every pair. The error is the first failure of a command that was
// measured, or the end of ctx.
func Run(ctx context.Context, o Options) ([]Pair, error) {
	spills, err := os.MkdirTemp("", "hardshell-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(spills)
	runtime := local.New(local.Config{SpillDir: spills})
	defer runtime.Close(context.WithoutCancel(ctx))
	executor, err := bash.New(runtime, bash.DefaultConfig())
	if err != nil {
		return nil, err
	}
	var pairs []Pair
	for _, m := range measurements(executor, o) {
		if o.Progress != nil {
			o.Progress(m.name)
		}
		pair, err := m.measure(ctx)
		if err != nil {
			return pairs, fmt.Errorf("%s: %w", m.name, err)
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// measurement is a pair before it is measured.
type measurement struct {
	name         string
	runs         int
	aName, bName string
	a, b         func(context.Context) error
}

func measurements(executor shell.Executor, o Options) []measurement {
	writer := fmt.Sprintf("exec dd if=/dev/zero bs=64k count=%d status=none", o.Bytes>>16)
	list := []measurement{
		{
			name: "spawn", runs: o.Runs,
			aName: "run bash -c true", a: func(ctx context.Context) error { return runCaptured(ctx, executor, "true") },
			bName: "bare bash -c true", b: func(context.Context) error { return exec.Command("bash", "-c", "true").Run() },
		},
		{
			name: "output", runs: max(o.Runs/20, 5),
			aName: "captured output", a: func(ctx context.Context) error { return runCaptured(ctx, executor, writer) },
			bName: "plain read loop", b: func(context.Context) error { return readAway(writer) },
		},
	}
	if o.Self != "" {
		list = append(list, measurement{
			name: "cold", runs: max(o.Runs/2, 5),
			aName: "hardshell run true", a: func(context.Context) error { return exec.Command(o.Self, "run", "true").Run() },
			bName: "bash -c true", b: func(context.Context) error { return exec.Command("bash", "-c", "true").Run() },
		})
	}
	return list
}

// measure runs both sides in turn, after one pair that does not count.
func (m measurement) measure(ctx context.Context) (Pair, error) {
	var as, bs []time.Duration
	var ratios []float64
	for i := range m.runs + 1 {
		if ctx.Err() != nil {
			return Pair{}, context.Cause(ctx)
		}
		a, err := timed(ctx, m.a)
		if err != nil {
			return Pair{}, err
		}
		b, err := timed(ctx, m.b)
		if err != nil {
			return Pair{}, err
		}
		if i == 0 {
			continue
		}
		as, bs = append(as, a), append(bs, b)
		ratios = append(ratios, float64(a)/float64(b))
	}
	return Pair{
		Name: m.name, Ratio: median(ratios),
		A: Side{Name: m.aName, Median: median(as)},
		B: Side{Name: m.bName, Median: median(bs)},
	}, nil
}

func timed(ctx context.Context, do func(context.Context) error) (time.Duration, error) {
	start := time.Now()
	err := do(ctx)
	return time.Since(start), err
}

func median[T time.Duration | float64](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

// runCaptured runs a command through the executor, its output captured.
func runCaptured(ctx context.Context, executor shell.Executor, command string) error {
	spec, err := executor.Resolve(shell.Request{Command: command})
	if err != nil {
		return err
	}
	result, err := executor.Run(ctx, spec)
	if err != nil {
		return err
	}
	if status := result.Status(); status != 0 {
		return fmt.Errorf("exit status %d", status)
	}
	return nil
}

// readAway runs a command and throws its output away, with a pipe and a buffer
// as large as the capture's.
func readAway(command string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	enlarge(r)
	cmd := exec.Command("bash", "-c", command)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		w.Close()
		return err
	}
	w.Close()
	buf := make([]byte, 256<<10)
	for {
		if _, err := r.Read(buf); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	return cmd.Wait()
}
