package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"hardshell/internal/fault"
)

// maxLine bounds a line of a log, in bytes without its newline.
const maxLine = 16 << 20

// Durability says what is on the disk when AppendLine returns.
type Durability int

const (
	// Written survives the end of every process, but perhaps not a power cut.
	Written Durability = iota
	// Synced survives a power cut.
	Synced
)

// AppendLine appends v, which must encode as a JSON object, as one line to the
// log at path. The log is created with the mode 0600 when missing, in a
// directory that exists; a link is not followed. Its writers take turns by a lock
// that each holds for the call, so that lines never mix. The lock is not the log
// itself: whoever can read a file can lock it, a confined command too. What a
// crashed writer left of a line gets a line of its own. After an error the log is
// as before, as far as the file system lets that be done.
//
// INVARIANT when v is no object, cannot be encoded or is longer than 16 MiB.
func AppendLine(_ *HeldLock, path string, v any, d Durability) error {
	line, err := encodeLine(v)
	if err != nil {
		return fault.New(fault.Invariant, "a record of %s: %w", path, err)
	}
	if err := appendTo(path, line, d); err != nil {
		return fmt.Errorf("append to %s: %w", path, err)
	}
	return nil
}

// encodeLine returns v as one line with its newline. Only objects are lines:
// no beginning of one is a JSON document, so a torn line never reads as whole.
func encodeLine(v any) ([]byte, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false) // people read these files
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), checkLine(buf.Bytes())
}

func checkLine(line []byte) error {
	switch {
	case line[0] != '{':
		return errors.New("it is no JSON object")
	case bytes.IndexByte(line, '\n') != len(line)-1:
		return errors.New("it holds a newline")
	case len(line)-1 > maxLine:
		return fmt.Errorf("its %d bytes are more than the %d of the longest line", len(line)-1, maxLine)
	}
	return nil
}

// appendTo writes line to the end of the log.
func appendTo(path string, line []byte, d Durability) (err error) {
	log, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|appendFlags, privateFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	info, err := log.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return notPlain(path)
	}
	torn, err := endsInMidLine(log, info.Size())
	if err != nil {
		return err
	}
	if torn {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := log.Write(line); err != nil {
		return errors.Join(err, log.Truncate(info.Size()))
	}
	if d == Synced {
		return log.Sync()
	}
	return nil
}

func endsInMidLine(log io.ReaderAt, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	_, err := log.ReadAt(last[:], size-1)
	return err == nil && last[0] != '\n', err
}
