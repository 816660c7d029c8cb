package subprocess_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

const (
	badGrace = "subprocess graceMs must be a positive finite number no greater than 2147483647"
	badArgv  = "subprocess argv must begin with a non-empty program name"
)

// valid is a spec that passes; each case spoils one thing of it.
func valid() subprocess.Spec {
	return subprocess.Spec{
		Argv:   []string{"true"},
		Stdin:  subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Stdout: subprocess.Output{Mode: subprocess.OutputIgnore},
		Stderr: subprocess.Output{Mode: subprocess.OutputIgnore},
		Grace:  time.Second,
	}
}

func TestValidateAcceptsWhatARuntimeCouldSpawn(t *testing.T) {
	collect := subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 1}
	spilled := subprocess.Output{
		Mode: subprocess.OutputCollect, MaxBytes: math.MaxInt64,
		Spill: &subprocess.Spill{MaxBytes: 1}, Tee: io.Discard,
	}
	tests := []struct {
		name string
		edit func(*subprocess.Spec)
	}{
		{"the plainest spec", func(*subprocess.Spec) {}},
		{"the longest grace", func(s *subprocess.Spec) { s.Grace = subprocess.MaxGrace }},
		{"the shortest grace", func(s *subprocess.Spec) { s.Grace = 1 }},
		{"empty arguments after the program", func(s *subprocess.Spec) { s.Argv = []string{"true", "", ""} }},
		{"every stream stated differently", func(s *subprocess.Spec) {
			s.Stdin.Mode, s.Stdout, s.Stderr.Mode = subprocess.StdinPipe, collect, subprocess.OutputInherit
		}},
		{"an inherited input and a piped output", func(s *subprocess.Spec) {
			s.Stdin.Mode, s.Stdout.Mode = subprocess.StdinInherit, subprocess.OutputPipe
		}},
		{"data as input", func(s *subprocess.Spec) {
			s.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: strings.NewReader("")}
		}},
		{"a collected stream with a spill and a tee", func(s *subprocess.Spec) { s.Stderr = spilled }},
		{"variables of any value, names of any case", func(s *subprocess.Spec) {
			s.Env = map[string]string{"a.b": "", "MY_TOKEN": "x=y\n", "DSH_A": "caller"}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := valid()
			tt.edit(&spec)
			if err := spec.Validate(t.Context()); err != nil {
				t.Errorf("Validate = %v, want no error", err)
			}
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	const secret = "hunter2"
	tests := []struct {
		name string
		edit func(*subprocess.Spec)
		want string
	}{
		{"no grace", func(s *subprocess.Spec) { s.Grace = 0 }, badGrace},
		{"a negative grace", func(s *subprocess.Spec) { s.Grace = -1 }, badGrace},
		{"a grace beyond the timers", func(s *subprocess.Spec) { s.Grace = subprocess.MaxGrace + 1 }, badGrace},
		{"no argv", func(s *subprocess.Spec) { s.Argv = nil }, badArgv},
		{"an empty argv", func(s *subprocess.Spec) { s.Argv = []string{} }, badArgv},
		{"an empty program", func(s *subprocess.Spec) { s.Argv = []string{"", "x"} }, badArgv},
		{"a NUL in the program", func(s *subprocess.Spec) { s.Argv = []string{"tr\x00ue"} }, "NUL byte"},
		{"a NUL in an argument", func(s *subprocess.Spec) { s.Argv = []string{"true", "a", "b\x00"} }, "NUL byte"},
		{"a NUL in the workdir", func(s *subprocess.Spec) { s.Dir = "/tmp\x00" }, "workdir"},
		{"a nameless variable", func(s *subprocess.Spec) { s.Env = map[string]string{"": secret} }, "environment variable"},
		{"a name with an equals sign", func(s *subprocess.Spec) { s.Env = map[string]string{"A=B": secret} }, `"A=B"`},
		{"a name with a NUL", func(s *subprocess.Spec) { s.Env = map[string]string{"A\x00": secret} }, "environment variable"},
		{"a value with a NUL", func(s *subprocess.Spec) { s.Env = map[string]string{"NAME": secret + "\x00"} }, "NAME"},
		{"an unstated input", func(s *subprocess.Spec) { s.Stdin = subprocess.Stdin{} }, "stdin must be stated"},
		{"an unknown input", func(s *subprocess.Spec) { s.Stdin.Mode = subprocess.StdinInherit + 1 }, "stdin must be stated"},
		{"the data mode without data", func(s *subprocess.Spec) { s.Stdin.Mode = subprocess.StdinData }, "stdin data"},
		{"data in another mode", func(s *subprocess.Spec) { s.Stdin.Data = strings.NewReader(secret) }, "stdin data"},
		{"an unstated stdout", func(s *subprocess.Spec) { s.Stdout = subprocess.Output{} }, "stdout must be stated"},
		{"an unstated stderr", func(s *subprocess.Spec) { s.Stderr = subprocess.Output{} }, "stderr must be stated"},
		{"an unknown output", func(s *subprocess.Spec) { s.Stderr.Mode = subprocess.OutputRecord + 1 }, "stderr must be stated"},
		{"a window of nothing", func(s *subprocess.Spec) { s.Stdout.Mode = subprocess.OutputCollect }, "stdout maxBytes"},
		{"a negative window", func(s *subprocess.Spec) {
			s.Stderr = subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: -1}
		}, "stderr maxBytes"},
		{"a spill of nothing", func(s *subprocess.Spec) {
			s.Stdout = subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 1, Spill: &subprocess.Spill{}}
		}, "stdout spill maxBytes"},
		{"a window without collecting", func(s *subprocess.Spec) { s.Stdout.MaxBytes = 1 }, "collect mode only"},
		{"a spill without collecting", func(s *subprocess.Spec) { s.Stdout.Spill = &subprocess.Spill{MaxBytes: 1} }, "collect mode only"},
		{"a tee without collecting", func(s *subprocess.Spec) { s.Stderr.Tee = io.Discard }, "collect mode only"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := valid()
			tt.edit(&spec)
			err := spec.Validate(t.Context())
			if !errors.Is(err, fault.InvalidArgument) {
				t.Fatalf("Validate = %v, want an INVALID_ARGUMENT error", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Validate says %q, which lacks %q", err, tt.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("Validate says %q, which reveals a value", err)
			}
		})
	}
}

// The order is what a caller sees when several things are wrong at once.
func TestValidateChecksTheGraceThenTheContextThenTheArgv(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("too late"))
	spec := valid()
	spec.Grace, spec.Argv, spec.Stdin = 0, nil, subprocess.Stdin{}

	steps := []struct {
		ctx  context.Context
		fix  func()
		want string
	}{
		{ctx, func() {}, badGrace},
		{ctx, func() { spec.Grace = time.Second }, "aborted before spawn: too late"},
		{t.Context(), func() {}, badArgv},
		{t.Context(), func() { spec.Argv = []string{"true"} }, "subprocess stdin must be stated: ignore, pipe, data or inherit"},
	}
	for _, step := range steps {
		step.fix()
		if err := spec.Validate(step.ctx); err == nil || err.Error() != step.want {
			t.Errorf("Validate = %v, want %q", err, step.want)
		}
	}
}

func TestAbortedBeforeSpawnTellsTheReasonWhenThereIsOne(t *testing.T) {
	reason := errors.New("too late")
	withReason, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	without, cancelPlain := context.WithCancel(t.Context())
	cancelPlain()
	expired, cancelExpired := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelExpired()

	tests := []struct {
		name  string
		ctx   context.Context
		want  string
		cause error
	}{
		{"with a reason", withReason, "aborted before spawn: too late", reason},
		{"without a reason", without, "aborted", context.Canceled},
		{"past its deadline", expired, "aborted before spawn: context deadline exceeded", context.DeadlineExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := subprocess.AbortedBeforeSpawn(tt.ctx)
			if !errors.Is(err, fault.Aborted) || !errors.Is(err, tt.cause) {
				t.Errorf("error %#v is not both ABORTED and %v", err, tt.cause)
			}
			if err.Error() != tt.want {
				t.Errorf("error says %q, want %q", err, tt.want)
			}
		})
	}
}
