package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/compose"
	"hardshell/internal/state"
)

// prunedDocument is what jobs prune prints.
type prunedDocument struct {
	Pruned []prunedJob `json:"pruned"`
}

// prunedJob is a job that was taken away.
type prunedJob struct {
	Session string `json:"session"`
	ID      string `json:"id"`
}

func (a *app) jobsPruneCommand() *cobra.Command {
	var all, everything bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove settled jobs that are old or too many",
		Long: `Remove the settled jobs of a session, or with --all of all sessions, that are older
than the retention (7 days) or more than are kept (100), and their output. With
--everything all that have settled go. Jobs that run are never removed.

The ids of what was removed are printed, one a line.`,
		Example: `  hardshell jobs prune --session s
  hardshell jobs prune --all --everything`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.listHome(all)
			if err != nil {
				return err
			}
			sessions := []string{a.session}
			if all {
				if sessions, err = compose.SessionsWithJobs(home); err != nil {
					return err
				}
			}
			document := prunedDocument{Pruned: []prunedJob{}}
			for _, session := range sessions {
				gone, err := a.prune(cmd.Context(), home, session, everything)
				if err != nil {
					return err
				}
				for _, id := range gone {
					document.Pruned = append(document.Pruned, prunedJob{session, id})
					if a.json {
						continue
					}
					if all {
						id = session + " " + id
					}
					fmt.Fprintln(a.streams.Out, id)
				}
			}
			if a.json {
				return a.printJSON(document)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "the jobs of all sessions of this home")
	cmd.Flags().BoolVar(&everything, "everything", false, "all jobs that have settled, however new")
	a.jsonFlag(cmd)
	return cmd
}

// prune takes settled jobs of a session away, those too of which the host died
// before it could write how they ended.
func (a *app) prune(ctx context.Context, home state.Home, session string, everything bool) ([]string, error) {
	if err := a.completeLost(ctx, home, session); err != nil {
		return nil, err
	}
	log, err := a.logger()
	if err != nil {
		return nil, err
	}
	rows, err := compose.Rows(home, a.patches, log)
	if err != nil {
		return nil, usageError{err}
	}
	return compose.Prune(ctx, rows, compose.Surroundings{Home: home, SessionID: session, Log: log}, everything)
}

// completeLost completes the records of jobs of which the host is dead.
func (a *app) completeLost(ctx context.Context, home state.Home, session string) error {
	list, err := compose.ReadJobs(home, session)
	if err != nil {
		return err
	}
	var lost []string
	for _, info := range list {
		if info.Lost {
			lost = append(lost, info.ID)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	own := *a
	own.session = session
	return own.withJobs(ctx, func(h *hardshell.Harness) error {
		bounded, cancel := context.WithTimeout(ctx, settling)
		defer cancel()
		for _, id := range lost {
			if _, err := own.settled(bounded, h, home, id); err != nil {
				return err
			}
		}
		return nil
	})
}
