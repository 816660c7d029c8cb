//go:build unix

package compose

import (
	"time"

	"hardshell/internal/proctree"
)

func endMarked(tags []uint64, grace time.Duration) []int { return proctree.EndMarked(tags, grace) }
