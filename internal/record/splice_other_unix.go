//go:build unix && !linux

package record

import "golang.org/x/sys/unix"

// splice refuses: bytes are copied here.
func splice(int, int, int64, int64) (int64, error) { return 0, unix.EINVAL }

func spliceAway(int) (int64, error) { return 0, unix.EINVAL }

// punch refuses: a log is frozen at its cap here.
func punch(int, int64, int64) error { return unix.EOPNOTSUPP }
