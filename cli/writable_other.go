//go:build !unix

package cli

import "io"

// waitWritable reports that it cannot wait.
func waitWritable(io.Writer) bool { return false }
