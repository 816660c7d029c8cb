// Package host provides subprocess.Runtime through the session's host process,
// and the sandbox.Provider that goes with it. The host is started when it is
// first needed, by whichever process of the home needs it first, and shared.
//
// The pipes of a command, what is collected of them and its files stay in this
// process; the host holds the tree. Limits, umask and priority of a command are
// those of the host, so of the process that started it.
//
// When this process is gone, in whatever way, the host ends its commands, or
// with Config.Keep leaves them running. Close ends them in any case: Keep is for
// a detach that nobody planned, until a job takes a command over.
//
// When the host is gone, every command of it settles as one whose end is not
// known, its processes are killed as far as their tags find them, and the next
// spawn starts another host.
package host
