package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// walk visits a command and all below it.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		walk(sub, visit)
	}
}

func TestEveryCommandHelps(t *testing.T) {
	t.Parallel()
	visited := 0
	walk((&app{}).root(nil), func(cmd *cobra.Command) {
		visited++
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			var out, errs strings.Builder
			args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
			status := Main(t.Context(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
			if status != 0 || errs.Len() != 0 {
				t.Fatalf("status %d, standard error %q", status, errs.String())
			}
			for _, want := range []string{"Usage:\n", "\nExamples:\n  "} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the help has no %q:\n%s", want, out.String())
				}
			}
			if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
				t.Errorf("the short help is %q: it must be a phrase without a full stop", cmd.Short)
			}
			if !strings.Contains(cmd.Example, cmd.CommandPath()) {
				t.Errorf("the example %q does not show %s", cmd.Example, cmd.CommandPath())
			}
		})
	})
	if visited < 9 {
		t.Errorf("only %d commands were visited", visited)
	}
}
