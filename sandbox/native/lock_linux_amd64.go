package native

import (
	"golang.org/x/sys/unix"

	"hardshell/internal/spawn"
)

// settle adds the steps that need descriptors of this process.
func (l *lock) settle(p *spawn.Program) {
	// landlock_restrict_self(2) and seccomp(2) want it: nothing that is executed
	// can gain privileges any more.
	p.Call("prctl no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if l.ruleset != nil {
		p.Call("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, l.ruleset.FD(), 0)
	}
}

// add adds the last steps before a program is started. The capabilities of the
// process itself stay until then: they keep those inside from tracing a process
// that still shares this one's memory (ptrace(2), access mode checking).
func (l *lock) add(p *spawn.Program) {
	for c := 0; c <= lastCapability(); c++ {
		if l.keep&(1<<c) == 0 {
			p.Call("drop a capability", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
	}
	p.Try("clear the ambient capabilities", unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if l.clear {
		l.clearInheritable(p)
	}
	if l.pids > 0 {
		p.Try("limit the processes", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NPROC, spawn.Hold(p, &unix.Rlimit{Cur: l.pids, Max: l.pids}), 0)
	}
	l.addFilter(p)
}

// addFilter adds the filter of system calls.
func (l *lock) addFilter(p *spawn.Program) {
	program := &unix.SockFprog{Len: uint16(len(l.filter)), Filter: &l.filter[0]}
	p.Call("seccomp", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, spawn.Hold(p, program))
}

// clearInheritable takes away the capabilities that an exec would keep beside
// the bounding set.
func (l *lock) clearInheritable(p *spawn.Program) {
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(header, &data[0]) != nil {
		return
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	p.Call("capset", unix.SYS_CAPSET, spawn.Hold(p, header), spawn.Hold(p, &data))
}

// confine is how a child of the restricted thread confines itself further. The
// thread itself has no filter, which would keep the child from being marked.
func (f *fence) confine() *spawn.Confine {
	return &spawn.Confine{Lock: f.lock.addFilter}
}
