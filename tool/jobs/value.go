package jobs

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/shell"
)

// Job is what a value says about a job. Times are milliseconds since the epoch.
type Job struct {
	ID         string      `json:"id"`
	Kind       string      `json:"kind"`
	Label      string      `json:"label"`
	Status     jobs.Status `json:"status"`
	Detail     string      `json:"detail,omitempty"`
	StartedAt  int64       `json:"startedAt"`
	FinishedAt int64       `json:"finishedAt,omitempty"`
	Usage      *Usage      `json:"usage,omitempty"`
}

// Usage is what a job has used: processor time in milliseconds, and the peak
// resident memory of its largest process.
type Usage struct {
	UserMs      float64 `json:"userMs"`
	SystemMs    float64 `json:"systemMs"`
	MaxRSSBytes int64   `json:"maxRssBytes"`
}

func jobOf(job jobs.Job) Job {
	value := Job{
		ID: job.ID, Kind: job.Kind, Label: job.Label, Status: job.Status, Detail: job.Detail,
		StartedAt: job.StartedAt, FinishedAt: job.FinishedAt,
	}
	if u := job.Usage; u != nil {
		value.Usage = &Usage{shell.Milliseconds(u.User), shell.Milliseconds(u.System), u.MaxRSS}
	}
	return value
}

// statusLine is the line that ends a job's text. It is one line whatever the
// detail, the text of an error for instance, is.
func (j Job) statusLine() string {
	return jobs.Job{Status: j.Status, Detail: oneLine(j.Detail)}.StatusLine()
}

// oneLine is text that stays within a line: a label may be a script of many
// lines, and what it says must not look like another entry of a list. Each run
// of line breaks and control characters is a space.
func oneLine(text string) string {
	breaks := func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, string(utf8.RuneError)), breaks), " ")
}

// onOwnLine ends a text so that what follows begins a line.
func onOwnLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// checkID refuses an empty id. Any other is for the registry to judge.
func checkID(id string) error {
	if id == "" {
		return refused("invalid job_id: expected a non-empty string, got \"\"")
	}
	return nil
}

// refused is an argument that is well formed and cannot be honoured.
func refused(format string, args ...any) error {
	return fault.New(fault.InvalidArgs, format, args...)
}

// number is a number as JSON spells it.
func number(n float64) string {
	text, err := json.Marshal(n)
	if err != nil { // no JSON number
		return fmt.Sprint(n)
	}
	return string(text)
}
