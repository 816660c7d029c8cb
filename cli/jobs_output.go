package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hardshell/compose"
	"hardshell/internal/record"
	"hardshell/internal/state"
	"hardshell/internal/textutil"
	"hardshell/subprocess"
)

// outputFlags say what of a job's output is wanted.
type outputFlags struct {
	follow bool
	from   int64
	stream string
}

func (a *app) jobsOutputCommand() *cobra.Command {
	var f outputFlags
	cmd := &cobra.Command{
		Use:   "output ID",
		Short: "Print the output of a job",
		Long: `Print the output of a job as it was written: its standard output on standard
output, its standard error on standard error. With --stream only that one is
printed, on standard output. The model's place in the output stays where it is.

With --follow what comes later is printed too, until the job has settled. Bytes
that are kept no more are told of on standard error.

With --json the document has the newest 1 MiB of each stream at most, as text;
"skipped" counts the bytes from --from on that are not in it. With --follow it
is one object a line: pieces of output, and last the job.`,
		Example: `  hardshell jobs output bash-1 --session s
  hardshell jobs output bash-1 --session s --follow --stream stdout | grep error
  hardshell jobs output bash-1 --session s --from 4096 --json`,
		Args:              oneJob,
		ValidArgsFunction: a.completeJobs(false, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			home, err := a.jobHome()
			if err != nil {
				return err
			}
			if f.from < 0 {
				return usagef("--from is the offset of a byte: 0 is the first")
			}
			wanted := []subprocess.Stream{subprocess.Stdout, subprocess.Stderr}
			if cmd.Flags().Changed("stream") {
				only := subprocess.Stream(f.stream)
				if !slices.Contains(wanted, only) {
					return usagef("--stream %q is none: use stdout or stderr", f.stream)
				}
				wanted = []subprocess.Stream{only}
			}
			if a.json && !f.follow {
				return a.outputDocument(home, args[0], f.from, wanted)
			}
			return a.copyOutput(cmd.Context(), home, args[0], f, wanted)
		},
	}
	cmd.Flags().BoolVar(&f.follow, "follow", false, "go on until the job has settled")
	cmd.Flags().Int64Var(&f.from, "from", 0, "offset in each stream, in bytes, to begin at")
	cmd.Flags().StringVar(&f.stream, "stream", "", "print only stdout or stderr")
	complete(cmd, "stream", string(subprocess.Stdout), string(subprocess.Stderr))
	a.jsonFlag(cmd)
	return cmd
}

// documentBytes is how much of each stream stands in a document.
const documentBytes = 1 << 20

// outputDocumentJSON is what jobs output prints.
type outputDocumentJSON struct {
	Job    compose.JobInfo `json:"job"`
	Stdout *streamPiece    `json:"stdout,omitempty"`
	Stderr *streamPiece    `json:"stderr,omitempty"`
}

// streamPiece is the newest part of a stream.
type streamPiece struct {
	// Text is valid UTF-8: what is none in the stream is U+FFFD here.
	Text string `json:"text"`
	// From and Next are the offsets of its first byte, and of the byte after its
	// last. Skipped counts the bytes between what was asked for and From.
	From    int64 `json:"from"`
	Next    int64 `json:"next"`
	Size    int64 `json:"size"`
	Skipped int64 `json:"skipped,omitempty"`
	// Gone counts those of the skipped bytes that are kept no more.
	Gone int64 `json:"gone,omitempty"`
}

// outputDocument prints the newest of a job's output as one document.
func (a *app) outputDocument(home state.Home, id string, from int64, wanted []subprocess.Stream) error {
	info, err := a.readJob(home, id) // before the output: of a settled job that is all
	if err != nil {
		return err
	}
	document := outputDocumentJSON{Job: info}
	for _, stream := range wanted {
		piece, err := a.newest(home, info, stream, from)
		if err != nil {
			return err
		}
		if piece.Skipped > 0 {
			a.tell("%d bytes of %s from %d on are not in the document, which has at most the newest %d: leave --json out for all that is kept", piece.Skipped, stream, from, documentBytes)
		}
		if stream == subprocess.Stdout {
			document.Stdout = piece
		} else {
			document.Stderr = piece
		}
	}
	return a.printJSON(document)
}

func (a *app) newest(home state.Home, info compose.JobInfo, stream subprocess.Stream, from int64) (*streamPiece, error) {
	log, err := compose.OpenLog(home, a.session, info.ID, stream)
	if log == nil {
		return &streamPiece{From: from, Next: from}, a.explainJob(err, info.ID)
	}
	defer log.Close()
	read, err := log.Tail(from, documentBytes)
	if err != nil {
		return nil, err
	}
	data, piece := read.Data, &streamPiece{From: read.Offset, Next: read.Next, Size: read.Size, Skipped: read.Skipped, Gone: read.Gone}
	if piece.Skipped > 0 {
		whole := textutil.TrimLeadingContinuation(data)
		cut := int64(len(data) - len(whole))
		data, piece.From, piece.Skipped = whole, piece.From+cut, piece.Skipped+cut
	}
	if !info.Status.Terminal() {
		held := textutil.IncompleteSuffix(data)
		data, piece.Next = data[:len(data)-held], piece.Next-int64(held)
	}
	piece.Text = textutil.Decode(data)
	return piece, nil
}

// outputReader reads one stream of a job piece by piece.
type outputReader struct {
	stream subprocess.Stream
	open   func() (*record.Reader, error)
	log    *record.Reader // nil while there is none
	next   int64
}

// chunk is how much is read at once.
const chunk = 256 << 10

// read brings what there is at the reader's place, up to an offset, and moves
// that. The data is empty when there is nothing now.
func (r *outputReader) read(to int64) (record.Piece, error) {
	if r.log == nil {
		log, err := r.open()
		if log == nil || err != nil {
			return record.Piece{}, err
		}
		r.log = log
	}
	if r.next >= to {
		return record.Piece{}, nil
	}
	piece, err := r.log.ReadAt(r.next, int(min(chunk, to-r.next)))
	if err == nil {
		r.next = piece.Next
	}
	return piece, err
}

func (r *outputReader) close() {
	if r.log != nil {
		r.log.Close()
	}
}

// size is how long the stream is now.
func (r *outputReader) size() (int64, error) {
	if r.log == nil {
		log, err := r.open()
		if log == nil || err != nil {
			return 0, err
		}
		r.log = log
	}
	return r.log.Size(), nil
}

// copyOutput prints the output as it was written.
func (a *app) copyOutput(ctx context.Context, home state.Home, id string, f outputFlags, wanted []subprocess.Stream) error {
	signals := watchSignals(ctx)
	defer signals.stop()
	<-signals.ready
	info, err := a.readJob(home, id)
	if err != nil {
		return err
	}
	p := &printer{app: a, single: len(wanted) == 1}
	for _, stream := range wanted {
		reader := &outputReader{stream: stream, next: f.from, open: func() (*record.Reader, error) {
			log, err := compose.OpenLog(home, a.session, id, stream)
			return log, a.explainJob(err, id)
		}}
		defer reader.close()
		p.readers = append(p.readers, reader)
	}
	if f.follow {
		return a.follow(signals, home, info, p)
	}
	for _, reader := range p.readers {
		// As long as it is now: a job may write for ever.
		size, err := reader.size()
		for more := err == nil; more && err == nil && signals.ctx.Err() == nil; {
			more, err = p.step(reader, size)
		}
		if err != nil {
			return err
		}
	}
	return signals.explain(nil)
}

// gap tells of bytes that are kept no more.
func (a *app) gap(stream subprocess.Stream, n, from int64) {
	a.tell("%s", fmt.Sprintf("%d bytes of %s from %d are gone", n, stream, from))
}
