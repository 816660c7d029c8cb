//go:build unix

package host

import (
	"log/slog"

	"hardshell/internal/state"
	"hardshell/sandbox"
	"hardshell/sandbox/native"
)

// newNative returns the sandbox of Main. It makes nothing yet.
func newNative(home state.Home, log *slog.Logger) (sandbox.Provider, error) {
	return native.New(native.Config{Home: home.Root(), Log: log})
}
