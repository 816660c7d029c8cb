package record

import (
	"os"
	"path/filepath"
)

// Asked reports whether a directory holds a record, without opening it.
func Asked(path string) bool { return has(path, askFile) }

// Settled reports whether how the command of a record ended is written down.
func Settled(path string) bool { return has(path, statusFile) }

// has does not count an empty file, which a power cut may leave.
func has(path, name string) bool {
	info, err := os.Lstat(filepath.Join(path, name))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}
