//go:build !unix

package native

import "os"

// Nothing is confined here.
const noFollow = 0

func lockShared(*os.File) bool    { return false }
func lockExclusive(*os.File) bool { return false }
