package cli

import (
	"io"
	"math"
	"time"

	"hardshell/compose"
	"hardshell/internal/state"
	"hardshell/internal/textutil"
	"hardshell/subprocess"
)

// printer prints the streams of a job as they are read.
type printer struct {
	app     *app
	readers []*outputReader
	single  bool // only one stream is wanted, and is printed on standard output
	lines   bool // as objects, one a line

	held    [2][]byte // the beginning of a character, by stream
	skipped [2]int64
}

// pieceLine is a piece of output in a line.
type pieceLine struct {
	Stream subprocess.Stream `json:"stream"`
	From   int64             `json:"from"`
	Text   string            `json:"text"`
	// Skipped counts the bytes before From that are gone.
	Skipped int64 `json:"skipped,omitempty"`
}

// jobLine is the last line.
type jobLine struct {
	Job compose.JobInfo `json:"job"`
}

// step prints what a reader has next, up to an offset, and reports whether there
// may be more.
func (p *printer) step(r *outputReader, to int64) (more bool, err error) {
	before := r.next
	piece, err := r.read(to)
	if err != nil {
		return false, err
	}
	if piece.Skipped > 0 {
		if err := p.flush(r); err != nil {
			return false, err
		}
		p.skipped[index(r.stream)] = piece.Skipped
		p.app.gap(r.stream, piece.Skipped, before)
	}
	if len(piece.Data) == 0 {
		return r.next > before, nil
	}
	return true, p.print(r.stream, piece.Offset, piece.Data)
}

func (p *printer) print(stream subprocess.Stream, offset int64, data []byte) error {
	if !p.lines {
		var out io.Writer = p.app.streams.Out
		if stream == subprocess.Stderr && !p.single {
			out = p.app.streams.Err
		}
		_, err := out.Write(data)
		return err
	}
	i := index(stream)
	offset -= int64(len(p.held[i]))
	data = append(p.held[i], data...)
	rest := textutil.IncompleteSuffix(data)
	p.held[i] = append([]byte(nil), data[len(data)-rest:]...)
	return p.line(stream, offset, data[:len(data)-rest])
}

// flush prints the beginning of a character of which the rest never comes.
func (p *printer) flush(r *outputReader) error {
	i := index(r.stream)
	data := p.held[i]
	p.held[i] = nil
	return p.line(r.stream, r.next-int64(len(data)), data)
}

func (p *printer) line(stream subprocess.Stream, offset int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	i := index(stream)
	line := pieceLine{Stream: stream, From: offset, Text: textutil.Decode(data), Skipped: p.skipped[i]}
	p.skipped[i] = 0
	return p.app.printJSON(line)
}

func index(stream subprocess.Stream) int {
	if stream == subprocess.Stderr {
		return 1
	}
	return 0
}

// glance is how often a job is looked at: its host is another process, and one
// that died tells nobody.
const glance = 50 * time.Millisecond

// follow prints what comes until the job has settled.
func (a *app) follow(signals *signals, home state.Home, info compose.JobInfo, p *printer) error {
	p.lines = a.json
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		// A settled job writes no more: what is read after is all.
		settled := info.Status.Terminal()
		for _, reader := range p.readers {
			for more := true; more; {
				var err error
				if more, err = p.step(reader, math.MaxInt64); err != nil {
					return err
				}
				if signals.ctx.Err() != nil {
					return exitStatus(signals.interruption())
				}
			}
		}
		if settled {
			break
		}
		select {
		case <-ticker.C:
		case <-signals.ctx.Done():
			return exitStatus(signals.interruption())
		}
		if out, ok := a.streams.Out.(*sink); ok && readerGone(out.w) {
			return exitStatus(exitPiped)
		}
		var err error
		if info, err = a.readJob(home, info.ID); err != nil {
			return err
		}
	}
	if !p.lines {
		return nil
	}
	for _, reader := range p.readers {
		if err := p.flush(reader); err != nil {
			return err
		}
	}
	return a.printJSON(jobLine{info})
}
