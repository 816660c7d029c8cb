package cli

import (
	"strconv"
	"time"

	"hardshell/shell"
)

// durationWords say in the help of a flag what readDuration reads.
const durationWords = "a duration with its unit such as 90s or 5m; a number without one is milliseconds (30 is 30ms); or none"

// readDuration reads a Go duration, or milliseconds without a unit.
func readDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if ms, msErr := strconv.ParseInt(text, 10, 64); msErr == nil && ms < int64(shell.NoTimeout/time.Millisecond) {
		d, err = time.Duration(ms)*time.Millisecond, nil
	}
	if err != nil || d <= 0 {
		return 0, usagef("--timeout %q is no positive duration: use 90s, 5m, bare milliseconds, or none", text)
	}
	return d, nil
}

// unitNote is said after a time has passed that may have been meant in another
// unit; "" for one that was not.
func unitNote(text string) string {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms >= 1000 {
		return ""
	}
	return " (a number without a unit is milliseconds: write " + text + "s for seconds)"
}
