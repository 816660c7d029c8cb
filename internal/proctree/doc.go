// Package proctree keeps hold of whole process trees: everything that descends
// from one started leader, until none of it is left.
//
// A tree is found by its leader's group, by its session and, on Linux, by the
// tag of internal/spawn, so that setsid, job control and double forks do not
// escape a termination. A Set owns the trees of one client and ends them
// together, with what left a tree that is long over.
package proctree
