package cli

import (
	"context"
	"regexp"

	"hardshell"
	"hardshell/shell"
)

// shellOptions are the options of bash that a command line for it begins with
// when it is to run a script: -c, alone or among others, -lc for instance.
var shellOptions = regexp.MustCompile(`^-[abefhiklmnprtuvxBCDEHPTl]*c[abefhiklmnprtuvxBCDEHPTl]*$`)

// isShell reports whether the arguments are those of a shell.
func isShell(args []string) bool {
	for _, arg := range args {
		if shellOptions.MatchString(arg) {
			return true
		}
		if arg != "-l" && arg != "-i" && arg != "-e" && arg != "-u" && arg != "-x" {
			return false
		}
	}
	return false
}

// Shell runs bash with args, confined, as if this program were bash, and returns
// its exit status. Nothing is added to what it prints.
func Shell(ctx context.Context, args []string, streams Streams) int {
	streams.Out = &sink{name: "standard output", w: streams.Out}
	streams.Err = &sink{name: "standard error", w: streams.Err}
	return (&app{streams: streams}).shell(ctx, args)
}

func (a *app) shell(ctx context.Context, args []string) int {
	a.parsed, a.logLevel = true, "error"
	err := a.runShell(ctx, args)
	if status, ok := err.(exitStatus); ok {
		return int(status)
	}
	if err != nil {
		return a.fail(err)
	}
	return 0
}

func (a *app) runShell(ctx context.Context, args []string) error {
	signals := watchSignals(ctx)
	defer signals.stop()
	h, err := a.open(signals.ctx, hardshell.Options{})
	if err != nil {
		return signals.explain(err)
	}
	stopKill := context.AfterFunc(signals.again, func() { h.Close(signals.again) })
	defer stopKill()
	defer h.Close(signals.again)
	<-signals.ready
	result, err := h.Run(signals.ctx, shell.Request{
		Argv:    append([]string{"bash"}, args...),
		Timeout: shell.NoTimeout, TimeoutUncapped: true,
		Stdin: a.streams.In, Stdout: a.streams.Out, Stderr: a.streams.Err, NoSpill: true,
	})
	if err != nil {
		return signals.explain(err)
	}
	if err := h.Close(signals.closing()); err != nil {
		return err
	}
	return signals.status(result)
}
