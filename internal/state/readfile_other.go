//go:build !unix

package state

import "os"

const (
	plainFlags = os.O_RDONLY
	listFlags  = os.O_RDONLY
)
