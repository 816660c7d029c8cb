package compose

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/plugin"
	"hardshell/tool"
)

// Surroundings is what a composition is put into.
type Surroundings struct {
	Home state.Home
	// SessionID is a valid id, Workspace the absolute directory that the session
	// works in.
	SessionID string
	Workspace string
	// Durable says that the session outlives this process.
	Durable bool
	// OneShot says that this process makes one call: what would run on after it
	// is refused in a session that is not durable, nobody watches the settings, and
	// rows own only those namespaces that the document has.
	OneShot bool
	// Host is the absolute path of the program that becomes the session host of a
	// durable session, and its first arguments. Without one this process spawns
	// the commands itself.
	Host []string
	// Overrides change the policy of the row "sandbox-policy".
	Overrides Overrides
	// Log is told what a person debugging wants to know.
	Log *slog.Logger

	document string // the settings document, as it is configured
}

// Composition is the parts that the rows were made into. What a row provides is
// asked for anew each time, as the row may be reloaded; it is nil without one. It
// is safe for concurrent use.
type Composition struct {
	Tools    *tool.Registry
	Pipeline *tool.Pipeline

	in            Surroundings
	host          *plugin.Host
	shellSettings atomic.Pointer[ShellConfig]
	confines      bool
	lastGood      sync.Map                              // the last values of settings that resolved, by namespace
	data          map[string]map[string]any             // what rows say as data; mu guards it
	ended         atomic.Pointer[map[plugin.AnyKey]any] // set when Close begins

	mu   sync.Mutex
	rows []Row
}

// Build makes the parts of rows, in the order in which they need each other. It
// starts no process. The error names every row at fault, and what it waits for.
func Build(ctx context.Context, rows []Row, in Surroundings) (*Composition, error) {
	if in.Log == nil {
		in.Log = slog.New(slog.DiscardHandler)
	}
	in.document = documentOf(in, rows)
	c := &Composition{Tools: &tool.Registry{}, in: in, data: statedBy(rows)}
	c.Pipeline = tool.NewPipeline(c.Tools, tool.Options{Log: in.Log})
	configured := make([]Row, len(rows))
	for i, row := range rows {
		config, err := configure(row)
		if err != nil {
			return nil, err
		}
		if shell, ok := config.(ShellConfig); ok && !row.Disabled {
			c.shellSettings.Store(&shell)
		}
		c.confines = c.confines || row.Plugin == PluginSandboxPolicy && !row.Disabled
		configured[i] = row
		configured[i].Config = config
	}
	host, err := plugin.NewHost(c.plugins(), slog.New(grave{in.Log.Handler()}))
	if err != nil {
		return nil, err
	}
	c.host, c.rows = host, configured
	err = host.Load(ctx, configured)
	if audit := host.Audit(); audit != nil {
		err = audit
	}
	if err != nil {
		return nil, errors.Join(composed(err), host.Close(ctx))
	}
	return c, nil
}

// composed says of what an error is.
func composed(err error) error {
	return fault.New(codeOr(err, fault.InvalidArgument), "composition: %w", err)
}

// Rows are the rows as they stand. The caller owns the list.
func (c *Composition) Rows() []Row {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.rows)
}

// Reload gives the row of that id a new configuration, or ends it when it is
// disabled: what needs it ends first and comes back, every other row goes on.
// Commands that run belong to the row "subprocess" and end with that, and jobs that
// no session host keeps also with the row "jobs", which needs "settings-file". A row
// goes on with its last good settings when its section is refused. After an error
// the row has ended; it can be reloaded as it was.
func (c *Composition) Reload(ctx context.Context, row Row) error {
	config, err := configure(row)
	if err != nil {
		return err
	}
	said, _ := row.Config.(map[string]any)
	row.Config = config
	c.mu.Lock()
	if delete(c.data, row.ID); said != nil {
		c.data[row.ID] = said
	}
	c.mu.Unlock()
	if err := c.host.Reload(ctx, row); err != nil {
		return composed(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.rows, func(other Row) bool { return other.ID == row.ID }); i >= 0 {
		c.rows[i] = row
	}
	return nil
}

// stated is what a row says as data, nil when it was made in Go.
func (c *Composition) stated(id string) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.data[id]
}

// Confines reports whether the rows confined commands when they were built: a row
// that is not at work since then does not open anything up.
func (c *Composition) Confines() bool { return c.confines }

// grave lets only errors through: what else goes wrong with rows is returned.
type grave struct{ slog.Handler }

func (g grave) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError && g.Handler.Enabled(ctx, level)
}

// Check names every row that is not at work, and why.
func (c *Composition) Check() error { return c.host.Audit() }

// Close ends the rows, the latest first. When ctx ends, the grace of commands is
// cut short. The error names what resisted.
func (c *Composition) Close(ctx context.Context) error {
	services := c.services()
	c.ended.CompareAndSwap(nil, &services)
	return c.host.Close(ctx)
}

func codeOr(err error, code fault.Code) fault.Code {
	if known := fault.CodeOf(err); known != "" {
		return known
	}
	return code
}
