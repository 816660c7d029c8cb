package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// Options say how much to measure.
type Options struct {
	// Runs is how often each side runs, fewer times where one run is long.
	Runs int
	// Bytes is how much output passes in one run of the throughput pair.
	Bytes int64
	// Resident is how much memory the pair "resident" has this process hold; 0
	// leaves it out.
	Resident int64
	// Self is the path of this program, measured cold; "" leaves that out, and
	// the other programs that confine with it.
	Self string
	// Progress, when set, is told before each pair, Skipped of each that cannot
	// be measured here and why.
	Progress func(name string)
	Skipped  func(name string, why error)
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

// Run measures every pair. A way of confining that this host does not have is
// skipped. The error is the first failure of a command that was measured, or the
// end of ctx.
func Run(ctx context.Context, o Options) ([]Pair, error) {
	place, err := newPlace()
	if err != nil {
		return nil, err
	}
	defer place.close(context.WithoutCancel(ctx))
	var pairs []Pair
	for _, m := range place.measurements(o) {
		if o.Progress != nil {
			o.Progress(m.name)
		}
		pair, err := m.measure(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return pairs, context.Cause(ctx)
			}
			if m.optional {
				if o.Skipped != nil {
					o.Skipped(m.name, err)
				}
				continue
			}
			return pairs, fmt.Errorf("%s: %w", m.name, err)
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// measurements lists the pairs, those last that change this process.
func (p *place) measurements(o Options) []measurement {
	list := p.bare(o)
	list = append(list, p.confined(o)...)
	list = append(list, p.session(o)...)
	list = append(list, p.jobs(o)...)
	list = append(list, p.work(o)...)
	list = append(list, p.cold(o)...)
	return append(list, p.resident(o)...)
}

// measurement is a pair before it is measured.
type measurement struct {
	name         string
	runs         int
	aName, bName string
	a, b         func(context.Context) error
	// prepare, when set, comes before the first run. After comes after each pair.
	// Neither is timed.
	prepare func(context.Context) error
	after   func() error
	// optional says that a failure means that the host does not have it.
	optional bool
	// between, when set, has all runs of B first, then this, then all of A.
	between func() error
}

// measure runs both sides in turn, after one pair that does not count.
func (m measurement) measure(ctx context.Context) (Pair, error) {
	if m.prepare != nil {
		if err := m.prepare(ctx); err != nil {
			return Pair{}, err
		}
	}
	if m.between != nil {
		return m.measureApart(ctx)
	}
	var as, bs []time.Duration
	var ratios []float64
	for i := range m.runs + 1 {
		a, err := timed(ctx, m.a)
		if err != nil {
			return Pair{}, err
		}
		b, err := timed(ctx, m.b)
		if err != nil {
			return Pair{}, err
		}
		if m.after != nil {
			if err := m.after(); err != nil {
				return Pair{}, err
			}
		}
		if i == 0 {
			continue
		}
		as, bs = append(as, a), append(bs, b)
		ratios = append(ratios, float64(a)/float64(b))
	}
	return m.pair(as, bs, median(ratios)), nil
}

// measureApart runs the sides one after the other: the ratio is that of the
// medians.
func (m measurement) measureApart(ctx context.Context) (Pair, error) {
	var sides [2][]time.Duration
	for side, do := range []func(context.Context) error{m.b, m.a} {
		if side == 1 {
			if err := m.between(); err != nil {
				return Pair{}, err
			}
		}
		for i := range m.runs + 1 {
			d, err := timed(ctx, do)
			if err != nil {
				return Pair{}, err
			}
			if i > 0 {
				sides[side] = append(sides[side], d)
			}
		}
	}
	if m.after != nil {
		if err := m.after(); err != nil {
			return Pair{}, err
		}
	}
	as, bs := sides[1], sides[0]
	return m.pair(as, bs, float64(median(as))/float64(median(bs))), nil
}

func (m measurement) pair(as, bs []time.Duration, ratio float64) Pair {
	return Pair{
		Name: m.name, Ratio: ratio,
		A: Side{Name: m.aName, Median: median(as)},
		B: Side{Name: m.bName, Median: median(bs)},
	}
}

func timed(ctx context.Context, do func(context.Context) error) (time.Duration, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	start := time.Now()
	err := do(ctx)
	return time.Since(start), err
}

func median[T time.Duration | float64](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

// tempDir is a directory for a measurement.
func tempDir() (string, error) { return os.MkdirTemp("", "hardshell-bench-") }
