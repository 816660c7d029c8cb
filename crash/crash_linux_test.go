// Package crash kills processes of hardshell at random moments, again and again,
// and looks at what is lost. "make crash" runs it for long.
package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hardshell"
	"hardshell/host"
	"hardshell/internal/hostwire"
	"hardshell/internal/racecheck"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/session"
)

const (
	harnessArgument = "a-harness-to-kill"
	sessionID       = "crash"
	jobsPerRound    = 20
	hang            = 60 * time.Second
)

// TestMain makes this program the session host, or a harness, when it is started
// as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case hostwire.Argument:
			os.Exit(host.Main())
		case harnessArgument:
			runHarness(os.Args[2], os.Args[3], os.Args[4])
		}
	}
	os.Exit(racecheck.Main(m))
}

// rounds is how often something is killed.
func rounds(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("HARDSHELL_CRASH"))
	if err != nil {
		return 2
	}
	t.Logf("%d rounds", n)
	return n
}

// open opens a harness of the session.
func open(home, workspace string) (*hardshell.Harness, error) {
	return hardshell.Open(context.Background(), hardshell.Options{
		Home: home, Session: sessionID, Workspace: workspace, MaxJobs: 4 * jobsPerRound, SessionHost: []string{"/proc/self/exe", hostwire.Argument},
	})
}

// runHarness starts jobs as fast as it can, says which, and waits to be killed.
func runHarness(home, workspace, marker string) {
	h, err := open(home, workspace)
	if err != nil {
		fmt.Println("cannot open:", err)
		os.Exit(1)
	}
	for i := range jobsPerRound {
		args, _ := json.Marshal(map[string]any{
			"command":           fmt.Sprintf(`marker=%s; echo begin; sleep 0.%02d; echo end; exit %d`, marker, i, i),
			"description":       "one of many",
			"run_in_background": true,
		})
		result := h.Call(context.Background(), "bash", args)
		fmt.Println(result.Content[0].Text)
	}
	fmt.Println("all")
	select {}
}

// fixture is a home with a workspace.
type fixture struct {
	*testing.T
	home, workspace, marker string
}

func newFixture(t *testing.T) *fixture {
	dir := t.TempDir()
	f := &fixture{T: t, home: filepath.Join(dir, "home"), workspace: filepath.Join(dir, "work"),
		marker: fmt.Sprintf("crash-%d-%x", os.Getpid(), rand.Uint32())}
	if err := os.Mkdir(f.workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	return f
}

// harness starts a harness that starts jobs.
func (f *fixture) harness() (*exec.Cmd, *bufio.Scanner) {
	f.Helper()
	cmd := exec.Command("/proc/self/exe", harnessArgument, f.home, f.workspace, f.marker)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// started reads the ids of the jobs that a harness has told of, until it ends.
func (f *fixture) started(lines *bufio.Scanner) (ids []string) {
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "started background job "); ok {
			ids = append(ids, id)
		} else if lines.Text() != "all" {
			f.Errorf("the harness says %q", lines.Text())
		}
	}
	return ids
}

// settle opens another harness, waits until all jobs have settled, and returns
// them by id.
func (f *fixture) settle() map[string]jobs.Job {
	f.Helper()
	h, err := open(f.home, f.workspace)
	if err != nil {
		f.Fatal(err)
	}
	defer h.Close(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	settled := map[string]jobs.Job{}
	for _, job := range h.Jobs().List(h.Owner()) {
		job, err := h.Jobs().Wait(ctx, job.ID, hang, h.Owner())
		if err != nil || !job.Status.Terminal() {
			f.Fatalf("job %s is %s after %v: %v", job.ID, job.Status, hang, err)
		}
		settled[job.ID] = job
	}
	return settled
}

// output is what a job has written.
func (f *fixture) output(id string) string {
	f.Helper()
	logs, _ := filepath.Glob(filepath.Join(f.home, "jobs", sessionID, id, "log-stdout-*"))
	if len(logs) != 1 {
		f.Errorf("job %s has the logs %v", id, logs)
		return ""
	}
	data, err := os.ReadFile(logs[0])
	if err != nil {
		f.Error(err)
	}
	return string(data)
}

// expectNotices expects exactly one event in the session's log for each job that
// has settled.
func (f *fixture) expectNotices(settled map[string]jobs.Job) {
	f.Helper()
	home, err := state.ResolveHome(f.home)
	if err != nil {
		f.Fatal(err)
	}
	ends := map[string]int{}
	last := int64(0)
	for event, err := range session.NewLog(home, sessionID).Events() {
		if err != nil {
			f.Fatal(err)
		}
		if event.Seq != last+1 {
			f.Errorf("event %d follows event %d", event.Seq, last)
		}
		last = event.Seq
		if event.Type == session.JobFinished {
			ends[event.Job.ID]++
		}
	}
	for id := range settled {
		if ends[id] != 1 {
			f.Errorf("the end of %s stands %d times in the log", id, ends[id])
		}
	}
}

// expectNobody expects that no process of a job is alive.
func (f *fixture) expectNobody() {
	f.Helper()
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range processes {
		line, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(line), f.marker) && !strings.Contains(string(line), harnessArgument) {
			f.Errorf("alive: %s %.200q", path, line)
		}
	}
}

// hostPID is the process that holds the lock of the session.
func (f *fixture) hostPID() int {
	processes, _ := filepath.Glob(filepath.Join(f.home, "jobs", sessionID, "*", "process.json"))
	for _, path := range processes {
		var process struct{ PID int }
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &process) != nil {
			continue
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.PID))
		if err != nil {
			continue
		}
		_, rest, ok := strings.Cut(string(status), "\nPPid:\t")
		line, _, _ := strings.Cut(rest, "\n")
		pid, err := strconv.Atoi(line)
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if ok && err == nil && strings.Contains(string(command), hostwire.Argument) && strings.Contains(string(command), f.home) {
			return pid
		}
	}
	return 0
}

// check looks at the jobs that are there. Told are those that somebody was told
// of: none of them may be missing.
func (f *fixture) check(told []string, may func(jobs.Job) bool) {
	f.Helper()
	settled := f.settle()
	for _, id := range told {
		if _, ok := settled[id]; !ok {
			f.Errorf("job %s was started and is lost", id)
		}
	}
	for id, job := range settled {
		if may(job) {
			continue
		}
		_, code, _ := strings.Cut(job.Label, "exit ")
		if job.Status != jobs.Completed || job.Detail != "exit code: "+code {
			f.Errorf("job %s is %s, and its command %q", id, job.StatusLine(), job.Label)
		}
		if out := f.output(id); out != "begin\nend\n" {
			f.Errorf("job %s has written %q", id, out)
		}
	}
	f.expectNotices(settled)
	f.expectNobody()
}

// TestHarnessesDie kills a harness with SIGKILL while it starts jobs or has just
// started them. The jobs go on, and the next harness finds out how each ended.
func TestHarnessesDie(t *testing.T) {
	f := newFixture(t)
	total := 0
	for range rounds(t) {
		cmd, lines := f.harness()
		told := make(chan []string, 1)
		go func() { told <- f.started(lines) }()
		time.Sleep(time.Duration(rand.Int64N(int64(400 * time.Millisecond)))) // the moment of the crash is what is tested
		cmd.Process.Kill()
		cmd.Wait()
		ids := <-told
		total += len(ids)
		f.check(ids, func(job jobs.Job) bool { // one of which nobody was told
			return !slices.Contains(ids, job.ID) && job.Status == jobs.Failed && job.Detail == "it was never started"
		})
		f.prune()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d jobs were told of, none was lost", total)
}

// TestHostsDie kills the session's host while jobs run. Every job has an honest
// end, and nothing of it is left.
func TestHostsDie(t *testing.T) {
	f := newFixture(t)
	lost := 0
	for range rounds(t) {
		cmd, lines := f.harness()
		var ids []string
		for len(ids) < jobsPerRound && lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "started background job "); ok {
				ids = append(ids, id)
			}
			if len(ids) > 0 && rand.IntN(jobsPerRound) == 0 {
				break
			}
		}
		if pid := f.hostPID(); pid > 0 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		go io.Copy(io.Discard, &scanned{lines})
		time.Sleep(time.Duration(rand.Int64N(int64(100 * time.Millisecond)))) // what the harness does meanwhile is tested too
		cmd.Process.Kill()
		cmd.Wait()
		f.check(ids, func(job jobs.Job) bool {
			if job.Status == jobs.Failed && (strings.Contains(job.Detail, "session host") || job.Detail == "it was never started") {
				lost++
				return true
			}
			return false
		})
		f.prune()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d jobs were lost with their host, and say so", lost)
}

// scanned reads on where a scanner is.
type scanned struct{ lines *bufio.Scanner }

func (s *scanned) Read(p []byte) (int, error) {
	if !s.lines.Scan() {
		return 0, io.EOF
	}
	return min(len(p), 1), nil
}

// prune takes the settled jobs away. Their ids are not given again.
func (f *fixture) prune() {
	f.Helper()
	h, err := open(f.home, f.workspace)
	if err != nil {
		f.Fatal(err)
	}
	defer h.Close(context.Background())
	before := h.Jobs().List(h.Owner())
	gone, err := h.PruneJobs(true)
	if err != nil || len(gone) != len(before) {
		f.Errorf("%d of %d jobs were pruned: %v", len(gone), len(before), err)
	}
	if slices.Contains(gone, "") {
		f.Error("a job without an id was pruned")
	}
}
