package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hardshell/compose"
	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/sandbox"
)

// diagnosis is what doctor prints.
type diagnosis struct {
	Version versionDocument `json:"version"`
	Sandbox compose.Survey  `json:"sandbox"`
	Bash    bashFacts       `json:"bash"`
	Limits  limitFacts      `json:"limits"`
	Home    homeFacts       `json:"home"`
	// Warnings are sentences, the most urgent first.
	Warnings []string `json:"warnings"`
}

// bashFacts are about the bash on PATH; Path is "" without one.
type bashFacts struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"`
}

// limitFacts are this process's; 0 is not known, and no limit is the largest
// number.
type limitFacts struct {
	OpenFiles    uint64 `json:"openFiles"`
	MaxOpenFiles uint64 `json:"maxOpenFiles"`
	Processes    uint64 `json:"processes"`
}

// homeFacts are about the home of hardshell.
type homeFacts struct {
	Path string `json:"path"`
	// Mode is in octal, Owner a user's number; neither without a home.
	Mode  string `json:"mode,omitempty"`
	Owner string `json:"owner,omitempty"`
	// FreeBytes is what this user may still write there.
	FreeBytes uint64 `json:"freeBytes"`
	// Sockets says that Unix sockets work there.
	Sockets bool   `json:"sockets"`
	Error   string `json:"error,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what this host can confine commands with",
		Long: `Tell what this host can confine commands with: the tier that is used, what it
enforces, and what stands in the way of the others, with what to type to remove
it. Every tier is tried with a command that does nothing. Then the bash that is
found, the limits, and the home of hardshell.

Warnings stand first. The exit status is 0 when commands can be confined, 1 when
nothing here can confine them.`,
		Example: `  hardshell doctor
  hardshell doctor --json | jq .sandbox.blockers`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.diagnose(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(d)
			} else {
				err = d.print(a.streams.Out)
			}
			if err == nil && d.Sandbox.Tier == "" {
				return exitStatus(exitError)
			}
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// diagnose examines the host.
func (a *app) diagnose(ctx context.Context) (*diagnosis, error) {
	log, err := a.logger()
	if err != nil {
		return nil, err
	}
	home, err := state.ResolveHome(a.home)
	if err != nil {
		return nil, usageError{err}
	}
	d := &diagnosis{Version: buildVersion(), Bash: findBash(ctx), Limits: findLimits(), Home: examineHome(home)}
	rows, err := compose.Rows(home, a.patches, log)
	if err != nil {
		return nil, usageError{err}
	}
	d.Sandbox, err = compose.SurveyHost(ctx, rows, compose.Surroundings{Home: home, Log: log})
	if err != nil {
		return nil, err
	}
	d.Warnings = d.warn()
	return d, nil
}

// findBash asks the bash on PATH for its version.
func findBash(ctx context.Context) bashFacts {
	path, err := exec.LookPath("bash")
	if err != nil {
		return bashFacts{}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--norc", "--noprofile", "-c", `printf %s "$BASH_VERSION"`).Output()
	if err != nil {
		return bashFacts{Path: path}
	}
	return bashFacts{Path: path, Version: strings.TrimSpace(string(out))}
}

// examineHome makes the home when there is none, as every command does.
func examineHome(home state.Home) homeFacts {
	f := homeFacts{Path: home.Root()}
	err := home.Ensure(home.Run())
	if err == nil {
		err = home.Check()
	}
	if err != nil {
		f.Error = err.Error()
	}
	f.examine(home)
	return f
}

func octal(mode fs.FileMode) string { return fmt.Sprintf("%#o", mode.Perm()) }

// What less of leaves little room for work.
const (
	fewFiles      = 256
	fewProcesses  = 256
	littleSpace   = 256 << 20
	unlimitedFrom = 1 << 62
)

// warn says what a person should know first.
func (d *diagnosis) warn() []string {
	warnings := []string{}
	add := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if d.Sandbox.Tier == "" {
		add("no sandbox works here: commands are refused with %s, unless they are run with --mode danger-full-access, without confinement", fault.SandboxUnavailable)
	}
	for _, t := range d.Sandbox.Tiers {
		if t.Tier == d.Sandbox.Tier && t.Effects != nil && t.Effects.Enforcement() != sandbox.Full {
			add("commands are confined in part: %s", strings.Join(partial(t.Effects), "; "))
		}
	}
	if d.Bash.Path == "" {
		add("bash is not on PATH: install it")
	}
	if d.Home.Error != "" {
		add("%s", d.Home.Error)
	} else {
		if !d.Home.Sockets {
			add("Unix sockets do not work in %s: put the home on a local file system with --home or $DSH_HOME", d.Home.Path)
		}
		if d.Home.FreeBytes < littleSpace {
			add("only %s are free in %s: temporary files, caches and long outputs need more", bytesText(d.Home.FreeBytes), d.Home.Path)
		}
	}
	if n := d.Limits.OpenFiles; n > 0 && n < fewFiles {
		add("this process may open only %d files: raise ulimit -n", n)
	}
	if n := d.Limits.Processes; n > 0 && n < fewProcesses {
		add("this user may have only %d processes: raise ulimit -u", n)
	}
	return warnings
}
