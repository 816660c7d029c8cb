//go:build !unix

package record

import (
	"time"

	"hardshell/internal/fault"
)

// errPlatform is every function's answer.
var errPlatform = fault.New(fault.InvalidArgument, "commands cannot be recorded on this platform: run them without a session")

// Dir does not exist here: Open refuses.
type Dir struct{}

// Open refuses: this platform has no descriptors of directories.
func Open(string) (*Dir, error) { return nil, errPlatform }

// The methods of Dir are never called: there is none.

// Path returns "".
func (*Dir) Path() string { return "" }

// Close does nothing.
func (*Dir) Close() error { return nil }

// WriteAsk refuses.
func (*Dir) WriteAsk(*Ask) error { return errPlatform }

// ReadAsk refuses.
func (*Dir) ReadAsk() (*Ask, error) { return nil, errPlatform }

// WriteProcess refuses.
func (*Dir) WriteProcess(*Process) error { return errPlatform }

// ReadProcess refuses.
func (*Dir) ReadProcess() (*Process, error) { return nil, errPlatform }

// WriteStatus refuses.
func (*Dir) WriteStatus(*Status) (won bool, err error) { return false, errPlatform }

// ReadStatus refuses.
func (*Dir) ReadStatus() (status *Status, ok bool, err error) { return nil, false, errPlatform }

// MarkStopping refuses.
func (*Dir) MarkStopping(string) error { return errPlatform }

// Stopping knows of nobody who asked for the end.
func (*Dir) Stopping() (reason string, ok bool) { return "", false }

// Remove refuses.
func (*Dir) Remove() error { return errPlatform }

// Logs do not exist here.
type Logs struct{}

// CreateLogs refuses.
func (*Dir) CreateLogs(*Ask) (*Logs, error) { return nil, errPlatform }

// Stream returns nil.
func (*Logs) Stream(int) *Writer { return nil }

// Close does nothing.
func (*Logs) Close() {}

// Writer does not exist here.
type Writer struct{}

// Splice refuses.
func (*Writer) Splice(int) (int64, error) { return 0, errPlatform }

// Write refuses.
func (*Writer) Write([]byte) (int, error) { return 0, errPlatform }

// Total returns 0.
func (*Writer) Total() int64 { return 0 }

// LastWrite returns the zero time.
func (*Writer) LastWrite() time.Time { return time.Time{} }

// Status returns nothing.
func (*Writer) Status() StreamStatus { return StreamStatus{} }

// Close does nothing.
func (*Writer) Close() {}

// Reader does not exist here.
type Reader struct{}

// OpenLog refuses.
func (*Dir) OpenLog(*Ask, int) (*Reader, error) { return nil, errPlatform }

// Size returns 0.
func (*Reader) Size() int64 { return 0 }

// Gap knows of none.
func (*Reader) Gap() (gap Gap, ok bool) { return Gap{}, false }

// Status refuses.
func (*Reader) Status() (StreamStatus, error) { return StreamStatus{}, errPlatform }

// ReadAt refuses.
func (*Reader) ReadAt(int64, int) (Piece, error) { return Piece{}, errPlatform }

// Tail refuses.
func (*Reader) Tail(int64, int) (Piece, error) { return Piece{}, errPlatform }

// Close does nothing.
func (*Reader) Close() error { return nil }
