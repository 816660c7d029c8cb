package jobs

import (
	"context"
	"fmt"
	"strings"

	"hardshell/tool"
)

// ListInput is the arguments of job_list: none.
type ListInput struct{}

// List is the value of job_list.
type List struct {
	Jobs []Job `json:"jobs"`
}

func (t *Tools) listTool() (*tool.Tool, error) {
	return tool.New(tool.Definition[ListInput, List]{
		Name:        ListName,
		Description: t.prose[ListName],
		Annotations: tool.Annotations{ReadOnly: true},
		Run: func(_ context.Context, call tool.Call, _ ListInput) (List, error) {
			value := List{Jobs: []Job{}}
			for _, job := range t.registry.List(t.owner(call.Session)) {
				value.Jobs = append(value.Jobs, jobOf(job))
			}
			return value, nil
		},
		Render: List.render,
		PresentCall: func(ListInput) tool.View {
			return tool.Generic{Title: "List background jobs", Kind: tool.KindRead}
		},
		ParallelSafe: func(ListInput) bool { return true },
	})
}

// render has one line for each job.
func (l List) render() string {
	if len(l.Jobs) == 0 {
		return "(no background jobs)"
	}
	lines := make([]string, len(l.Jobs))
	for i, job := range l.Jobs {
		lines[i] = fmt.Sprintf("%s [%s] %s — %s", oneLine(job.ID), oneLine(job.Kind), job.Status, oneLine(job.Label))
	}
	return strings.Join(lines, "\n")
}
