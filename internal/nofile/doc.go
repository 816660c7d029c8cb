// Package nofile remembers the limit of open files that this process was
// started with. The Go runtime raises the soft limit at its start (package
// syscall), and programs that a process starts should see the original:
// select(2) and loops over all descriptors do badly with a large one.
//
// It imports nothing but unsafe, and its import path sorts before "syscall", so
// that by the language's order of package initialization it looks first.
package nofile
