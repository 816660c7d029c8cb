package cli

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"hardshell/internal/jsontree"
	"hardshell/settings"
)

// changedLine is what watch prints of one change. It has no value.
type changedLine struct {
	settings.DocumentUpdated
	// Updated says that the value in force is another than at the line before:
	// a section can change without that.
	Updated bool `json:"updated"`
}

func (a *app) settingsWatchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch [NS]",
		Short: "Tell of every change of the settings, until Ctrl-C",
		Long: `Tell of every change of your document, whoever makes it: of which section, its
revision now, and whether the values in force are others now. It never tells a value.
With --json each change is one JSON document on a line.`,
		Example: `  hardshell settings watch
  hardshell settings watch shell --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("watch takes one namespace, or none for all: %s", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: a.completeNamespaces,
		RunE: a.settingsRun(func(cmd *cobra.Command, args []string) error {
			var only settings.Namespace
			if len(args) == 1 {
				var err error
				if only, err = settings.ParseNamespace(args[0]); err != nil {
					return usageError{err}
				}
			}
			return a.watchSettings(cmd.Context(), only)
		}),
	}
	cmd.Flags().BoolVar(&a.json, "json", false, "print each change as one JSON document on a line")
	return cmd
}

func (a *app) watchSettings(ctx context.Context, only settings.Namespace) error {
	signals := watchSignals(ctx)
	defer signals.stop()
	<-signals.ready
	return a.withSettings(signals.ctx, true, func(service *settings.Service) error {
		if only != "" {
			if _, err := describeOne(service, only); err != nil {
				return err
			}
		}
		w := &settingsWatch{app: a, service: service, failed: make(chan error, 1), last: map[settings.Namespace]any{}}
		for _, d := range service.DescribeForWire() {
			if only == "" || d.NS == only {
				w.last[d.NS], _ = service.Get(d.NS)
			}
		}
		defer service.OnDocumentUpdated(w.tell)()
		if !a.json {
			a.tell("watching %s until Ctrl-C", service.Path())
		}
		select {
		case err := <-w.failed:
			return err
		case <-signals.ctx.Done():
			return exitStatus(signals.interruption())
		}
	})
}

// settingsWatch prints changes.
type settingsWatch struct {
	app     *app
	service *settings.Service
	failed  chan error // holds the first failure to print

	mu   sync.Mutex
	last map[settings.Namespace]any // the values at the last line of each
}

// tell is a listener: its calls come one at a time, when all readers already see
// the new value.
func (w *settingsWatch) tell(_ context.Context, u settings.DocumentUpdated) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, watched := w.last[u.NS]
	if !watched {
		return nil
	}
	now, _ := w.service.Get(u.NS)
	w.last[u.NS] = now
	line := changedLine{u, !jsontree.Equal(before, now)}
	if err := w.print(line); err != nil {
		select {
		case w.failed <- err:
		default:
		}
	}
	return nil
}

func (w *settingsWatch) print(line changedLine) error {
	if w.app.json {
		return w.app.printJSON(line)
	}
	words := "the values in force are the same"
	if line.Updated {
		words = "other values are in force"
	}
	_, err := fmt.Fprintf(w.app.streams.Out, "%s has revision %d: %s\n", line.NS, line.Revision, words)
	return err
}
