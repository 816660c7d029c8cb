package local

import (
	"bytes"
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
// above, in the order of their ids, so that children made during the walk are
// met too, until visit returns false. It reports whether one ended before it
// could be looked at: what it had started meanwhile may have been missed.
func processes(floor int, visit func(process) bool) (vanished bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	buf := make([]byte, 1024)
	for {
		names, err := dir.Readdirnames(64)
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err != nil || pid < floor {
				continue
			}
			p, ok := readProcess(pid, buf)
			vanished = vanished || !ok
			if ok && !visit(p) {
				return vanished
			}
		}
		if err != nil {
			return vanished
		}
	}
}

// readProcess reads /proc/PID/stat; see proc_pid_stat(5).
func readProcess(pid int, buf []byte) (process, bool) {
	stat, ok := procfs.Read(pid, "stat", buf)
	if !ok {
		return process{}, false
	}
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
func (t *tree) visitMembers(visit func(process) bool) (vanished bool) {
	numbers := t.ownsNumbers()
	return processes(0, func(p process) bool {
		if p.dead {
			return true
		}
		ours := numbers && (p.group == t.pid || p.session == t.pid)
		if !ours && t.tag != 0 {
			ours = spawn.Within(spawn.Mark(p.pid), t.tag)
		}
		return !ours || visit(p)
	})
}

// visitStrays calls visit with every living process from the id floor on that
// carries any tag of tags.
func visitStrays(tags *spawn.Tags, floor int, visit func(process) bool) (vanished bool) {
	return processes(floor, func(p process) bool {
		if p.dead || !tags.Issued(spawn.Mark(p.pid)) {
			return true
		}
		return visit(p)
	})
}
