// Package cgroup makes control groups, version 2, to measure the memory of a
// process tree in, where the system has delegated that to this process.
//
// A tree that is born into a group cannot be miscounted: memory that its
// processes share is counted once, and what leaves its session, or ends between
// two looks, is counted too. No limit is set, and no process is moved.
//
// Delegated (Linux, Documentation/admin-guide/cgroup-v2.rst, "Delegation" and
// "No Internal Process Constraint") is one of:
//
//   - the group above that of this process, if systemd has marked it as
//     delegated: so a service runs with Delegate=memory and DelegateSubgroup=.
//   - the root of the hierarchy, if this process lives there and may make groups
//     there, and the memory controller is enabled for them already.
//
// The group of this process itself, unless it is that root, can never have both
// processes and children with controllers, and the harness that started this
// process lives there too, which is not ours to move.
//
// The names of the groups say which process made them, so that a later one can
// remove what a killed one has left. The kernel removes no group that has a
// process.
package cgroup
