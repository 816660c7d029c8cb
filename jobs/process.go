package jobs

import (
	"context"
	"strings"
	"sync"
	"time"

	"hardshell/internal/textutil"
	"hardshell/shell"
)

// ProcessOptions are the settings of a job that is a command.
type ProcessOptions struct {
	// Escalation says that a model may ask for a wider mode after a denial.
	Escalation bool
}

// NewProcess returns the work of a job over a command of this process. It is
// Streaming, and owns the command's consuming reads. A command that never ran
// makes the job fail.
func NewProcess(p shell.Process, o ProcessOptions) Producer {
	return &process{command: p, options: o}
}

// process is a command whose job ends with this process.
type process struct {
	command shell.Process
	options ProcessOptions

	mu     sync.Mutex // guards what follows, and the order of reads
	unread string     // was taken from the command and not read yet
	taken  int64      // how many bytes were taken from it at all
	lossy  bool
	spills [2]string
	noted  bool // the notes of the sandbox were read
}

var (
	_ Producer  = (*process)(nil)
	_ Streaming = (*process)(nil)
)

const (
	// glance is how often a command is looked at while somebody waits for its
	// output: a shell.Process does not say when there is more.
	glance = 50 * time.Millisecond
	// maxUnread bounds what is held in memory (bytes) for a reader that does not
	// come while somebody waits.
	maxUnread = 1 << 20
)

// Done implements Producer.
func (p *process) Done() <-chan struct{} { return p.command.Done() }

// Outcome implements Producer.
func (p *process) Outcome() Outcome {
	state := p.command.State()
	status, detail := Detail(state)
	return Outcome{Status: status, Detail: detail, Usage: state.Usage}
}

// Cancel implements Producer.
func (p *process) Cancel(string) error {
	p.command.Kill()
	return nil
}

// ReadOutput implements Streaming. The notes of the sandbox come once, with the
// first read after the end.
func (p *process) ReadOutput() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	over := p.over()
	p.gather()
	text := p.unread
	if p.lossy {
		text = OnOwnLine(text, LossNote(p.spills[:]...))
	}
	p.unread, p.lossy = "", false
	if over && !p.noted {
		p.noted = true
		state := p.command.State()
		text = OnOwnLine(text, Notes(state.Sandbox, Unsuccessful(state), p.options.Escalation))
	}
	return text, nil
}

// Unread implements Streaming.
func (p *process) Unread(ctx context.Context, look func(text string) (enough bool)) error {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	last := int64(-1)
	for {
		p.mu.Lock()
		over := p.over()
		p.gather()
		text, taken := p.unread, p.taken
		p.mu.Unlock()
		if taken != last {
			last = taken
			if look(text) {
				return nil
			}
		}
		if over {
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

// over says that the command has settled: what is gathered from now on is its
// last output.
func (p *process) over() bool {
	select {
	case <-p.command.Done():
		return true
	default:
		return false
	}
}

// gather takes what the command has written since the last time. The caller
// holds mu.
func (p *process) gather() {
	read := p.command.ReadOutput()
	p.lossy = p.lossy || read.Lossy
	p.spills = [2]string{read.StdoutSpillPath, read.StderrSpillPath}
	if read.Delta == "" {
		return
	}
	p.taken += int64(len(read.Delta))
	if strings.HasPrefix(read.Delta, stderrHeading) {
		p.unread = OnOwnLine(p.unread, read.Delta)
	} else {
		p.unread += read.Delta
	}
	if over := len(p.unread) - maxUnread; over > 0 {
		p.unread = string(textutil.TrimLeadingContinuation([]byte(p.unread[over:])))
		p.lossy = true
	}
}
