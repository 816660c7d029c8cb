package durable

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/record"
	"hardshell/internal/textutil"
	"hardshell/jobs"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/subprocess"
)

// producer is the work of a job that is kept.
type producer struct {
	store   *Store
	id      string
	ask     *record.Ask
	command Command
}

var (
	_ jobs.Producer    = (*producer)(nil)
	_ jobs.Streaming   = (*producer)(nil)
	_ jobs.Recorded    = (*producer)(nil)
	_ jobs.Interactive = (*producer)(nil)
	_ jobs.Remembering = (*producer)(nil)
)

// Done implements jobs.Producer.
func (p *producer) Done() <-chan struct{} { return p.command.Done() }

// Outcome implements jobs.Producer.
func (p *producer) Outcome() jobs.Outcome { return outcome(p.command.Status()) }

// Cancel implements jobs.Producer.
func (p *producer) Cancel(reason string) error { return p.command.Stop(reason, false) }

// Input implements jobs.Interactive.
func (p *producer) Input(ctx context.Context, text string, eof bool) error {
	if !p.ask.Interactive {
		return fault.New(fault.InvalidArgs, "job %s takes no input: start it with interactive", p.id)
	}
	return p.command.Input(ctx, []byte(text), eof)
}

// Reported implements jobs.Remembering.
func (p *producer) Reported() bool {
	c := p.store.cursor(p.id, p.ask.Key)
	return c.Reported || c.Noticed
}

// MarkReported implements jobs.Remembering.
func (p *producer) MarkReported() {
	// When it fails the end is told once more, which is the lesser harm.
	_ = p.store.move(p.id, p.ask.Key, func(c *cursor) { c.Reported = true })
}

// UnmarkReported implements jobs.Remembering.
func (p *producer) UnmarkReported() {
	_ = p.store.move(p.id, p.ask.Key, func(c *cursor) { c.Reported = false })
}

// settled reports whether the command has settled.
func (p *producer) settled() bool {
	select {
	case <-p.command.Done():
		return true
	default:
		return false
	}
}

// processState is the outcome of a recorded command in the words of the shell.
func processState(s *record.Status) shell.ProcessState {
	out := shell.ProcessState{
		Status: shell.Completed, ExitCode: s.ExitCode, Signal: s.Signal, Survivors: s.Survivors, Limit: subprocess.Limit(s.Limit()),
	}
	if s.Status == record.Killed {
		out.Status = shell.Killed
	}
	if s.Sandbox != nil {
		info := new(sandbox.Info)
		if json.Unmarshal(s.Sandbox, info) == nil {
			out.Sandbox = info
		}
	}
	if s.Usage != nil {
		out.Usage = &subprocess.Usage{
			User:   time.Duration(s.Usage.UserMs) * time.Millisecond,
			System: time.Duration(s.Usage.SystemMs) * time.Millisecond, MaxRSS: s.Usage.MaxRSS,
		}
	}
	return out
}

// outcome is how a recorded command settled.
func outcome(s *record.Status) jobs.Outcome {
	o := jobs.Outcome{Finished: time.UnixMilli(s.Finished)}
	switch s.Status {
	case record.Failed:
		o.Status, o.Detail = jobs.Failed, s.Detail
		return o
	case record.Completed, record.Killed:
	default:
		o.Status, o.Detail = jobs.Failed, "how it ended cannot be read: it says "+oneLine(s.Status)
		return o
	}
	ended := processState(s)
	o.Status, o.Detail = jobs.Detail(ended)
	o.Usage = ended.Usage
	return o
}

// ReadOutput implements jobs.Streaming.
// When the place cannot be kept, because the disk is full, say, the text is handed
// over all the same, and will be once more.
func (p *producer) ReadOutput() (text string, err error) {
	moved := p.store.move(p.id, p.ask.Key, func(c *cursor) {
		settled := p.settled() // before the read: all output is then there
		var lossy bool
		next := *c
		if text, lossy, err = p.unread(&next, settled); err != nil {
			return
		}
		*c = next
		if lossy {
			text = jobs.OnOwnLine(text, jobs.LossNote(p.whole(record.Stdout), p.whole(record.Stderr)))
		}
		if settled && !c.Noted {
			c.Noted = true
			ended := processState(p.command.Status())
			text = jobs.OnOwnLine(text, jobs.Notes(ended.Sandbox, jobs.Unsuccessful(ended), p.store.config.Escalation))
		}
	})
	if text != "" && err == nil {
		return text, nil
	}
	return text, errors.Join(err, moved)
}

// unread reads both streams from the cursor on, and moves it.
func (p *producer) unread(c *cursor, settled bool) (text string, lossy bool, err error) {
	out, lossyOut, err := p.tail(record.Stdout, &c.Stdout, settled)
	if err != nil {
		return "", false, err
	}
	errs, lossyErr, err := p.tail(record.Stderr, &c.Stderr, settled)
	if err != nil {
		return "", false, err
	}
	return jobs.Merge(out, errs), lossyOut || lossyErr, nil
}

// tail reads the newest bytes of a stream after an offset, and moves that.
func (p *producer) tail(stream int, offset *int64, settled bool) (text string, lossy bool, err error) {
	log, err := p.open(stream)
	if log == nil || err != nil {
		return "", false, err
	}
	defer log.Close()
	piece, err := log.Tail(*offset, p.store.config.MaxOutputBytes)
	if err != nil {
		return "", false, err
	}
	data := piece.Data
	*offset = piece.Next
	if !settled {
		held := textutil.IncompleteSuffix(data)
		data = data[:len(data)-held]
		*offset -= int64(held)
	}
	if piece.Skipped > 0 {
		data = textutil.TrimLeadingContinuation(data)
	}
	return textutil.Decode(data), piece.Skipped > 0, nil
}

// open opens the log of a stream, nil for a command that is not started yet, or
// never ran.
func (p *producer) open(stream int) (*record.Reader, error) {
	settled := p.settled() // before the look: its log was then there
	dir, err := record.Open(p.store.path(p.id))
	if err == nil {
		defer dir.Close()
		var log *record.Reader
		if log, err = dir.OpenLog(p.ask, stream); err == nil {
			return log, nil
		}
		if errors.Is(err, fs.ErrNotExist) && record.Asked(p.store.path(p.id)) && (!settled || p.command.Status().Status == record.Failed) {
			return nil, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.UnknownJob, "the output of job %s was removed", p.id)
	}
	return nil, err
}

// whole is the path of a log that holds all of its stream, "" when it does not
// or is empty.
func (p *producer) whole(stream int) string {
	log, err := p.open(stream)
	if log == nil || err != nil {
		return ""
	}
	defer log.Close()
	if _, gap := log.Gap(); gap || log.Size() == 0 {
		return ""
	}
	return filepath.Join(p.store.path(p.id), []string{p.ask.Stdout, p.ask.Stderr}[stream])
}

// glance is how often a log is looked at while somebody waits for output: its
// writer is another process.
const glance = 50 * time.Millisecond

// Unread implements jobs.Streaming.
func (p *producer) Unread(ctx context.Context, look func(text string) (enough bool)) error {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	last := int64(-1)
	for {
		settled := p.settled()
		c := p.store.cursor(p.id, p.ask.Key)
		text, _, err := p.unread(&c, settled)
		if err != nil {
			return err
		}
		if end := c.Stdout + c.Stderr; end != last {
			last = end
			if look(text) {
				return nil
			}
		}
		if settled {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.command.Done():
		case <-ticker.C:
		}
	}
}

// ReadFrom implements jobs.Recorded.
func (p *producer) ReadFrom(stream subprocess.Stream, offset int64, max int) (jobs.Piece, error) {
	i := record.Stdout
	if stream == subprocess.Stderr {
		i = record.Stderr
	}
	settled := p.settled()
	log, err := p.open(i)
	if log == nil || err != nil {
		return jobs.Piece{From: offset, Next: offset}, err
	}
	defer log.Close()
	piece, err := log.ReadAt(offset, max)
	if err != nil {
		return jobs.Piece{}, err
	}
	data := piece.Data
	// A character is not split between two reads, unless it is larger than they
	// are, or never completed.
	if held := textutil.IncompleteSuffix(data); held < len(data) && !(settled && piece.Next == piece.Size) {
		data = data[:len(data)-held]
		piece.Next -= int64(held)
	}
	return jobs.Piece{
		Text: textutil.Decode(data), From: piece.Offset, Next: piece.Next, Skipped: piece.Skipped, Size: piece.Size,
	}, nil
}
