package jobstest

import (
	"errors"
	"testing"

	"hardshell/internal/fault"
	"hardshell/jobs"
)

// wantError checks an error's code and text.
func wantError(t *testing.T, err error, code fault.Code, text string) {
	t.Helper()
	if err == nil || !errors.Is(err, code) || err.Error() != text {
		t.Errorf("the error is %v (%s), want %s: %s", err, fault.CodeOf(err), code, text)
	}
}

func wantStatus(t *testing.T, job jobs.Job, status jobs.Status, reported bool) {
	t.Helper()
	if job.Status != status || job.Reported != reported {
		t.Errorf("job %s is %s, reported %v; want %s, reported %v", job.ID, job.Status, job.Reported, status, reported)
	}
	if (job.FinishedAt != 0) != job.Status.Terminal() {
		t.Errorf("job %s is %s and finished at %d", job.ID, job.Status, job.FinishedAt)
	}
}

// wantRead checks one consuming read.
func (f *fixture) wantRead(id, text string) jobs.Job {
	f.t.Helper()
	got, job, err := f.Registry.Read(id, f.Owner)
	if err != nil || got != text {
		f.t.Errorf("read %q of %s (%v), want %q", got, id, err, text)
	}
	return job
}

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

const limitText = "background job limit reached for this owner (limit: 1); use job_kill to stop an unneeded job, wait for it to finish, then retry"
