package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hardshell/compose"
)

// sessionsDocument is what sessions list prints.
type sessionsDocument struct {
	Sessions []compose.SessionInfo `json:"sessions"`
}

func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Look after the sessions of this home",
		Long: `Look after the sessions of this home. A session is made by the first command that
names it with --session.`,
		Example: `  hardshell sessions list
  hardshell sessions end s`,
		Args: cobra.NoArgs, // a command that runs nothing accepts any
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.sessionsListCommand(), a.sessionsEndCommand())
	return cmd
}

func (a *app) sessionsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of this home",
		Long: `List the sessions of this home: whether each is live (somebody is attached, or a
command runs), how many of its jobs run and are kept, and when something happened
in it last.`,
		Example: `  hardshell sessions list
  hardshell sessions list --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			home, err := a.stateHome()
			if err != nil {
				return err
			}
			list, err := compose.ReadSessions(home)
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(sessionsDocument{list})
			case len(list) == 0:
				a.tell("there are no sessions in %s", home.Root())
				return nil
			}
			out := a.screen()
			return sessionsTable(list, time.Now()).print(out)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// sessionsTable shows sessions as they are at a time.
func sessionsTable(list []compose.SessionInfo, now time.Time) *table {
	t := &table{}
	t.add(cell{"SESSION", faint}, cell{"STATE", faint}, cell{"JOBS", faint}, cell{"LAST ACTIVITY", faint})
	for _, info := range list {
		state := cell{"idle", plain}
		if info.Live {
			state = cell{"live", green}
		}
		number := fmt.Sprint(info.Jobs.Total)
		if info.Jobs.Running > 0 {
			number = fmt.Sprintf("%d of %d running", info.Jobs.Running, info.Jobs.Total)
		}
		last := "-"
		switch {
		case info.Jobs.Running > 0:
			last = "now"
		case info.LastActivity > 0:
			last = spanText(now.Sub(time.UnixMilli(info.LastActivity))) + " ago"
		}
		t.add(cell{info.ID, plain}, state, cell{number, plain}, cell{last, plain})
	}
	return t
}
