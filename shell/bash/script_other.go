//go:build !linux

package bash

import "os"

// scriptFile returns an unlinked temporary file that holds the script, to be
// read from its start.
func scriptFile(script string) (*os.File, error) {
	file, err := os.CreateTemp("", "dsh-script-")
	if err != nil {
		return nil, err
	}
	os.Remove(file.Name())
	if _, err := file.WriteString(script); err != nil {
		file.Close()
		return nil, err
	}
	if _, err := file.Seek(0, 0); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
