package cli

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"hardshell/internal/fault"
)

// runEditor has the person edit a file, and waits for the end of the editor. It
// runs unconfined, as the person's own program on the same terminal.
func (a *app) runEditor(path string) error {
	editor := cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi")
	// Editors are given with arguments, and with quotes, by custom.
	cmd := exec.Command("/bin/sh", "-c", editor+` "$@"`, editor, path)
	if runtime.GOOS == "windows" {
		words := strings.Fields(editor)
		cmd = exec.Command(words[0], append(words[1:], path)...)
	}
	cmd.Stdin = a.streams.In
	cmd.Stdout, cmd.Stderr = own(a.streams.Out), own(a.streams.Err)
	// The terminal sends these to the editor too, which may take them as keys. One
	// that is caught, and not ignored, has its usual meaning in the editor.
	keys := make(chan os.Signal, 1)
	signal.Notify(keys, os.Interrupt, syscall.SIGQUIT)
	defer signal.Stop(keys)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return fault.New(fault.InvalidArgument, "the editor %q ended with exit status %d, so nothing was changed: set $VISUAL or $EDITOR to one that works here", editor, exit.ExitCode())
	case err != nil:
		return fault.New(fault.InvalidArgument, "the editor %q could not be run, so nothing was changed: set $VISUAL or $EDITOR to one that works here (%w)", editor, err)
	}
	return nil
}

// own is the stream below a sink, which may be a terminal.
func own(w io.Writer) io.Writer {
	if s, ok := w.(*sink); ok {
		return s.w
	}
	return w
}
