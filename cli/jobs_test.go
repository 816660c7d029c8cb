//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hardshell/internal/record"
	"hardshell/internal/state"
)

// home is a home that several processes share. What runs in its session s ends
// with the test.
type home struct {
	t    *testing.T
	path string
	work string
}

func newHome(t *testing.T) home {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux confines")
	}
	h := home{t: t, path: filepath.Join(t.TempDir(), "home"), work: t.TempDir()}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(h.path, "jobs", "s")); err == nil {
			h.run("sessions", "end", "s")
		}
	})
	return h
}

// start starts hardshell in the session s.
func (h home) start(args ...string) *process {
	h.t.Helper()
	return start(h.t, append([]string{"--home", h.path, "--session", "s"}, args...)...)
}

func (h home) run(args ...string) (status int, stdout, stderr string) {
	h.t.Helper()
	return h.start(args...).end()
}

// expect runs what must succeed.
func (h home) expect(args ...string) string {
	h.t.Helper()
	status, stdout, stderr := h.run(args...)
	if status != 0 {
		h.t.Fatalf("%q: status %d, standard error %q", args, status, stderr)
	}
	return stdout
}

// background starts a job, and waits until it has printed.
func (h home) background(command string) (id string) {
	h.t.Helper()
	arguments, _ := json.Marshal(map[string]any{"command": command, "description": "d", "run_in_background": true})
	id = strings.TrimPrefix(h.expect("call", "--workspace", h.work, "bash", string(arguments)), "started background job ")
	p := h.start("jobs", "output", id, "--follow", "--stream", "stdout")
	p.line()
	p.cmd.Process.Kill()
	p.end()
	return id
}

func (h home) process(id string) (process record.Process) {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.path, "jobs", "s", id, "process.json"))
	if err == nil {
		err = json.Unmarshal(data, &process)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return process
}

// hostLog is what the host has complained of.
func (h home) hostLog() string {
	var all strings.Builder
	logs, _ := filepath.Glob(filepath.Join(h.path, "run", "*.log"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		all.Write(text)
	}
	return all.String()
}

// killHost kills the host above the process of a job.
func (h home) killHost(id string) {
	h.t.Helper()
	for pid := h.process(id).PID; pid > 1; {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			h.t.Fatal(err)
		}
		if words := strings.Split(string(line), "\x00"); slices.Contains(words, "session-host") && slices.Contains(words, h.path) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				h.t.Fatal(err)
			}
			return
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			h.t.Fatal(err)
		}
		// proc_pid_stat(5): the name, in parentheses, may hold anything.
		if _, err := fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %c %d", new(rune), &pid); err != nil {
			h.t.Fatal(err)
		}
	}
	h.t.Fatal("the job has no host above it")
}

func TestTwoProcessesShareTheJobsOfASession(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var ids [2]string
	var starting sync.WaitGroup
	for i := range ids {
		p := h.start("call", "--workspace", h.work, "bash",
			`{"command":"until [ -e go ]; do sleep 0.01; done; seq 1 2000; seq 2001 3000 >&2; exit 4","description":"d","run_in_background":true}`)
		starting.Go(func() { _, ids[i], _ = p.end() })
	}
	starting.Wait()
	slices.Sort(ids[:])
	if want := [2]string{"started background job bash-1", "started background job bash-2"}; ids != want {
		t.Fatalf("they say %q", ids)
	}
	followers := []*process{h.start("jobs", "output", "bash-1", "--follow"), h.start("jobs", "output", "bash-1", "--follow")}
	waiter := h.start("jobs", "wait", "bash-1")
	if err := os.WriteFile(filepath.Join(h.work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range followers {
		if status, out, errs := p.end(); status != 0 || out != seq(1, 2000) || errs != seq(2001, 3000) {
			t.Errorf("status %d, %d bytes, %d bytes of standard error", status, len(out), len(errs))
		}
	}
	if status, out, errs := waiter.end(); status != 4 || out != "bash-1 completed, exit code: 4\n" || errs != "" {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
}

func TestAJobOfADeadHostIsShownAsItIsAndThenCompleted(t *testing.T) {
	t.Parallel()
	for name, complete := range map[string][]string{
		"by one who waits":  {"jobs", "wait", "bash-1"},
		"by one who kills":  {"jobs", "kill", "bash-1"},
		"by one who prunes": {"jobs", "prune", "--everything"},
		"by one who ends":   {"sessions", "end", "s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			mark := newMark()
			id := h.background("echo up; exec sleep " + mark)
			status := filepath.Join(h.path, "jobs", "s", id, "status.json")
			follower := h.start("jobs", "output", id, "--follow", "--json")
			if line := follower.line(); line != `{"stream":"stdout","from":0,"text":"up\n"}` {
				t.Fatalf("the follower says %s", line)
			}
			h.killHost(id)
			if code, out, _ := follower.end(); code != 0 || !strings.Contains(out, `"status":"failed","detail":"the session host died"`) {
				t.Errorf("the follower ends with status %d and %q", code, out)
			}
			var list struct {
				Jobs []struct {
					Status, Detail string
					FinishedAt     int64
				}
			}
			if err := json.Unmarshal([]byte(h.expect("jobs", "list", "--json")), &list); err != nil {
				t.Fatal(err)
			}
			if len(list.Jobs) != 1 || list.Jobs[0].Status != "failed" || list.Jobs[0].Detail != "the session host died" || list.Jobs[0].FinishedAt != 0 {
				t.Errorf("the list is %+v", list)
			}
			if out := h.expect("jobs", "output", id); out != "up\n" {
				t.Errorf("the output is %q", out)
			}
			if _, err := os.Stat(status); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the record was completed by one who looked: %v", err)
			}
			code, out, _ := h.run(complete...)
			if failed := complete[1] == "wait"; failed != (code == 125) || !failed && code != 0 {
				t.Errorf("%q: status %d", complete, code)
			}
			want := map[string]string{
				"wait": "bash-1 failed, the session host died\n", "prune": "bash-1\n", "end": "session s has ended\n",
				"kill": "job bash-1 had already finished [status: failed, the session host died]\n",
			}[complete[1]]
			if out != want {
				t.Errorf("it prints %q, want %q", out, want)
			}
			if _, err := os.Stat(status); err != nil && complete[1] != "prune" {
				t.Errorf("the record was not completed: %v", err)
			}
			wantGone(t, mark)
		})
	}
}

func TestAFollowerWhoseReaderHasGoneEnds(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id := h.background("echo up; exec sleep " + newMark()) // and never writes again
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := h.startTo(w, "jobs", "output", id, "--follow")
	w.Close()
	if _, err := r.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	p.cmd.Wait()
	if status := shellStatus(p.cmd.ProcessState); status != 141 || !p.guard.Stop() {
		t.Errorf("the status is %d, want 141", status)
	}
}

func TestCtrlCEndsWhoWaits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id := h.background("echo up; exec sleep " + newMark())
	t.Run("a follower", func(t *testing.T) {
		p := h.start("jobs", "output", id, "--follow")
		p.up()
		p.signal(syscall.SIGINT)
		if status, out, errs := p.end(); status != 130 || out != "" || errs != "" {
			t.Errorf("status %d, %q, %q", status, out, errs)
		}
	})
	t.Run("one who waits for the end", func(t *testing.T) {
		p := h.start("jobs", "wait", id, "--json")
		awaitSocket(t, p)
		p.signal(syscall.SIGINT)
		if status, out, errs := p.end(); status != 130 || out != "" || errs != "" {
			t.Errorf("status %d, %q, %q", status, out, errs)
		}
	})
	if out := h.expect("jobs", "list", "--json"); !strings.Contains(out, `"status":"running"`) {
		t.Errorf("the job was ended: %s", out)
	}
}

// awaitSocket waits until a process has a socket: it is attached to the host.
func awaitSocket(t *testing.T, p *process) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < hangs; {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:") {
				return
			}
		}
	}
	t.Fatal("it does not attach")
}

func TestASessionThatSomebodyUsesIsNotLeftWithoutAHost(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: takes the 20 seconds that a host is waited for")
	}
	t.Parallel()
	h := newHome(t)
	path, up := fifo(t)
	mark := newMark()
	p := h.start("run", "--mode", "danger-full-access", "--workspace", h.work, "echo >"+path+"; exec sleep "+mark)
	awaitByte(t, up)
	id := h.background("echo up; exec sleep " + newMark())
	status, out, errs := h.run("sessions", "end", "s")
	if status != 1 || out != "ended job "+id+": killed, signal: SIGTERM\n" || !strings.Contains(errs, "another program is attached to the session") {
		t.Errorf("status %d, %q, %q; the host says %q", status, out, errs, h.hostLog())
	}
	// Its command still runs, and no other signal has ended it.
	if left := marked(t, mark); len(left) != 1 {
		t.Errorf("the other program was disturbed: its command is %v", left)
	}
	p.signal(syscall.SIGINT)
	if status, _, errs := p.end(); status != 130 {
		t.Errorf("the other program ends with status %d: %s", status, errs)
	}
	wantGone(t, mark)
}

func TestOutputThatIsKeptNoMoreIsTold(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	// Nothing but the record is needed, and its cap is smaller than a job's.
	root, err := state.ResolveHome(h.path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root.Jobs("s"), "bash-1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ask := record.NewAsk()
	ask.Kind, ask.Label, ask.Workdir, ask.MaxBytes = "bash", "noisy", "/", 1<<20
	if err := d.WriteAsk(ask); err != nil {
		t.Fatal(err)
	}
	logs, err := d.CreateLogs(ask)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 63) + "\n"
	for range 4096 * 16 {
		if _, err := logs.Stream(record.Stdout).Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	streams := logs.Stream(record.Stdout).Status()
	logs.Close()
	gap := streams.Gap
	if gap == nil || gap.From == 0 || gap.To >= streams.Bytes {
		t.Skipf("the file system of the temp punches no holes: %+v", streams)
	}
	if _, err := d.WriteStatus(&record.Status{Status: record.Completed, Started: 1000, Finished: 2000, Stdout: streams}); err != nil {
		t.Fatal(err)
	}
	told := fmt.Sprintf("hardshell: %d bytes of stdout from %d are gone\n", gap.To-gap.From, gap.From)
	kept := streams.Bytes - (gap.To - gap.From)
	for _, args := range [][]string{{"jobs", "output", "bash-1"}, {"jobs", "output", "bash-1", "--follow"}} {
		status, out, errs := h.run(args...)
		if status != 0 || int64(len(out)) != kept || strings.Trim(out, "x\n") != "" || errs != told {
			t.Errorf("%q: status %d, %d bytes, want %d; standard error %q, want %q", args, status, len(out), kept, errs, told)
		}
	}
	inside := gap.From + 1000
	status, out, errs := h.run("jobs", "output", "bash-1", "--from", fmt.Sprint(inside))
	if want := fmt.Sprintf("hardshell: %d bytes of stdout from %d are gone\n", gap.To-inside, inside); status != 0 || int64(len(out)) != streams.Bytes-gap.To || errs != want {
		t.Errorf("from within: status %d, %d bytes, standard error %q", status, len(out), errs)
	}
	first, rest, _ := strings.Cut(h.expect("jobs", "output", "bash-1", "--follow", "--json", "--from", fmt.Sprint(inside)), "\n")
	if want := fmt.Sprintf(`{"stream":"stdout","from":%d,`, gap.To); !strings.HasPrefix(first, want) ||
		!strings.HasSuffix(first, fmt.Sprintf(`,"skipped":%d}`, gap.To-inside)) || !strings.Contains(rest, `{"job":{"id":"bash-1"`) {
		t.Errorf("in lines it begins with %.60s…", first)
	}
	var document struct {
		Stdout struct {
			Text                            string
			From, Next, Size, Skipped, Gone int64
		}
	}
	status, out, errs = h.run("jobs", "output", "bash-1", "--json")
	if err := json.Unmarshal([]byte(out), &document); err != nil || status != 0 {
		t.Fatal(status, err)
	}
	s := document.Stdout
	if s.Size != streams.Bytes || s.Next != s.Size || s.From+int64(len(s.Text)) != s.Next || len(s.Text) > 1<<20 || len(s.Text) == 0 || s.Skipped != s.From || s.Gone != gap.To-gap.From {
		t.Errorf("the document has %d bytes, from %d to %d of %d; %d skipped, %d gone", len(s.Text), s.From, s.Next, s.Size, s.Skipped, s.Gone)
	}
	if !strings.HasPrefix(errs, fmt.Sprintf("hardshell: %d bytes of stdout from 0 on are not in the document", s.Skipped)) {
		t.Errorf("standard error is %q", errs)
	}
}
