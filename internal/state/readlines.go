package state

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
)

// Line is one line of a log.
type Line struct {
	// Number counts from 1. Offset is where the line begins, in bytes.
	Number int
	Offset int64
	// JSON is the object without its newline, nil when the line is broken. The
	// receiver owns it.
	JSON json.RawMessage
	// Broken says what is wrong with the line; "" when nothing is.
	Broken Breakage
}

// Breakage is a kind of damage.
type Breakage string

const (
	// Torn is a last line of which the end is missing: its writer crashed, or
	// is writing it now.
	Torn Breakage = "torn"
	// Corrupt is a line that is no JSON object.
	Corrupt Breakage = "corrupt"
	// TooLong is a line of more than 16 MiB, which AppendLine does not write.
	TooLong Breakage = "too long"
)

// ReadLines yields the lines of the log at path in order. Broken lines are
// yielded as such and do not end it; empty lines are not yielded. A failure to
// open or read the file is yielded once, as the last, with a zero Line; so is
// INVARIANT for what is no plain file, which no link leads to either.
//
// Writers are not held up: lines that are appended meanwhile may appear.
func ReadLines(path string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		log, err := openPlain(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer log.Close()
		r := bufio.NewReaderSize(log, 64<<10)
		for line := (Line{Number: 1}); ; line.Number++ {
			text, size, err := readLine(r)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Line{}, err)
				return
			}
			if size > 0 {
				line.JSON, line.Broken = judge(text, size, err == nil)
				if len(text) > 0 && !yield(line, nil) {
					return
				}
			}
			if err != nil {
				return
			}
			line.Offset += size
		}
	}
}

// readLine returns the next line without its newline and its size with it. Of
// a line that is too long text is only the beginning. The error is io.EOF when
// the newline is missing.
func readLine(r *bufio.Reader) (text []byte, size int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		if room := maxLine + 1 - len(text); room > 0 {
			text = append(text, part[:min(room, len(part))]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(text, []byte{'\n'}), size, err
		}
	}
}

// judge decides what a line is. A whole object of which only the newline is
// missing is good: the next append adds the newline.
func judge(text []byte, size int64, terminated bool) (json.RawMessage, Breakage) {
	switch {
	case size-1 > maxLine:
		return nil, TooLong
	case len(text) > 0 && text[0] == '{' && json.Valid(text):
		return text, ""
	case terminated:
		return nil, Corrupt
	default:
		return nil, Torn
	}
}
