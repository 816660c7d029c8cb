package record

// Piece is what one read of a log brings.
type Piece struct {
	// Data are bytes of the stream without a gap between them; the first has the
	// offset Offset. The caller owns them.
	Data   []byte
	Offset int64
	// Skipped counts the bytes from the asked offset up to Next that are not in
	// Data; Gone counts those of them that are lost for good.
	Skipped, Gone int64
	// Next is where the next read goes on. It is never less than the asked offset.
	Next int64
	// Size is the length of the stream so far, lost bytes included.
	Size int64
}
