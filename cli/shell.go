package cli

import (
	"context"
	"strings"

	"hardshell"
	"hardshell/shell"
)

// isShell reports whether the arguments are those of a shell that is to run a
// script: options of one letter each, -c among them, as in -c, -lc and -l -c.
func isShell(args []string) bool {
	const letters = "abefhiklmnprtuvxBCDEHPT" // those of bash that take no value
	for _, arg := range args {
		options, ok := strings.CutPrefix(arg, "-")
		if !ok || strings.Trim(options, letters+"c") != "" || options == "" || options == "h" {
			return false
		}
		if strings.Contains(options, "c") {
			return true
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
