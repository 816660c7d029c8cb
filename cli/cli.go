package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/settings"
)

// Exit statuses that are not a command's own.
const (
	exitError     = 1   // the result of a tool call is an error, or there is no such job
	exitUsage     = 2   // bad flags or arguments
	exitTimedOut  = 124 // the command's timeout passed
	exitFailed    = 125 // the command could not be run
	exitNoJob     = 127 // there is no job to wait for, as in a shell
	exitInterrupt = 130 // Ctrl-C
	exitPiped     = 141 // nobody reads standard output, as after SIGPIPE
)

// Streams are the standard streams of one invocation.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Main runs one invocation and returns its exit status. Args exclude the
// program's name.
func Main(ctx context.Context, args []string, streams Streams) int {
	return (&app{streams: streams}).main(ctx, args)
}

func (a *app) main(ctx context.Context, args []string) int {
	out := &sink{name: "standard output", w: a.streams.Out}
	errs := &sink{name: "standard error", w: a.streams.Err}
	a.streams.Out, a.streams.Err = out, errs
	if isShell(args) {
		return a.shell(ctx, args)
	}
	root := a.root(args)
	root.SetArgs(args)
	root.SetIn(a.streams.In)
	root.SetOut(a.streams.Out)
	root.SetErr(a.streams.Err)
	err := root.ExecuteContext(ctx)
	var status exitStatus
	switch lost := cmp.Or(out.failure(), errs.failure()); {
	case err == nil && lost != nil:
		a.tell("%v", lost)
		return exitFailed
	case err == nil:
		return 0
	case errors.As(err, &status):
		if lost != nil {
			a.tell("%v", lost)
		}
		return int(status)
	default:
		a.json = a.json || !a.parsed && wantsJSON(args)
		return a.fail(err)
	}
}

// app is one invocation: its streams and the flags that every command has.
type app struct {
	streams  Streams
	home     string
	session  string
	logLevel string
	patches  []string
	json     bool // the command prints one JSON document
	parsed   bool // the flags and arguments are in order
	// register adds the namespaces of a test to the settings; nil adds none.
	register func(*settings.Service) error
}

// exitStatus ends an invocation that has already said what there is to say.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// statusError is an error with an exit status of its own.
type statusError struct {
	status int
	error
}

func (e statusError) Unwrap() error { return e.error }

// usageError is a mistake in the flags or arguments.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return usageError{fault.New(fault.InvalidArgument, format, args...)}
}

// root makes the command tree. When the first argument names a command, only
// that one is made: the others would cost a cold start a tenth of its time.
func (a *app) root(args []string) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "hardshell",
		Short: "The shell that an AI agent can be given",
		Long: `hardshell runs an agent's commands confined, bounded, cancellable and
observable, and says exactly what happened.

As "hardshell -c SCRIPT", and under any name that ends in "sh", it is a drop-in
for bash: the same options and output, confined.`,
		Example: `  hardshell run 'echo hello; exit 3'
  hardshell run --timeout 30s --json -- make -j2 test
  hardshell call bash '{"command":"ls","description":"List the files"}'
  hardshell jobs list --session s`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.parsed = true
			return a.checkJSONFlag(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return a.printVersion()
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version, as the command version does")
	flags := root.PersistentFlags()
	flags.StringVar(&a.home, "home", "", "directory of all state (default $DSH_HOME, else ~/.hardshell)")
	flags.StringVar(&a.session, "session", "", "session that commands belong to (default: a throw-away one)")
	flags.StringVar(&a.logLevel, "log-level", "warn", "what is told on standard error: debug, info, warn or error")
	flags.StringArrayVar(&a.patches, "patch", nil, "file of composition rows to change, like compose.yaml in the home (repeatable)")
	flags.BoolVar(&a.json, "json", false, "")
	// The commands that have it say what it does there.
	_ = flags.MarkHidden("json") // it fails only for a flag that does not exist
	complete(root, "log-level", "debug", "info", "warn", "error")
	// It fails only for a flag that does not exist.
	_ = root.RegisterFlagCompletionFunc("session", func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return a.completeSessions(cmd, nil, word)
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\nSee '%s --help'", err, cmd.CommandPath())}
	})
	commands := []struct {
		name string
		make func() *cobra.Command
	}{
		{"run", a.runCommand}, {"call", a.callCommand}, {"tools", a.toolsCommand},
		{"jobs", a.jobsCommand}, {"sessions", a.sessionsCommand},
		{"settings", a.settingsCommand}, {"compose", a.composeCommand},
		{"doctor", a.doctorCommand}, {"bench", a.benchCommand}, {"version", a.versionCommand}, {"completion", a.completionCommand},
	}
	named := false
	for _, c := range commands {
		if len(args) > 0 && args[0] == c.name && c.name != "completion" {
			root.AddCommand(c.make())
			named = true
		}
	}
	for _, c := range commands {
		if !named {
			root.AddCommand(c.make())
		}
	}
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// open opens the library for this invocation.
func (a *app) open(ctx context.Context, o hardshell.Options) (*hardshell.Harness, error) {
	log, err := a.logger()
	if err != nil {
		return nil, err
	}
	o.Home, o.Session, o.Log, o.Patches = a.home, a.session, log, a.patches
	o.SessionHost, o.OneShot = []string{"/proc/self/exe", hostwire.Argument}, true
	h, err := hardshell.Open(ctx, o)
	if fault.CodeOf(err) == fault.InvalidArgument {
		return nil, usageError{err}
	}
	return h, err
}

func (a *app) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return nil, usagef("--log-level %q is none of debug, info, warn, error", a.logLevel)
	}
	return slog.New(slog.NewTextHandler(a.streams.Err, &slog.HandlerOptions{Level: level})), nil
}

// fail reports an error and returns the exit status that goes with it.
func (a *app) fail(err error) int {
	if errors.Is(err, syscall.EPIPE) {
		return exitPiped
	}
	status, code := exitFailed, fault.CodeOf(err)
	var usage usageError
	var own statusError
	switch {
	case errors.As(err, &own):
		status = own.status
	case errors.As(err, &usage):
		status = exitUsage
		code = cmp.Or(code, fault.InvalidArgument)
	case code == fault.UnknownJob || code == fault.ForeignJob:
		status = exitError
	case !a.parsed: // cobra's own errors are of no type
		err = fmt.Errorf("%w\nSee 'hardshell --help'", err)
		status, code = exitUsage, fault.InvalidArgument
	}
	document := errorDocument{errorBody{Code: cmp.Or(code, fault.Invariant), Message: err.Error(), Details: errorDetails(err)}}
	if a.json && a.printJSON(document) == nil {
		return status
	}
	a.tell("%v", err)
	return status
}

// wantsJSON finds --json in arguments that could not be parsed as far as that.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--json":
			return true
		case "--":
			return false
		}
	}
	return false
}

// errorDocument is how a failure reads in JSON.
type errorDocument struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
	Details any        `json:"details,omitempty"`
}

// tell tells a person something on standard error. A reader who stands still is
// not waited for: what there was to say was said by the exit status too.
func (a *app) tell(format string, args ...any) { a.say(format, args...) }

// say is tell, and reports whether the text was written.
func (a *app) say(format string, args ...any) bool {
	told := make(chan error, 1)
	go func() {
		_, err := fmt.Fprintf(a.streams.Err, "hardshell: "+format+"\n", args...)
		told <- err
	}()
	select {
	case err := <-told:
		return err == nil && !lost(a.streams.Err)
	case <-time.After(time.Second):
		return false
	}
}

// printJSON prints one document on a line.
func (a *app) printJSON(v any) error {
	encoder := json.NewEncoder(a.streams.Out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// jsonFlag adds --json, which every command that prints a result has.
func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print exactly one JSON document on standard output")
}

// checkJSONFlag refuses --json of a command that has none: it may stand before
// the name of the command, where every one reads it.
func (a *app) checkJSONFlag(cmd *cobra.Command) error {
	root := cmd.Root()
	if !a.json || cmd == root || cmd.LocalNonPersistentFlags().Lookup("json") != nil {
		return nil
	}
	return usageError{fmt.Errorf("%s prints no JSON: leave --json out\nSee '%s --help'", cmd.CommandPath(), cmd.CommandPath())}
}

// complete offers fixed words for a flag.
func complete(cmd *cobra.Command, flag string, words ...string) {
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
