//go:build unix && !linux

package subprocesstest

func mountTiny(f *fixture, _ string, _ int) {
	f.Helper()
	f.Skip("skipped: a small disk to fill is mounted on Linux only")
}
