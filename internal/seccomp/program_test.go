//go:build linux && (amd64 || arm64)

package seccomp

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSearchFindsTheSegmentOfEveryNumber(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 2, 3, 50, 400, 1200} {
		var list []rule
		for n := range size {
			list = append(list, rule{uint32(10 * n), uint32(10*n + n%7), []label{eperm, enosys, eacces}[n%3]})
		}
		var p program
		p.load(offsetNumber)
		p.search(segments(list))
		for n, l := range []label{allow, eperm, enosys, eacces} {
			p.at(l)
			p.answer(uint32(n))
		}
		code := p.assemble()
		for number := uint32(0); number < uint32(10*size+100); number++ {
			var want uint32
			if n := number / 10; int(n) < size && number%10 <= n%7 {
				want = 1 + n%3
			}
			got, _, err := run(code, native(uintptr(number)))
			if err != nil || got != want {
				t.Fatalf("%d rules: number %d: got %d, %v; want %d", size, number, got, err, want)
			}
		}
	}
}

// TestAssembleReachesTargetsAtEveryDistance moves the two targets of a
// comparison across the reach of a byte.
func TestAssembleReachesTargetsAtEveryDistance(t *testing.T) {
	t.Parallel()
	for _, gap := range []int{0, 1, 250, 251, 252, 253, 254, 255, 256, 257, 600} {
		for _, fallThrough := range []bool{false, true} {
			var p program
			no := label("no")
			if fallThrough {
				no = next
			}
			p.load(offsetNumber)
			p.ifEqual(1, "outer", "first")
			p.at("first")
			p.ifEqual(2, "yes", no)
			p.answer(7)
			for range gap {
				p.load(offsetArch)
			}
			p.at("no")
			p.answer(8)
			p.at("yes")
			p.answer(9)
			p.at("outer")
			p.answer(10)
			code := p.assemble()
			other := uint32(8)
			if fallThrough {
				other = 7
			}
			for number, want := range map[uintptr]uint32{1: 10, 2: 9, 3: other} {
				if got, _, err := run(code, native(number)); err != nil || got != want {
					t.Errorf("gap %d, fall through %v: call %d: got %d, %v; want %d", gap, fallThrough, number, got, err, want)
				}
			}
		}
	}
}

func TestAssemblePanicsOnBadLabels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, message string
		build         func(p *program)
	}{
		{"a missing label", "not ahead", func(p *program) { p.jump("nowhere"); p.answer(0); p.assemble() }},
		{"a label behind its jump", "not ahead", func(p *program) { p.at("back"); p.jump("back"); p.assemble() }},
		{"a label twice", "twice", func(p *program) { p.at("a"); p.answer(0); p.at("a") }},
		{"rules that overlap", "overlaps", func(*program) { segments([]rule{{1, 5, eperm}, {5, 6, allow}}) }},
		{"a rule without numbers", "empty", func(*program) { segments([]rule{{5, 4, eperm}}) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if message, ok := recover().(string); !ok || !strings.Contains(message, tt.message) {
					t.Errorf("got %q, want a panic that says %q", message, tt.message)
				}
			}()
			tt.build(new(program))
		})
	}
}

// TestProgramsPassTheKernelsStaticChecks: seccomp refuses a program in which
// any path, taken or not, can leave it.
func TestProgramsPassTheKernelsStaticChecks(t *testing.T) {
	t.Parallel()
	for _, o := range allOptions {
		program := Filter(o)
		if len(program) > unix.BPF_MAXINSNS {
			t.Fatalf("%+v: %d instructions", o, len(program))
		}
		reached := make([]bool, len(program)+1)
		reached[0] = true
		for pc, i := range program {
			if !reached[pc] {
				t.Errorf("%+v: instruction %d is never reached", o, pc)
			}
			switch {
			case i.Code&7 == unix.BPF_RET:
				continue
			case i.Code == jumpAlways:
				mark(reached, pc+1+int(i.K))
			case i.Code&7 == unix.BPF_JMP:
				mark(reached, pc+1+int(i.Jt))
				mark(reached, pc+1+int(i.Jf))
			default:
				mark(reached, pc+1)
			}
		}
		if reached[len(program)] {
			t.Errorf("%+v: a path leaves the program", o)
		}
	}
}

// mark notes an instruction as reached; one past the end and beyond count as
// the end.
func mark(reached []bool, pc int) { reached[min(pc, len(reached)-1)] = true }
