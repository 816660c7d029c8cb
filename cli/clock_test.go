package cli

import (
	"testing"
	"time"

	"hardshell/jobs"
)

func TestATableReadsWellAfterTheClockWasSet(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000)
	for name, job := range map[string]jobs.Job{
		"a job of the future":                {Status: jobs.Running, StartedAt: now.UnixMilli() + 3_600_000},
		"a job that ended before it started": {Status: jobs.Completed, StartedAt: now.UnixMilli(), FinishedAt: now.UnixMilli() - 5000},
	} {
		if got, want := timeText(job, now), spanText(0); got != want {
			t.Errorf("%s has run %q, want %q", name, got, want)
		}
	}
}
