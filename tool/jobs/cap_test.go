package jobs

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"hardshell/jobs"
)

const status = "[status: completed, exit code: 0]"

// capped is every text that has a cap, of one text and one limit.
func capped(text string, limit int64) map[string]string {
	return map[string]string{
		"output": capOutput(text, status, limit),
		"body":   capBody(text, limit),
		"result": capResult(text, limit),
		"notice": noticeOf(jobs.Job{
			ID: "bash-1", Kind: "bash", Label: text, Status: jobs.Completed, Detail: "exit code: 0", OutputLimitBytes: limit,
		}).Text,
	}
}

func TestCapsOfEverySizeAndEveryWidth(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, limit := range []int64{1, 8, 20, 40, 64, 90, 1000} {
		for _, character := range []string{"x", "é", "😀"} {
			texts := capped(strings.Repeat(character, 400), limit)
			for _, kind := range []string{"output", "body", "result", "notice"} {
				text := texts[kind]
				keepsCap(t, text, limit)
				shown := strings.ReplaceAll(text, strings.Repeat(character, 8), character+"⁸")
				fmt.Fprintf(&got, "%4d %s %-6s %4d %q\n", limit, character, kind, len(text), shown)
			}
		}
	}
	const path = "testdata/caps.txt"
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s:\n got\n%s\nwant\n%s", path, got.String(), want)
	}
}

func TestACapKeepsWhatMattersMost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want string }{
		"no cap":                          {capOutput("x", status, 0), "x\n" + status},
		"a cap that is no burden":         {capOutput("x", status, int64(len("x\n"+status))), "x\n" + status},
		"one byte less":                   {capOutput("xy", status, int64(len("xy\n"+status)-1)), "]\n" + status},
		"the status alone":                {capOutput("xy", "[status: running]", 17), "[status: running]"},
		"a cut text is not marked twice":  {capOutput(strings.Repeat("x", 30)+"\n[output truncated]", "[status: running]", 40), "xxx\n[output truncated]\n[status: running]"},
		"nor is one with a newline after": {capOutput(strings.Repeat("x", 30)+"\n[output truncated]\n", "[status: running]", 40), "xxx\n[output truncated]\n[status: running]"},
		"a notice in eight bytes":         {capNotice("background job bash-1", " (…", 8), "_output."},
		"a notice that names its job":     {capNotice("background job bash-1", strings.Repeat("x", 99), 39), "background job bash-1\nDone; job_output."},
		"a notice that cuts its job":      {capNotice("background job bash-1", strings.Repeat("x", 99), 38), "background job bash-\nDone; job_output."},
		"a notice with a detail":          {capNotice("background job bash-1", " (bash: "+strings.Repeat("x", 99), 64), "background job bash-1 (bash\n[notice truncated]\nDone; job_output."},
		"a character that does not fit":   {capResult(strings.Repeat("😀", 20), 22), "\n[result truncated]"},
		"one that just does":              {capResult(strings.Repeat("😀", 20), 23), "😀\n[result truncated]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q\nwant %q", name, c.got, c.want)
		}
	}
}

func TestASummaryIsOneLineOfAtMost120Characters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 500)
	for name, c := range map[string]struct {
		job  jobs.Job
		want string
	}{
		"short": {
			jobs.Job{Kind: "bash", Label: "make\ntest", Status: jobs.Completed, Detail: "exit code: 0"},
			"bash make test [status: completed, exit code: 0]",
		},
		"a long label gives way": {
			jobs.Job{Kind: "bash", Label: long, Status: jobs.Completed, Detail: "exit code: 0"},
			"bash " + long[:2*80] + "… [status: completed, exit code: 0]",
		},
		"a long detail does not take all": {
			jobs.Job{Kind: "bash", Label: long, Status: jobs.Failed, Detail: long},
			"bash " + long[:2*11] + "… [status: failed, " + long[:2*84] + "…",
		},
	} {
		got := noticeOf(c.job).Summary
		if got != c.want || utf8.RuneCountInString(got) > 120 || strings.ContainsAny(got, "\r\n") {
			t.Errorf("%s: %d characters %q\nwant %q", name, utf8.RuneCountInString(got), got, c.want)
		}
	}
}

func keepsCap(t *testing.T, text string, limit int64) {
	t.Helper()
	if int64(len(text)) > limit {
		t.Errorf("%d bytes with a cap of %d: %q", len(text), limit, text)
	}
	if !utf8.ValidString(text) {
		t.Errorf("a character was cut: %q", text)
	}
}

func FuzzCapsHoldAndCutNoCharacter(f *testing.F) {
	f.Add("é\nx", int64(1))
	f.Add(strings.Repeat("😀", 30), int64(40))
	f.Add("x\n[output truncated]\n", int64(41))
	f.Fuzz(func(t *testing.T, text string, limit int64) {
		if limit <= 0 {
			t.Skip()
		}
		text = strings.ToValidUTF8(text, "?")
		for _, cut := range capped(text, limit) {
			keepsCap(t, cut, limit)
		}
		label := jobs.Job{ID: "bash-1", Kind: "bash", Label: text, Detail: text, Status: jobs.Failed}
		notice := noticeOf(label)
		list := List{Jobs: []Job{jobOf(label), jobOf(label)}}.render()
		if strings.ContainsAny(notice.Text+notice.Summary, "\r\n\u2028\u0085") || strings.Count(list, "\n") != 1 {
			t.Errorf("%q broke a line: %q, %q, %q", text, notice.Text, notice.Summary, list)
		}
		if utf8.RuneCountInString(notice.Summary) > 120 {
			t.Errorf("the summary %q is too long", notice.Summary)
		}
	})
}
