// Package shelltest is the conformance suite of the shell.Executor seam.
//
// Run checks one executor over one subprocess runtime, by the seam alone: what
// a command sees, how its end is reported, what becomes of its output and of
// its processes. An executor that confines is held to the same promises.
//
// The commands are scripts for bash on a POSIX system. Processes are recognised
// by a number that only one check uses, so that a survivor is found wherever it
// has gone; on Linux they are looked up in /proc, elsewhere with ps.
package shelltest
