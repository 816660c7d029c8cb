package jobs

import (
	"fmt"

	"hardshell/jobs"
	"hardshell/subprocess"
)

// Range says which bytes of a stream a re-read got.
type Range struct {
	Stream subprocess.Stream `json:"stream"`
	// From and Next are the offsets of the first byte, and of the byte after the
	// last: the next re-read begins there.
	From int64 `json:"from"`
	Next int64 `json:"next"`
	// Size is how long the stream is so far.
	Size int64 `json:"size"`
	// Skipped is how many bytes between what was asked for and From are gone.
	Skipped int64 `json:"skipped,omitempty"`
}

// reread returns a part of one stream, without moving the cursor.
func (t *Tools) reread(in OutputInput, owner *jobs.Owner) (Output, error) {
	stream, from := subprocess.Stdout, int64(0)
	if in.Stream != nil {
		stream = subprocess.Stream(*in.Stream)
	}
	if in.From != nil {
		from = *in.From
	}
	out, err := t.piece(in.JobID, stream, from, t.config.RereadBytes, owner)
	if err != nil || out.limit == 0 {
		return out, err
	}
	// A text that is cut says nothing of where the rest begins. A shorter piece
	// does; its last line may be longer by the words that say so.
	const slack = 64
	body, status := out.parts()
	over := int64(len(onOwnLine(body)+status)) - out.limit
	if over <= 0 {
		return out, nil
	}
	shorter := max(1, out.Range.Next-out.Range.From-over-slack)
	return t.piece(in.JobID, stream, from, int(shorter), owner)
}

// piece reads at most most bytes.
func (t *Tools) piece(id string, stream subprocess.Stream, from int64, most int, owner *jobs.Owner) (Output, error) {
	piece, job, err := t.registry.ReadFrom(id, stream, from, most, owner)
	if err != nil {
		return Output{}, err
	}
	return Output{
		Text: piece.Text, Job: jobOf(job), limit: job.OutputLimitBytes,
		Range: &Range{Stream: stream, From: piece.From, Next: piece.Next, Size: piece.Size, Skipped: piece.Skipped},
	}, nil
}

// line says which bytes these are, and where to go on. A settled job writes no
// more.
func (r Range) line(settled bool) string {
	gone, rest := "", fmt.Sprintf("go on with from %d", r.Next)
	if r.Skipped > 0 {
		gone = fmt.Sprintf("; %d bytes before these are gone", r.Skipped)
	}
	switch {
	case r.Next < r.Size:
	case settled:
		rest = "that is all"
	default:
		rest = "that is all so far, " + rest
	}
	return fmt.Sprintf("[%s bytes %d–%d of %d%s; %s]", r.Stream, r.From, r.Next, r.Size, gone, rest)
}
