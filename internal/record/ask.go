package record

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"hardshell/internal/fault"
)

// DefaultMaxBytes is what is kept of each stream when an Ask does not say.
const DefaultMaxBytes int64 = 64 << 20

// Ask is what was asked for: the content of job.json. Times are milliseconds
// since the epoch. Text that is not UTF-8 is stored with U+FFFD in its place.
type Ask struct {
	// Key names the record wherever a path would be too long: 32 hex digits.
	Key     string `json:"key"`
	Kind    string `json:"kind"`
	Label   string `json:"label"`
	Command string `json:"command,omitempty"`
	Workdir string `json:"workdir"`
	Created int64  `json:"created"`

	// Stdout, Stderr and Index are the names of the log files.
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Index  string `json:"index"`

	// MaxBytes of each stream are kept on disk; 0 means DefaultMaxBytes.
	MaxBytes int64 `json:"maxBytes"`
	// OutputLimit ends a command whose streams together are longer; bytes, 0
	// means never.
	OutputLimit int64 `json:"outputLimit,omitempty"`

	Interactive bool `json:"interactive"`
	Foreground  bool `json:"foreground"`

	// Grace lies between asking a command to end and killing it.
	Grace Millis `json:"graceMs"`
	// Runtime, Silence and Memory are the watchdogs' limits; 0 is off. Memory is
	// in bytes.
	Runtime Millis `json:"runtimeMs"`
	Silence Millis `json:"silenceMs"`
	Memory  int64  `json:"memoryBytes"`
}

// NewAsk returns an Ask with a key and file names of its own, created now.
func NewAsk() *Ask {
	return &Ask{
		Key:     randomHex(16),
		Created: time.Now().UnixMilli(),
		Stdout:  logPrefix + "stdout-" + randomHex(6),
		Stderr:  logPrefix + "stderr-" + randomHex(6),
		Index:   logPrefix + "index-" + randomHex(6),
	}
}

// Millis is a duration in milliseconds, as the documents hold it.
type Millis int64

// MillisOf rounds a duration up, so that a limit never turns into 0.
func MillisOf(d time.Duration) Millis {
	if d <= 0 {
		return Millis(d / time.Millisecond)
	}
	return Millis((d-1)/time.Millisecond) + 1
}

// Duration returns it as a time.Duration, the longest there is when it is
// longer.
func (m Millis) Duration() time.Duration {
	const most = Millis(1<<63-1) / Millis(time.Millisecond)
	return time.Duration(max(-most, min(m, most))) * time.Millisecond
}

// The streams of a command, as their logs are numbered.
const (
	Stdout = 0
	Stderr = 1
)

const logPrefix = "log-"

// logName returns the file name of stream i. The name comes from a document,
// so it is checked before it is used: no other file is ever read or written.
func (a *Ask) logName(i int) (string, error) {
	switch i {
	case Stdout:
		return a.Stdout, checkLogName(a.Stdout, "stdout")
	case Stderr:
		return a.Stderr, checkLogName(a.Stderr, "stderr")
	}
	return "", fault.New(fault.InvalidArgument, "there is no stream %d: it is 0 for stdout or 1 for stderr", i)
}

func (a *Ask) indexName() (string, error) { return a.Index, checkLogName(a.Index, "index") }

func checkLogName(name, kind string) error {
	prefix := logPrefix + kind + "-"
	if len(name) == len(prefix)+12 && name[:len(prefix)] == prefix && isLowerHex(name[len(prefix):]) {
		return nil
	}
	return fault.New(fault.Invariant, "%s names %.80q as its %s: it must be %s and 12 hex digits", askFile, name, kind, prefix)
}

func isLowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func randomHex(bytes int) string {
	random := make([]byte, bytes)
	rand.Read(random)
	return hex.EncodeToString(random)
}
