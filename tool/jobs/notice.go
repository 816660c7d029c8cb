package jobs

import (
	"unicode/utf8"

	"hardshell/jobs"
)

// Deliver lets jobs be started, as there is somebody to look after them, and
// queues a notice with the owner of each job that settles unreported, until
// remove is called. A job that nobody owns has no notice.
func (t *Tools) Deliver() (remove func()) {
	forget := t.registry.OnDone(func(job jobs.Job, owner *jobs.Owner) {
		if owner == nil || job.Reported {
			return
		}
		owner.Inject(noticeOf(job))
	})
	leave := t.registry.AddController("tool-jobs")
	return func() {
		leave()
		forget()
	}
}

// noticeOf tells of a job that has settled.
func noticeOf(job jobs.Job) jobs.Notice {
	value := jobOf(job)
	kind, label, status := oneLine(job.Kind), oneLine(job.Label), value.statusLine()
	return jobs.Notice{
		JobID: job.ID,
		Text: capNotice("background job "+job.ID,
			" ("+kind+": "+label+") finished "+status+". Read its output with job_output.", job.OutputLimitBytes),
		Summary: summary(kind, label, status),
	}
}

// summaryLength is how many characters a summary has at most.
const summaryLength = 120

// summary is one line for a person: of what is too long, the label gives way
// first.
func summary(kind, label, status string) string {
	room := summaryLength - utf8.RuneCountInString(kind+"  "+status)
	const least = 12 // characters of a label say something
	return shorten(kind+" "+shorten(label, max(room, least))+" "+status, summaryLength)
}

// shorten is a text of at most n characters.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
