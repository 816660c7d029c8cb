//go:build !linux

package sandboxtest

import "testing"

func runSuite(t *testing.T, _ func(*testing.T, string) Fixture) {
	t.Skip("skipped: this suite attempts what the Linux kernel offers")
}

func attemptIfAsked() {}

func asNobody(t *testing.T) bool {
	t.Skip("skipped: this suite attempts what the Linux kernel offers")
	return true
}
