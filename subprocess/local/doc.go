// Package local provides subprocess.Runtime in this process.
//
// A tree is found by its group, by its session and, on Linux, by the tag of
// internal/spawn, so that setsid, job control and double forks do not escape a
// termination. Code that is not confined and lowers its own tag after leaving
// its session does escape; nothing short of a pid namespace prevents that.
//
// The trees belong to this process. When it is killed with SIGKILL they are
// orphaned: what must outlive or be reaped after a crash runs through a host
// process instead.
package local
