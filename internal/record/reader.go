//go:build unix

package record

import (
	"errors"
	"io"
	"os"
	"runtime"

	"hardshell/internal/fault"
)

// Reader reads one log, while it is written and after. It consumes nothing and
// is safe for concurrent use.
type Reader struct {
	log, index *os.File
	stream     int
}

// OpenLog opens the log of a stream, Stdout or Stderr, that ask names;
// fs.ErrNotExist before it is created and after it was removed. The caller
// closes the reader, which a removal of the files does not disturb.
func (d *Dir) OpenLog(ask *Ask, stream int) (*Reader, error) {
	name, err := ask.logName(stream)
	if err != nil {
		return nil, err
	}
	indexName, err := ask.indexName()
	if err != nil {
		return nil, err
	}
	log, err := d.openRegular(name)
	if err != nil {
		return nil, err
	}
	index, err := d.openRegular(indexName)
	if err != nil {
		log.Close()
		return nil, err
	}
	return &Reader{log: log, index: index, stream: stream}, nil
}

// Close closes the files.
func (r *Reader) Close() error { return errors.Join(r.log.Close(), r.index.Close()) }

// Size returns the length of the stream so far, lost bytes included; 0 when it
// cannot be read.
func (r *Reader) Size() int64 {
	_, e, err := r.load()
	if err != nil {
		return 0
	}
	return e.size
}

// Gap returns the part of the stream that is lost so far; ok is false when
// everything is in the log, as far as it can be read.
func (r *Reader) Gap() (gap Gap, ok bool) {
	_, e, err := r.load()
	if err != nil {
		return Gap{}, false
	}
	return e.gap()
}

// Status returns what came so far and what of it is kept.
func (r *Reader) Status() (StreamStatus, error) {
	s, e, err := r.load()
	if err != nil {
		return StreamStatus{}, err
	}
	return streamStatus(s, e), nil
}

// ReadAt reads at most limit bytes from an offset on. A read that begins in a
// gap goes on after it, and one that reaches a gap ends there. Like pread(2) it
// brings nothing at the end or beyond; Offset and Next are then the asked
// offset. A live log that loses bytes faster than they can be read brings
// nothing too, with a Next that has moved.
//
// INVALID_ARGUMENT for a negative offset or limit.
func (r *Reader) ReadAt(offset int64, limit int) (Piece, error) {
	if err := checkRead(offset, limit); err != nil {
		return Piece{}, err
	}
	_, e, err := r.load()
	if err != nil {
		return Piece{}, err
	}
	for range chases {
		from, to := e.run(offset)
		data, now, err := r.read(from, min(to-from, int64(limit)))
		if err != nil {
			return Piece{}, err
		}
		kept, start := now.trim(data, from)
		if len(kept) == 0 && len(data) > 0 {
			e = now // all of it was given up meanwhile
			continue
		}
		return Piece{
			Data: kept, Offset: start, Skipped: start - offset, Gone: start - offset,
			Next: start + int64(len(kept)), Size: e.size,
		}, nil
	}
	from, _ := e.run(offset)
	return Piece{Offset: from, Skipped: from - offset, Gone: from - offset, Next: from, Size: e.size}, nil
}

// Tail reads the newest bytes at or after from, at most limit and without a gap
// between them. Next is the end of the stream, and Skipped what was passed over
// to get there. At the end of the stream and beyond it brings nothing.
//
// INVALID_ARGUMENT for a negative offset or limit.
func (r *Reader) Tail(from int64, limit int) (Piece, error) {
	if err := checkRead(from, limit); err != nil {
		return Piece{}, err
	}
	_, e, err := r.load()
	if err != nil {
		return Piece{}, err
	}
	if from >= e.size {
		return Piece{Offset: from, Next: from, Size: e.size}, nil
	}
	start, end := e.newest(from, int64(limit))
	data, now, err := r.read(start, end-start)
	if err != nil {
		return Piece{}, err
	}
	data, start = now.trim(data, start)
	if len(data) == 0 {
		start = e.size
	}
	now = now.until(e.size)
	return Piece{
		Data: data, Offset: start, Skipped: e.size - from - int64(len(data)), Gone: now.lost(from),
		Next: e.size, Size: e.size,
	}, nil
}

// chases is how often a read follows a log that loses what is being read.
const chases = 8

func checkRead(offset int64, limit int) error {
	if offset < 0 {
		return fault.New(fault.InvalidArgument, "a log has no offset %d: the first byte is at 0", offset)
	}
	if limit < 0 {
		return fault.New(fault.InvalidArgument, "%d bytes cannot be read: give 0 or more", limit)
	}
	return nil
}

// read reads n bytes that were kept, and then what is kept now: the hole is
// punched after the index says so, and so a zero of a hole is never taken for
// a byte of the stream.
func (r *Reader) read(from, n int64) ([]byte, extent, error) {
	data := make([]byte, n)
	got, err := r.log.ReadAt(data, from)
	if err != nil && err != io.EOF { // an end before the end: somebody cut the file
		return nil, extent{}, err
	}
	_, now, err := r.load()
	return data[:got], now, err
}

// load returns what the index says, applied to the log.
func (r *Reader) load() (slot, extent, error) {
	s, err := r.loadSlot()
	if err != nil {
		return slot{}, extent{}, err
	}
	info, err := r.log.Stat()
	if err != nil {
		return slot{}, extent{}, err
	}
	e := s.extent(info.Size())
	if !e.valid() {
		return slot{}, extent{}, damaged(r.index.Name(), "it does not fit the log")
	}
	return s, e, nil
}

func (r *Reader) loadSlot() (slot, error) {
	for range 1000 {
		var data [slotSize]byte
		n, err := r.index.ReadAt(data[:], int64(r.stream)*slotSize)
		if err != nil && err != io.EOF {
			return slot{}, err
		}
		if n < slotSize { // the disk had no room even for the index: there is no gap
			return slot{}, nil
		}
		if s, ok := decodeSlot(data); ok {
			return s, nil
		}
		runtime.Gosched() // it is being written
	}
	return slot{}, damaged(r.index.Name(), "its sums are wrong")
}
