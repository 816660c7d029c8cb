package proctree

import (
	"bytes"
	"io"
	"os"
	"strconv"

	"hardshell/internal/procfs"
	"hardshell/internal/spawn"
)

// process is one entry of /proc.
type process struct {
	pid, group, session int
	dead                bool // it does nothing any more
}

// processes calls visit with every process of the system whose id is floor or
// above, until visit returns false; with some of them twice. What is started
// meanwhile is met too: a process may fork, leave its group and end while it is
// being looked for. It reports whether it could look.
func processes(floor int, visit func(process) bool) (looked bool) {
	if !procfs.Ours() {
		return false
	}
	buf := make([]byte, 1024)
	last := lastPID()
	more, looked := walk(floor, buf, visit)
	// A listing of /proc ends with the largest id of its moment. Ids are given in
	// ascending order, so that younger processes are found by counting on, until
	// none was started during a look. A busy system never stands still; enough is
	// enough there.
	for range 100 {
		now := lastPID()
		switch {
		case !more || !looked || now == last:
			return looked
		case now < last: // wrapped around
			more, looked = walk(floor, buf, visit)
		default:
			for pid := max(last+1, floor); pid <= now && more && looked; pid++ {
				more, looked = look(pid, buf, visit)
			}
		}
		last = now
	}
	return looked
}

// lastPID is the id that was given last, 0 when that is not told.
func lastPID() int {
	loadavg, err := os.ReadFile("/proc/loadavg") // ends with it: proc_loadavg(5)
	if err != nil {
		return 0
	}
	last, err := strconv.Atoi(string(bytes.TrimSpace(loadavg[bytes.LastIndexByte(loadavg, ' ')+1:])))
	if err != nil {
		return 0
	}
	return last
}

// walk calls visit with every process that /proc lists. It reports whether visit
// wants more, and whether it could look.
func walk(floor int, buf []byte, visit func(process) bool) (more, looked bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return true, false
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(64)
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err != nil || pid < floor {
				continue
			}
			if more, looked := look(pid, buf, visit); !more || !looked {
				return more, looked
			}
		}
		if err != nil {
			return true, err == io.EOF
		}
	}
}

// look calls visit with one process, if it is still there.
func look(pid int, buf []byte, visit func(process) bool) (more, looked bool) {
	stat, err := procfs.Read(pid, "stat", buf)
	if err != nil {
		return true, procfs.Gone(err)
	}
	p, ok := parseStat(pid, stat)
	return !ok || visit(p), true
}

// parseStat reads /proc/PID/stat; see proc_pid_stat(5).
func parseStat(pid int, stat []byte) (process, bool) {
	// The command's name, in parentheses, may hold spaces and parentheses.
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return process{}, false
	}
	fields := bytes.Fields(stat[end+1:]) // state ppid pgrp session …
	if len(fields) < 18 {
		return process{}, false
	}
	group, err1 := strconv.Atoi(string(fields[2]))
	session, err2 := strconv.Atoi(string(fields[3]))
	// A process whose first thread has ended is a zombie with other threads.
	state, threads := fields[0][0], string(fields[17])
	return process{
		pid: pid, group: group, session: session,
		dead: (state == 'Z' || state == 'X') && (threads == "0" || threads == "1"),
	}, err1 == nil && err2 == nil
}

// visitMembers calls visit with every living process of the tree; see processes.
// Where it cannot look it knows the group alone.
func (t *Tree) visitMembers(visit func(process) bool) {
	numbers := t.ownsNumbers()
	looked := processes(0, func(p process) bool {
		return !t.has(p, numbers) || visit(p)
	})
	if !looked {
		t.visitGroup(visit)
	}
}

// isMember reports whether a process is a living one of the tree now.
func (t *Tree) isMember(pid int) bool {
	return isNow(pid, func(p process) bool { return t.has(p, t.ownsNumbers()) })
}

// has reports whether p is a living process of the tree. Numbers says that the
// leader's number means the tree's group and session.
func (t *Tree) has(p process, numbers bool) bool {
	if p.dead {
		return false
	}
	if numbers && (p.group == t.pid || p.session == t.pid) {
		return true
	}
	return t.tag != 0 && spawn.Within(spawn.Mark(p.pid), t.tag)
}

// isStray reports whether p is a living process that carries any tag of tags.
func isStray(p process, tags *spawn.Tags) bool {
	return !p.dead && tags.Issued(spawn.Mark(p.pid))
}

// isNow reports whether a process is what it is taken for. Where that cannot be
// seen, it is.
func isNow(pid int, is func(process) bool) bool {
	buf := make([]byte, 1024)
	found := false
	if _, looked := look(pid, buf, func(p process) bool {
		found = is(p)
		return true
	}); !looked || !procfs.Ours() {
		return true
	}
	return found
}
