package compose

import (
	"errors"
	"fmt"
	"log/slog"

	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/shell"
	"hardshell/shell/bash"
	"hardshell/shellenv"
	"hardshell/subprocess/local"
	"hardshell/tool"
	toolbash "hardshell/tool/bash"
)

// Surroundings is what a composition is put into.
type Surroundings struct {
	Home state.Home
	// SessionID is a valid id.
	SessionID string
	// Log is told what a person debugging wants to know.
	Log *slog.Logger
}

// Composition is the parts that the rows were made into. A part whose row is
// absent is nil.
type Composition struct {
	Runtime     *local.Runtime
	Environment *shellenv.Registry
	Shell       shell.Executor
	Tools       *tool.Registry
	Pipeline    *tool.Pipeline
}

// Build makes the parts of rows, in their order. It starts nothing. The error
// names the row at fault.
func Build(rows []Row, in Surroundings) (*Composition, error) {
	c := &Composition{Tools: &tool.Registry{}}
	c.Pipeline = tool.NewPipeline(c.Tools, tool.Options{Log: in.Log})
	made := map[string]bool{}    // by row id
	parts := map[string]string{} // row id by plugin
	for _, row := range rows {
		if made[row.ID] {
			return nil, fault.New(fault.InvalidArgument, "composition row %q stands twice: remove one", row.ID)
		}
		if other, taken := parts[row.Plugin]; taken {
			return nil, fault.New(fault.InvalidArgument, "composition row %q: plugin %q is row %q already: remove one", row.ID, row.Plugin, other)
		}
		made[row.ID], parts[row.Plugin] = true, row.ID
		if err := c.add(row, in); err != nil {
			return nil, fault.New(codeOr(err, fault.InvalidArgument), "composition row %q: %w", row.ID, err)
		}
	}
	return c, nil
}

// add makes the part of one row.
func (c *Composition) add(row Row, in Surroundings) error {
	switch row.Plugin {
	case PluginSubprocess, PluginShellEnv, PluginSession:
		if row.Config != nil {
			return errConfig(row)
		}
	}
	switch row.Plugin {
	case PluginSubprocess:
		c.Runtime = local.New(local.Config{SpillDir: in.Home.Spill(in.SessionID)})
		return nil
	case PluginShellEnv:
		c.Environment = shellenv.New(in.Home.Root())
		return nil
	case PluginSession:
		return c.addSession()
	case PluginShell:
		return c.addShell(row)
	case PluginToolBash:
		return c.addToolBash(row, in)
	default:
		return fmt.Errorf("there is no plugin %q", row.Plugin)
	}
}

// addSession has commands learn where the log of their session is.
func (c *Composition) addSession() error {
	if c.Environment == nil {
		return errNeeds(PluginShellEnv)
	}
	_, err := c.Environment.Register(shellenv.Contributor{
		Name: "session-persistence",
		Keys: map[string]string{"DSH_SESSION_JSONL": "The log of this session: one JSON event a line. It may not exist yet."},
		Resolve: func(e shellenv.Execution) (map[string]string, error) {
			if e.SessionLog == "" {
				return nil, nil
			}
			return map[string]string{"DSH_SESSION_JSONL": e.SessionLog}, nil
		},
	})
	return err
}

func (c *Composition) addShell(row Row) error {
	if c.Runtime == nil {
		return errNeeds(PluginSubprocess)
	}
	config, ok := row.Config.(ShellConfig)
	if !ok {
		return errConfig(row)
	}
	executor, err := bash.New(c.Runtime, config.bash())
	if err != nil {
		return err
	}
	c.Shell = executor
	return nil
}

func (c *Composition) addToolBash(row Row, in Surroundings) error {
	if c.Shell == nil {
		return errNeeds(PluginShell)
	}
	if c.Environment == nil {
		return errNeeds(PluginShellEnv)
	}
	config, ok := row.Config.(ToolBashConfig)
	if !ok {
		return errConfig(row)
	}
	t, err := toolbash.New(c.Shell, c.Environment, toolbash.Config{
		EnableRunInBackground: config.EnableRunInBackground,
		Log:                   in.Log,
	})
	if err != nil {
		return err
	}
	_, err = c.Tools.Register(t)
	return err
}

func errNeeds(plugin string) error {
	return fmt.Errorf("it needs a row of plugin %q before it", plugin)
}

func errConfig(row Row) error {
	return fmt.Errorf("%T is no configuration of plugin %q", row.Config, row.Plugin)
}

func codeOr(err error, code fault.Code) fault.Code {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Code
	}
	return code
}
