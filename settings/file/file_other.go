//go:build !unix

package file

import (
	"io/fs"
	"os"
)

const openFlags = 0

// owner is not known here.
type owner struct{}

func ownerOf(fs.FileInfo) owner { return owner{} }

func (owner) check(string) error { return nil }

func (owner) give(*os.File) error { return nil }

// syncDir does nothing: directories cannot be synced here.
func syncDir(*os.File) error { return nil }

func (owner) trusted(string) error { return nil }
