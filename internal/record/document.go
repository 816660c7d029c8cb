package record

import (
	"bytes"
	"encoding/json"
	"path/filepath"

	"hardshell/internal/fault"
	"hardshell/internal/plainjson"
)

// The names of the documents.
const (
	askFile      = "job.json"
	processFile  = "process.json"
	statusFile   = "status.json"
	stoppingFile = "stopping"
)

// maxDocument is the size of the longest document that is read or written.
const maxDocument = 1 << 20

func encode(name string, v any) ([]byte, error) {
	data, err := plainjson.Marshal(v)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s cannot be encoded: %w", name, err)
	}
	data = append(data, '\n')
	if len(data) > maxDocument {
		return nil, fault.New(fault.InvalidArgument, "%s would have %d bytes: shorten its texts, at most %d are stored", name, len(data), maxDocument)
	}
	return data, nil
}

// decode reads a document. Fields of newer versions are ignored.
func decode[T any](path string, data []byte) (*T, error) {
	v := new(T)
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) { // null would pass
		return nil, damaged(path, "it is not a JSON object")
	}
	if err := json.Unmarshal(data, v); err != nil {
		return nil, damaged(path, "it is not the JSON that belongs there: %w", err)
	}
	return v, nil
}

func decodeStatus(path string, data []byte) (*Status, error) {
	status, err := decode[Status](path, data)
	if err == nil && status.Status == "" {
		return nil, damaged(path, "it names no status")
	}
	return status, err
}

// hollow reports whether a document was lost to a power cut: the file was
// there before its content.
func hollow(data []byte) bool { return len(bytes.Trim(data, "\x00")) == 0 }

func damaged(path, format string, args ...any) error {
	return fault.New(fault.Invariant, "%s cannot be used: "+format+"; remove the record %s if you do not need it",
		append(append([]any{path}, args...), filepath.Dir(path))...)
}
