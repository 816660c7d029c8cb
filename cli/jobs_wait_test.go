package cli

import (
	"testing"

	"hardshell/compose"
	"hardshell/jobs"
)

func TestWhoeverWaitsGetsTheStatusOfTheJob(t *testing.T) {
	t.Parallel()
	code := func(n int) *int { return &n }
	for _, c := range []struct {
		name     string
		status   jobs.Status
		exitCode *int
		signal   string
		want     int
	}{
		{"one that succeeded", jobs.Completed, code(0), "", 0},
		{"one with an exit code", jobs.Completed, code(3), "", 3},
		{"one of which the record has no exit code", jobs.Completed, nil, "", 0},
		{"one that was killed", jobs.Killed, nil, "SIGKILL", 137},
		{"one that a signal of its own ended", jobs.Killed, nil, "SIGSEGV", 139},
		{"one that was killed and ended itself", jobs.Killed, code(0), "", 143},
		{"one that was killed and ended itself with an exit code", jobs.Killed, code(9), "", 143},
		{"one that was killed, nobody knows how", jobs.Killed, nil, "", 143},
		{"one that never ran", jobs.Failed, nil, "", 125},
		{"one of which something is known, and that failed", jobs.Failed, code(0), "", 125},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := compose.JobInfo{Job: jobs.Job{Status: c.status}, ExitCode: c.exitCode, Signal: c.signal}
			if got := waitStatus(info); got != c.want {
				t.Errorf("the status is %d, want %d", got, c.want)
			}
		})
	}
}

func TestAnEndThatCouldNotBeWrittenDownIsReadInItsWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		detail string
		status jobs.Status
		want   int
	}{
		{"exit code: 7", jobs.Completed, 7},
		{"exit code: 0", jobs.Completed, 0},
		{"signal: SIGKILL", jobs.Killed, 137},
		{"signal: SIGKILL; still running: pid 5, 6", jobs.Killed, 137},
		{"timed out", jobs.Killed, 143},
		{"the session host died", jobs.Failed, 125},
	} {
		t.Run(c.detail, func(t *testing.T) {
			info := compose.JobInfo{Job: jobs.Job{Status: c.status, Detail: c.detail}}
			info.ExitCode, info.Signal = endOf(c.detail)
			if got := waitStatus(info); got != c.want {
				t.Errorf("the status is %d, want %d", got, c.want)
			}
		})
	}
}
