package shelltest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"hardshell/shell"
)

// outcome checks how the end of a foreground command is reported.
func (s suite) outcome(t *testing.T) {
	t.Run("every outcome is a field of its own", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		res := r.sh(t, "echo o; echo e >&2; exit 3")
		wantExit(t, res, 3)
		wantCut(t, res, uncut)
		wantStdout(t, res, "o\n")
		wantStderr(t, res, "e\n")
		if res.Stdout.Bytes != 2 || res.Stderr.Bytes != 2 {
			t.Errorf("the streams have %d and %d bytes, want 2 and 2", res.Stdout.Bytes, res.Stderr.Bytes)
		}
		if res.Timeout != defaultTimeout {
			t.Errorf("the effective timeout is %v, want %v", res.Timeout, defaultTimeout)
		}
		if (res.Sandbox != nil) != r.confines() {
			t.Errorf("sandbox facts are %+v, and whether the executor confines is %v", res.Sandbox, r.confines())
		}
	})
	t.Run("exit status", s.exitStatus)
	t.Run("signal", s.signals)
	t.Run("reports the timeout after default and cap", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Timeout: 1500 * ms, MaxTimeout: 2000 * ms})
		for request, want := range map[time.Duration]time.Duration{0: 1500 * ms, 1700 * ms: 1700 * ms, 99999 * ms: 2000 * ms} {
			if got := r.run(t, shell.Request{Command: "true", Timeout: request}).Timeout; got != want {
				t.Errorf("timeout %v was reported as %v, want %v", request, got, want)
			}
		}
	})
	t.Run("duration is the command's, without the drain", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		start := time.Now()
		res := r.sh(t, "sleep "+marker()+" & sleep 0.2")
		elapsed := time.Since(start)
		if res.Duration < 150*ms || res.Duration > elapsed-250*ms {
			t.Errorf("the duration is %v, want about 200 ms, and at least the drain less than %v", res.Duration, elapsed)
		}
	})
	t.Run("the streams are apart, each in order", func(t *testing.T) {
		t.Parallel()
		res := s.rig(t, Options{}).sh(t, "for i in 1 2; do echo o$i; echo e$i >&2; done")
		wantStdout(t, res, "o1\no2\n")
		wantStderr(t, res, "e1\ne2\n")
	})
	t.Run("every command has a new shell", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		wantExit(t, r.sh(t, "X=1; export Y=1; cd /; f() { :; }; set -e; umask 0"), 0)
		res := r.sh(t, `echo "${X-unset} ${Y-unset}"; pwd; type -t f; false; umask`)
		lines := strings.Split(res.Stdout.Text, "\n")
		if lines[0] != "unset unset" || lines[1] != r.dir || lines[2] == "function" || lines[2] == "0000" {
			t.Errorf("state was carried over: %q", res.Stdout.Text)
		}
	})
	t.Run("the shell is neither a login nor an interactive one", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		for _, rc := range []string{".bashrc", ".bash_profile", ".bash_login", ".profile", ".bash_logout"} {
			write(t, r.path(rc), "echo sourced "+rc, 0o644)
		}
		res := r.run(t, shell.Request{
			Command: `echo "$0 $#"; shopt -q login_shell && echo login; case $- in *i*) echo interactive;; esac; exit 0`,
			Env:     map[string]string{"HOME": r.dir},
		})
		wantStdout(t, res, "bash 0\n")
		wantStderr(t, res, "")
	})
	t.Run("a long timeout is no trouble", func(t *testing.T) {
		t.Parallel()
		// Timers of the seeds overflow at 2^31 ms, a deadline far away can
		// overflow the clock.
		const far = 3_000_000_000 * ms
		r := s.rig(t, Options{MaxTimeout: far})
		for _, req := range []shell.Request{
			{Timeout: 2_500_000_000 * ms},
			{Timeout: far},
			{Timeout: shell.NoTimeout, TimeoutUncapped: true},
			{Timeout: shell.NoTimeout - 1, TimeoutUncapped: true},
		} {
			want := req.Timeout
			req.Command = "sleep 0.05; echo ok"
			res := r.run(t, req)
			wantExit(t, res, 0)
			wantCut(t, res, uncut)
			wantStdout(t, res, "ok\n")
			if res.Timeout != want {
				t.Errorf("timeout %v was reported as %v", want, res.Timeout)
			}
		}
	})
	t.Run("commands at the same time do not mix", s.concurrentRuns)
}

func (s suite) exitStatus(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	for _, c := range []struct {
		name, script string
		code         int
	}{
		{"an empty command", "", 0},
		{"success", "true", 0},
		{"failure", "false", 1},
		{"an explicit status", "exit 3", 3},
		{"the largest", "exit 255", 255},
		{"256 wraps to zero", "exit 256", 0},
		{"a negative one wraps", "exit -1", 255},
		{"a syntax error", "if", 2},
		{"an unknown program", "nosuch-program-of-this-suite", 127},
		{"a file that is no program", "/etc/passwd", 126},
		{"a child that died from a signal, as the shell says it", "bash -c 'kill -TERM $$'; exit $?", 143},
		{"a command that begins with a dash", "-x", 127},
		{"a command that looks like an option with an argument", "-c true", 127},
		{"a command that is two dashes", "--", 127},
		{"a command that looks like a long option", "--version", 127},
		{"a command of several lines", "true\nfalse\n\nexit 4\n", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := r.sh(t, c.script)
			wantExit(t, res, c.code)
			wantCut(t, res, uncut)
			wantStdout(t, res, "")
		})
	}
}

// signals checks that death by a signal has its name and is never an exit.
func (s suite) signals(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	names := []string{"HUP", "INT", "ABRT", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "USR1", "USR2", "XCPU"}
	for _, name := range names {
		t.Run("SIG"+name, func(t *testing.T) {
			res := r.sh(t, fmt.Sprintf("ulimit -c 0; echo before; kill -%s $$; echo after", name))
			wantSignal(t, res, "SIG"+name)
			wantCut(t, res, uncut)
			wantStdout(t, res, "before\n")
		})
	}
	if runtime.GOOS != "linux" {
		return
	}
	// The C library keeps the kernel's first two real-time signals for itself,
	// so that everyone's SIGRTMIN is 34.
	for number, want := range map[int]string{35: "SIGRTMIN+1", 40: "SIGRTMIN+6", 64: "SIGRTMIN+30"} {
		t.Run(want, func(t *testing.T) {
			res := r.sh(t, fmt.Sprintf("kill -%d $$; echo after", number))
			wantSignal(t, res, want)
			wantCut(t, res, uncut)
		})
	}
	t.Run("SIGRTMIN", func(t *testing.T) {
		res := r.sh(t, "kill -34 $$; echo after")
		if res.ExitCode != nil || res.Signal != "SIGRTMIN" && res.Signal != "SIGRTMIN+0" {
			t.Errorf("exit status %v, signal %q; want none and SIGRTMIN", res.ExitCode, res.Signal)
		}
	})
}

func (s suite) concurrentRuns(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	const runs = 12
	results := make(chan error, runs)
	for i := range runs {
		go func() {
			res, err := r.try(guard(t), shell.Request{
				Command: `cat; echo "$WHO" >&2; exit ` + fmt.Sprint(i),
				Stdin:   strings.NewReader(fmt.Sprint("in ", i)),
				Env:     map[string]string{"WHO": fmt.Sprint("env ", i)},
			})
			switch {
			case err != nil:
			case res.ExitCode == nil || *res.ExitCode != i:
				err = fmt.Errorf("run %d: exit %v, signal %q", i, res.ExitCode, res.Signal)
			case res.Stdout.Text != fmt.Sprint("in ", i) || res.Stderr.Text != fmt.Sprintf("env %d\n", i):
				err = fmt.Errorf("run %d: output %q, %q", i, res.Stdout.Text, res.Stderr.Text)
			}
			results <- err
		}()
	}
	for range runs {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
