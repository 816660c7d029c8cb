//go:build linux && (amd64 || arm64)

package seccomp

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// A label names a place in a program. Jumps go forward only, as classic BPF has
// no other.
type label string

// next is the place after the instruction that names it.
const next label = ""

// A program is a list of instructions whose jumps name labels. The zero value is
// an empty program.
type program struct {
	code  []instruction
	place map[label]int // index in code that a label stands before
}

type instruction struct {
	op        uint16
	k         uint32
	yes, no   label // of a comparison; of a plain jump only yes
	farBranch bool  // a comparison whose targets lie beyond 255 instructions
}

// at puts a label before the next instruction.
func (p *program) at(l label) {
	if p.place == nil {
		p.place = map[label]int{}
	}
	if _, twice := p.place[l]; twice {
		panic(fmt.Sprintf("seccomp: label %q twice", l))
	}
	p.place[l] = len(p.code)
}

// load reads the 32 bits at an offset of struct seccomp_data.
func (p *program) load(offset uint32) {
	p.add(instruction{op: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, k: offset})
}

// and masks what was loaded.
func (p *program) and(mask uint32) {
	p.add(instruction{op: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, k: mask})
}

func (p *program) ifEqual(k uint32, yes, no label) {
	p.add(instruction{op: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, k: k, yes: yes, no: no})
}

func (p *program) ifAtLeast(k uint32, yes, no label) {
	p.add(instruction{op: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, k: k, yes: yes, no: no})
}

func (p *program) ifAnySet(bits uint32, yes, no label) {
	p.add(instruction{op: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, k: bits, yes: yes, no: no})
}

func (p *program) jump(to label) { p.add(instruction{op: jumpAlways, yes: to}) }

// answer ends the program with an action of seccomp(2).
func (p *program) answer(action uint32) {
	p.add(instruction{op: unix.BPF_RET | unix.BPF_K, k: action})
}

func (p *program) add(i instruction) { p.code = append(p.code, i) }

// names reports whether an instruction so far jumps to a label.
func (p *program) names(l label) bool {
	return slices.ContainsFunc(p.code, func(i instruction) bool { return i.yes == l || i.no == l })
}

const (
	jumpAlways = unix.BPF_JMP | unix.BPF_JA
	maxBranch  = 255 // the offsets of a comparison are bytes; those of a plain jump are not
)

// assemble resolves the labels. A comparison with a target out of reach becomes
// a comparison and two plain jumps. It panics on a label that is missing or lies
// behind its jump.
func (p *program) assemble() []unix.SockFilter {
	start := p.layout()
	var out []unix.SockFilter
	for n, i := range p.code {
		to := func(l label) uint32 { return uint32(p.distance(start, n, l)) }
		switch {
		case i.op == jumpAlways:
			out = append(out, unix.SockFilter{Code: jumpAlways, K: to(i.yes)})
		case i.op&7 != unix.BPF_JMP:
			out = append(out, unix.SockFilter{Code: i.op, K: i.k})
		case i.farBranch:
			out = append(out,
				unix.SockFilter{Code: i.op, Jt: 0, Jf: 1, K: i.k},
				unix.SockFilter{Code: jumpAlways, K: to(i.yes) - 1},
				unix.SockFilter{Code: jumpAlways, K: to(i.no) - 2})
		default:
			out = append(out, unix.SockFilter{Code: i.op, Jt: uint8(to(i.yes)), Jf: uint8(to(i.no)), K: i.k})
		}
	}
	return out
}

// layout returns where each instruction starts. Making one comparison longer can
// put the targets of others out of reach, so it repeats until nothing changes.
func (p *program) layout() []int {
	start := make([]int, len(p.code)+1)
	for {
		for n, i := range p.code {
			start[n+1] = start[n] + 1
			if i.farBranch {
				start[n+1] = start[n] + 3
			}
		}
		changed := false
		for n := range p.code {
			i := &p.code[n]
			if i.op&7 != unix.BPF_JMP || i.op == jumpAlways || i.farBranch {
				continue
			}
			if p.distance(start, n, i.yes) > maxBranch || p.distance(start, n, i.no) > maxBranch {
				i.farBranch, changed = true, true
			}
		}
		if !changed {
			return start
		}
	}
}

// distance is the number of instructions between the first of instruction n and
// a label.
func (p *program) distance(start []int, n int, l label) int {
	target := n + 1
	if l != next {
		at, ok := p.place[l]
		if !ok || at <= n {
			panic(fmt.Sprintf("seccomp: label %q is not ahead of its jump", l))
		}
		target = at
	}
	return start[target] - start[n] - 1
}
