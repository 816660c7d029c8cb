//go:build unix && !linux

package subprocesstest

func pidReuse(f *fixture)       { f.Skip("skipped: process ids can be chosen on Linux only") }
func frozenSurvivor(f *fixture) { f.Skip("skipped: processes can be frozen on Linux only") }
