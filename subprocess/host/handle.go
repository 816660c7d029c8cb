//go:build unix

package host

import (
	"io"

	"hardshell/internal/capture"
	"hardshell/internal/command"
	"hardshell/subprocess"
)

// handle shows a command in the words of the seam.
type handle struct{ *command.Command }

var _ subprocess.Handle = (*handle)(nil)

// Exit implements subprocess.Handle.
func (h *handle) Exit() subprocess.Exit {
	e := h.Command.Exit()
	return subprocess.Exit{
		Code: e.Code, Signal: e.Signal, Cause: e.Cause, Duration: e.Duration,
		Usage: subprocess.Usage{User: e.UserTime, System: e.SystemTime, MaxRSS: e.MaxRSS},
	}
}

// Stdin implements subprocess.Handle.
func (h *handle) Stdin() io.WriteCloser {
	if f := h.Streams.Stdin(); f != nil {
		return f
	}
	return nil
}

// Output implements subprocess.Handle.
func (h *handle) Output(stream subprocess.Stream) io.ReadCloser {
	if f := h.Streams.Output(index(stream)); f != nil {
		return f
	}
	return nil
}

// Reader implements subprocess.Handle.
func (h *handle) Reader(stream subprocess.Stream) subprocess.Reader {
	if w := h.Streams.Window(index(stream)); w != nil {
		return reader{w}
	}
	return nil
}

func index(stream subprocess.Stream) int {
	if stream == subprocess.Stdout {
		return 0
	}
	return 1
}

// reader shows a window in the words of the seam.
type reader struct{ *capture.Window }

// ReadFrom implements subprocess.Reader.
func (r reader) ReadFrom(offset int64) subprocess.Chunk {
	return subprocess.Chunk(r.Window.ReadFrom(offset))
}

// Collected implements subprocess.Reader.
func (r reader) Collected() subprocess.CollectedOutput {
	c := r.Window.Collected()
	return subprocess.CollectedOutput{Text: c.Text, Truncated: c.Truncated, Bytes: c.Bytes, SpillPath: c.SpillPath}
}

// streams says to the capture what a spec states.
func streams(spec *subprocess.Spec) (in capture.Input, out [2]capture.Output) {
	in = capture.Input{Kind: inputKinds[spec.Stdin.Mode], Data: spec.Stdin.Data}
	for i, o := range [2]subprocess.Output{spec.Stdout, spec.Stderr} {
		out[i] = capture.Output{Kind: outputKinds[o.Mode], MaxBytes: o.MaxBytes, Tee: o.Tee}
		if o.Spill != nil {
			out[i].MaxSpill = o.Spill.MaxBytes
		}
	}
	return in, out
}

var inputKinds = map[subprocess.StdinMode]capture.Kind{
	subprocess.StdinIgnore:  capture.Null,
	subprocess.StdinInherit: capture.Inherit,
	subprocess.StdinPipe:    capture.Pipe,
	subprocess.StdinData:    capture.Pipe,
}

var outputKinds = map[subprocess.OutputMode]capture.Kind{
	subprocess.OutputIgnore:  capture.Null,
	subprocess.OutputInherit: capture.Inherit,
	subprocess.OutputPipe:    capture.Pipe,
	subprocess.OutputCollect: capture.Collect,
}
