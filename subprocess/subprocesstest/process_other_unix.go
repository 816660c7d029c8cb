//go:build unix && !linux

package subprocesstest

func blockedSignals(f *fixture) { f.Skip("skipped: the signal mask is looked at on Linux only") }
