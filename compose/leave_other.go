//go:build !unix

package compose

import (
	"context"

	"hardshell/internal/state"
)

// LeaveSession knows of no host on this platform.
func LeaveSession(context.Context, state.Home, string) (pid int, err error) { return 0, nil }

// WakeHost knows of no host on this platform.
func WakeHost(context.Context, state.Home, string) bool { return false }
