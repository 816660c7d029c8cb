package cli

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hardshell/bench"
)

func (a *app) benchCommand() *cobra.Command {
	var runs, megabytes int
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what a command costs on this machine",
		Long: `Measure what running a command costs on this machine, as ratios to doing it
bare: unconfined, in each tier of confinement that works here (a command of a
sandbox that is there, and the first of one that is made for it), the same work
inside and outside, and this program and every other that confines found on PATH,
started for one command. On an idle machine it takes less than a minute.

The two sides of a pair run in turn. The ratio is the median over all pairs, the
times are the medians of each side.`,
		Example: `  hardshell bench
  hardshell bench --runs 20 --json | jq '.pairs[] | [.name, .ratio]'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runs < 1 || megabytes < 1 {
				return usagef("--runs and --megabytes must be positive")
			}
			signals := watchSignals(cmd.Context())
			defer signals.stop()
			<-signals.ready
			self, err := os.Executable()
			if err != nil {
				self = ""
			}
			pairs, err := bench.Run(signals.ctx, bench.Options{
				Runs: runs, Bytes: int64(megabytes) << 20, Self: self, Resident: residentBytes,
				Progress: func(name string) { fmt.Fprintf(a.streams.Err, "measuring %s\n", name) },
				Skipped: func(name string, why error) {
					fmt.Fprintf(a.streams.Err, "leaving out %s: %v\n", name, why)
				},
			})
			if err != nil {
				return signals.explain(err)
			}
			if a.json {
				return a.printJSON(map[string]any{"pairs": pairs})
			}
			return a.printPairs(pairs)
		},
	}
	cmd.Flags().IntVar(&runs, "runs", 100, "how often each side of a pair runs")
	cmd.Flags().IntVar(&megabytes, "megabytes", 512, "how much output passes in one run of the output pair")
	a.jsonFlag(cmd)
	return cmd
}

// residentBytes is how much memory the benchmark holds in one of its pairs.
const residentBytes = 512 << 20

func (a *app) printPairs(pairs []bench.Pair) error {
	table := tabwriter.NewWriter(a.streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RATIO\tWHAT\tTIME\tAGAINST\tTIME")
	for _, p := range pairs {
		fmt.Fprintf(table, "%.2f\t%s\t%s\t%s\t%s\n", p.Ratio,
			p.A.Name, p.A.Median.Round(10*time.Microsecond), p.B.Name, p.B.Median.Round(10*time.Microsecond))
	}
	return table.Flush()
}
