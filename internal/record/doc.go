// Package record holds the files of one recorded command: a directory with
// what was asked, how it ended, and its two outputs.
//
//	job.json            what was asked; written before the start, never changed (Ask)
//	process.json        the process, written right after the spawn (Process)
//	status.json         how it ended; written exactly once (Status)
//	stopping            somebody asked for the end; the content is the reason
//	log-stdout-<hex>    the outputs: the offset of a byte in the file is its
//	log-stderr-<hex>    offset in the stream, always
//	log-index-<hex>     which parts of the logs are kept
//
// The process that holds the command's pipes writes the logs, alone. Any number
// of processes read them, live or later, by offset and without consuming
// anything. Directories are 0700 and files 0600.
//
// A log is held to a cap by giving up its middle: head and tail stay, and a read
// across the gap says how many bytes are gone. Where the file system cannot
// punch holes, and when it cannot take more (full, over quota, broken), the log
// is frozen: what follows is counted and thrown away. The command never learns
// of either. The writing process should ignore SIGXFSZ, which a write beyond
// RLIMIT_FSIZE raises.
//
// Nothing is synced: a record holds against the death of every process, not
// against the loss of power. What a power cut leaves of a document is reported
// as damaged, and a damaged status is replaced by the next one that is written.
//
// Errors of the file system pass through errors.Is (fs.ErrNotExist for what is
// not there). INVALID_ARGUMENT is a wrong argument, INVARIANT a file that is
// damaged or that is not what its name says; both name the path.
package record
