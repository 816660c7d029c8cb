package jobs

import (
	"context"
	"encoding/json"

	"hardshell/tool"
)

// Bound has a pipeline hold the texts of job_output and job_kill to the limit of
// the job that they are about, also those of errors and refusals, and what other
// listeners make of them; until remove is called. It sees what listeners that
// are added after it say.
func (t *Tools) Bound(pipeline *tool.Pipeline) (remove func()) {
	return pipeline.OnPost(func(ctx context.Context, outcome tool.Outcome, next tool.Next[tool.Review]) (tool.Review, error) {
		review, err := next(ctx)
		if err != nil || outcome.Call.Tool != OutputName && outcome.Call.Tool != KillName {
			return review, err
		}
		limit := t.limit(outcome)
		switch {
		case limit == 0:
		case review.Block:
			review.Feedback = capResult(review.Feedback, max(1, limit-int64(len("Error: "))))
		case review.Value != nil:
			// It is rendered anew, within its limit.
		default:
			review.Content = bounded(outcome.Result, review.Content, limit)
		}
		return review, err
	})
}

// bounded is the content that stands for a result, within a limit; nil leaves
// it. Content of several blocks is not ours to cut.
func bounded(result tool.Result, content []tool.Content, limit int64) []tool.Content {
	if content != nil {
		result.Content = content
	}
	text, ok := result.SoleText()
	if !ok || fits(text, limit) {
		return content
	}
	return tool.Text(capResult(text, limit))
}

// limit is that of the job which a call is about, 0 when there is none.
func (t *Tools) limit(outcome tool.Outcome) int64 {
	switch value := outcome.Result.Structured.(type) {
	case Output:
		return value.limit
	case Kill:
		return value.limit
	}
	var in struct {
		JobID string `json:"job_id"`
	}
	if json.Unmarshal(outcome.Call.Args, &in) != nil {
		return 0
	}
	job, err := t.registry.Get(in.JobID, t.owner(outcome.Call.Session))
	if err != nil {
		return 0
	}
	return job.OutputLimitBytes
}
