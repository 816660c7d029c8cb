package sandboxtest

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// schedulingAttempts change when processes outside run: those could be starved.
var schedulingAttempts = []attempt{
	{name: "changing the priority of a process outside", do: func(t *target) error {
		return unix.Setpriority(unix.PRIO_PROCESS, t.PID, 5)
	}},
	{name: "changing the priority of a group outside", do: func(t *target) error {
		return unix.Setpriority(unix.PRIO_PGRP, t.PID, 5)
	}},
	{name: "changing the priority of everything of the user", rare: true, do: func(t *target) error {
		if err := onlyConfined(); err != nil {
			return err
		}
		if own, err := os.Readlink("/proc/self/ns/pid"); err != nil || own != t.PIDNamespace {
			return errors.New("not attempted: the call sees no process outside")
		}
		return unix.Setpriority(unix.PRIO_USER, 0, 0)
	}},
	{name: "scheduling a process outside", do: func(t *target) error {
		return sys(unix.SYS_SCHED_SETSCHEDULER, uintptr(t.PID), schedBatch, pointer(make([]byte, 4)))
	}},
	{name: "scheduling a process outside with high bits", do: func(t *target) error {
		return sys(unix.SYS_SCHED_SETSCHEDULER, 1<<32|uintptr(t.PID), schedBatch, pointer(make([]byte, 4)))
	}},
	{name: "changing the parameters of a process outside", do: func(t *target) error {
		return sys(unix.SYS_SCHED_SETPARAM, uintptr(t.PID), pointer(make([]byte, 4)))
	}},
	{name: "changing the scheduling attributes of a process outside", do: func(t *target) error {
		return unix.SchedSetAttr(t.PID, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: schedBatch}, 0)
	}},
	{name: "choosing the processors of a process outside", do: func(t *target) error {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return err
		}
		return unix.SchedSetaffinity(t.PID, &set)
	}},
	{name: "choosing the processors of a thread of the test", do: func(t *target) error {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return err
		}
		return everyThread(t.Harness, func(tid int) error { return unix.SchedSetaffinity(tid, &set) })
	}},
	{name: "changing the priority of a process outside for disks", do: func(t *target) error {
		return sys(unix.SYS_IOPRIO_SET, ioprioProcess, uintptr(t.PID), ioprioBestEffort)
	}},
}

// Of linux/sched.h and linux/ioprio.h.
const (
	schedBatch       = 3
	ioprioProcess    = 1
	ioprioBestEffort = 2<<13 | 4
)
