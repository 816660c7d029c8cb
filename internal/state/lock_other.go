//go:build !unix

package state

import "os"

const lockFlags = os.O_CREATE | os.O_RDONLY

const probeFlags = os.O_RDONLY
