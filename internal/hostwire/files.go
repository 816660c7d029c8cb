package hostwire

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// Files are the names of one session's host in the run directory of a home.
type Files struct {
	// Dir is the run directory, the others lie in it.
	Dir string
	// Socket is where the host listens, Key what who connects must know.
	Socket, Key string
	// Lock is held by the host while it lives.
	Lock string
	// Start is held by the client that starts the host.
	Start string
	// Events is the lock on the session's log, Jobs the directory of what is known
	// of its jobs beside their records.
	Events, Jobs string
	// Log is where the host complains; it is made when there is something to say.
	Log string
}

// Starting is the lock that is held by who starts the command of a record, until
// that has come to something. It lies where no command can take it.
func (f Files) Starting(record string) string {
	return filepath.Join(f.Jobs, filepath.Base(record)+".start")
}

// FilesOf returns the names for a session. They are short, because the path of
// a socket may have 107 bytes (unix(7)).
func FilesOf(run, session string) Files {
	sum := sha256.Sum256([]byte(session))
	base := filepath.Join(run, hex.EncodeToString(sum[:8]))
	return Files{
		Dir: run, Socket: base + ".sock", Key: base + ".key", Lock: base + ".lock", Start: base + ".start", Log: base + ".log",
		Events: base + ".events", Jobs: base + ".jobs",
	}
}
