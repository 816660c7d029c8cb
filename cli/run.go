package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/shell"
	"hardshell/tool/bash"
)

// runFlags are the flags of run.
type runFlags struct {
	policyFlags
	workdir   string
	timeout   string
	env       []string
	stdin     bool
	maxOutput int64
	text      bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] COMMAND | run [flags] -- ARGV...",
		Short: "Run a command in the foreground",
		Long: `Run a command in the foreground. One argument is a bash script, also after "--";
several, after "--", are a program and its arguments, run exactly, without a shell
re-reading them.

The command is confined: it may change the workspace (--workspace, the current
directory), the directories of --write and a private temp, and nothing else;
--mode says otherwise. What was enforced stands in the result of --json, and
"hardshell doctor" tells what this host can enforce.

Output streams through as it comes, through pipes: the command never gets the
terminal. What the command leaves running in the background ends with this
process.

The exit status is the command's own, 128+N when signal N killed it, 124 when
its timeout passed, 125 when it could not be run, 2 for bad flags, and 130
after Ctrl-C (a second Ctrl-C kills at once).`,
		Example: `  hardshell run 'make test 2>&1 | tail -20'
  hardshell run --timeout 5m --workdir ./web -- npm ci
  hardshell run --json 'exit 3'
  hardshell run --mode read-only --network none 'make -n'
  echo data | hardshell run --stdin 'wc -c'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json && f.text {
				return usagef("--json and --text exclude each other: choose one")
			}
			request, err := f.request(cmd, args)
			if err != nil {
				return err
			}
			options, err := f.options(cmd)
			if err != nil {
				return err
			}
			return a.run(cmd.Context(), f, options, request)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	f.policyFlags.add(cmd)
	flags.StringVar(&f.workdir, "workdir", "", "directory that the command runs in (default: the workspace)")
	_ = cmd.MarkFlagDirname("workdir") // it fails only for a flag that does not exist
	flags.StringVar(&f.timeout, "timeout", "", "longest run time: "+durationWords+" (default 2m)")
	flags.StringArrayVar(&f.env, "env", nil, "set an environment variable, NAME=VALUE; may be repeated")
	flags.BoolVar(&f.stdin, "stdin", false, "forward standard input; otherwise the command reads an end of file")
	flags.Int64Var(&f.maxOutput, "max-output", 0, "bytes of standard output that --json and --text keep, from its end (default 64000)")
	flags.BoolVar(&f.text, "text", false, "print the text that a model would be given")
	a.jsonFlag(cmd)
	return cmd
}

// request reads the arguments and flags into a request.
func (f *runFlags) request(cmd *cobra.Command, args []string) (shell.Request, error) {
	request := shell.Request{Workdir: f.workdir, StdoutMaxBytes: f.maxOutput}
	switch {
	case len(args) == 0:
		return request, usagef("run needs a command: hardshell run 'echo hello'")
	case len(args) == 1:
		request.Command = args[0]
	case cmd.ArgsLenAtDash() != 0:
		return request, usagef("several words need -- before them: hardshell run [flags] -- PROGRAM ARGUMENTS. Quote a script as one word, and put flags before it")
	default:
		request.Argv = args
	}
	if cmd.Flags().Changed("max-output") && f.maxOutput <= 0 {
		return request, usagef("--max-output must be a positive number of bytes")
	}
	if cmd.Flags().Changed("timeout") {
		if err := f.readTimeout(&request); err != nil {
			return request, err
		}
	}
	for _, entry := range f.env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			return request, usagef("--env takes NAME=VALUE")
		}
		if request.Env == nil {
			request.Env = map[string]string{}
		}
		request.Env[name] = value
	}
	return request, nil
}

// readTimeout reads --timeout. A person's choice is not capped.
func (f *runFlags) readTimeout(request *shell.Request) error {
	if f.timeout == "none" {
		request.Timeout, request.TimeoutUncapped = shell.NoTimeout, true
		return nil
	}
	d, err := readDuration(f.timeout)
	if err != nil {
		return err
	}
	request.Timeout, request.TimeoutUncapped = d, true
	return nil
}

// run runs the request and reports it the way that the flags ask for.
func (a *app) run(ctx context.Context, f runFlags, options hardshell.Options, request shell.Request) error {
	signals := watchSignals(ctx)
	defer signals.stop()
	h, err := a.open(signals.ctx, options)
	if err != nil {
		return signals.explain(err)
	}
	stopKill := context.AfterFunc(signals.again, func() { h.Close(signals.again) })
	defer stopKill()
	defer h.Close(signals.again)

	if err := f.fits(h.Policy().Mode); err != nil {
		return err
	}
	if f.stdin {
		request.Stdin = a.streams.In
	}
	live := !a.json && !f.text
	if live {
		request.Stdout, request.Stderr, request.NoSpill = a.streams.Out, a.streams.Err, true
	}
	<-signals.ready
	result, err := h.Run(signals.ctx, request)
	if err != nil {
		return signals.explain(err)
	}
	if err := a.report(result, live, f); err != nil {
		return err
	}
	// What the command left in the background ends now.
	if err := h.Close(signals.closing()); err != nil && len(result.Survivors) == 0 {
		a.tell("%v", err)
	}
	return signals.status(result)
}

// report prints a result.
func (a *app) report(result *shell.Result, live bool, f runFlags) error {
	switch {
	case a.json:
		return a.printJSON(result)
	case f.text:
		_, err := io.WriteString(a.streams.Out, bash.Render(result, false))
		return err
	case live && result.TimedOut:
		a.tell("timed out after %s: raise --timeout, or use --timeout none%s", result.Timeout, unitNote(f.timeout))
	case live && result.Sandbox != nil && result.Sandbox.Denied:
		a.tell("the sandbox refused a file access in %s mode: allow a directory with --write DIR, or choose another --mode", result.Sandbox.Mode)
	}
	for _, pid := range result.Survivors {
		a.tell("process %d is still running after SIGKILL", pid)
	}
	return nil
}
