package cli

import (
	"strings"
	"testing"
	"time"

	"hardshell/compose"
	"hardshell/internal/record"
	"hardshell/jobs"
)

func TestTheTableOfJobs(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000_000)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	list := []compose.JobInfo{
		{Session: "s", Stdout: record.StreamStatus{Bytes: 12}, Job: jobs.Job{ID: "bash-1", Status: jobs.Completed, Detail: "exit code: 0",
			StartedAt: ago(3 * time.Hour), FinishedAt: ago(2 * time.Hour), Label: "make all"}},
		{Session: "s", Stdout: record.StreamStatus{Bytes: 3 << 20}, Stderr: record.StreamStatus{Bytes: 1 << 20}, Job: jobs.Job{ID: "bash-2", Status: jobs.Running,
			StartedAt: ago(61 * time.Second), Label: "for i in 1 2 3; do\n  echo \"$i\" \x1b[31mred\x1b[0m\ndone; " + strings.Repeat("long ", 20)}},
		{Session: "other-session", Lost: true, Job: jobs.Job{ID: "bash-10", Status: jobs.Failed, Detail: "the session host died", StartedAt: ago(time.Minute), Label: "ünïcode"}},
		{Session: "s", Job: jobs.Job{ID: "bash-3", Status: jobs.Failed, Detail: "spawn failed: cannot run the program because of a reason that is very long",
			StartedAt: ago(50 * time.Hour), FinishedAt: ago(0), Label: "x"}},
	}
	for name, c := range map[string]struct {
		out      screen
		sessions bool
		want     string
	}{
		"in a file everything stands in full": {screen{}, false, "" +
			"ID       STATUS                                                                              TIME   OUTPUT   LABEL\n" +
			"bash-1   completed, exit code: 0                                                             1h00m  12 B     make all\n" +
			"bash-2   running                                                                             1m01s  4.0 MiB  for i in 1 2 3; do echo \"$i\" �[31mred�[0m done; " + strings.TrimSpace(strings.Repeat("long ", 20)) + "\n" +
			"bash-10  failed, the session host died                                                       -      0 B      ünïcode\n" +
			"bash-3   failed, spawn failed: cannot run the program because of a reason that is very long  2d02h  0 B      x\n"},
		"a terminal has a width": {screen{width: 90}, true, "" +
			"SESSION        ID       STATUS                          TIME   OUTPUT   LABEL\n" +
			"s              bash-1   completed, exit code: 0         1h00m  12 B     make all\n" +
			"s              bash-2   running                         1m01s  4.0 MiB  for i in 1 2 3; d…\n" +
			"other-session  bash-10  failed, the session host died   -      0 B      ünïcode\n" +
			"s              bash-3   failed, spawn failed: cannot …  2d02h  0 B      x\n"},
		"and colours": {screen{width: 60, colours: true}, false, "" +
			"\x1b[2mID\x1b[0m       \x1b[2mSTATUS\x1b[0m                   \x1b[2mTIME\x1b[0m   \x1b[2mOUTPUT\x1b[0m   \x1b[2mLABEL\x1b[0m\n" +
			"bash-1   completed, exit code: 0  1h00m  12 B     make all\n" +
			"bash-2   \x1b[32mrunning\x1b[0m                  1m01s  4.0 MiB  for i in …\n" +
			"bash-10  \x1b[31mfailed, the session ho…\x1b[0m  -      0 B      ünïcode\n" +
			"bash-3   \x1b[31mfailed, spawn failed: …\x1b[0m  2d02h  0 B      x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			c.out.w = &b
			if err := jobsTable(list, c.sessions, c.out, now).print(c.out); err != nil || b.String() != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, b.String(), c.want)
			}
		})
	}
}

func TestTheTableOfSessions(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000_000)
	list := []compose.SessionInfo{{ID: "a", LastActivity: now.Add(-90 * time.Minute).UnixMilli()}, {ID: "long-name", Live: true}, {ID: "z"}}
	list[0].Jobs.Total = 12
	list[1].Jobs.Running, list[1].Jobs.Total = 2, 3
	const want = "" +
		"SESSION    STATE  JOBS            LAST ACTIVITY\n" +
		"a          idle   12              1h30m ago\n" +
		"long-name  live   2 of 3 running  now\n" +
		"z          idle   0               -\n"
	var b strings.Builder
	if err := sessionsTable(list, now).print(screen{w: &b}); err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestSizesAndTimesAreShort(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1 << 10: "1.0 KiB", 20480: "20 KiB", 999 << 10: "999 KiB", 1000 << 10: "1.0 MiB", 64 << 20: "64 MiB", 5 << 40: "5.0 TiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := sizeText(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 999 * time.Millisecond: "0s", 59 * time.Second: "59s", time.Minute: "1m00s", 3599 * time.Second: "59m59s",
		time.Hour: "1h00m", 24 * time.Hour: "1d00h",
	} {
		if got := spanText(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestAListThatIsTooLongLeavesOutTheOldest(t *testing.T) {
	t.Parallel()
	lines := []string{"ID", "1", "2", "3", "4"}
	for room, want := range map[int]string{10: "ID 1 2 3 4", 5: "ID 1 2 3 4", 4: "ID … 2 more 3 4", 3: "ID … 3 more 4", 2: "ID 1 2 3 4"} {
		if got := strings.Join(fit(lines, room), " "); got != want {
			t.Errorf("in %d lines: %q, want %q", room, got, want)
		}
	}
}
