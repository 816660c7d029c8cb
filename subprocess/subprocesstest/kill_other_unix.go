//go:build unix && !linux

package subprocesstest

func pidReuse(f *fixture)     { f.Skip("skipped: process ids can be chosen on Linux only") }
func frozenChild(f *fixture)  { f.Skip("skipped: processes can be frozen on Linux only") }
func frozenLeader(f *fixture) { f.Skip("skipped: processes can be frozen on Linux only") }
