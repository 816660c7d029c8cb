//go:build !linux

package native

import "runtime"

// tryCommand has nothing to try.
func tryCommand(confinement) error { return nil }

// hostFacts has little to say: only Linux is supported.
func hostFacts() facts { return facts{arch: runtime.GOARCH, unsupported: runtime.GOOS} }

// landlockCause is never asked.
func landlockCause(error) landlockState { return landlockMissing }
