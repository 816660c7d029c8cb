// Package host is the session host: one small process per live session, outside
// every sandbox and outside its harnesses' process groups, that spawns commands
// for any number of harness processes.
//
// It holds what must outlive one harness: the sandboxes of the session and the
// trees of its commands. Harnesses attach over a socket in the home's run
// directory, through package subprocess/host; a command's pipes stay with the
// harness that asked for it. When a harness detaches, in whatever way, its
// commands are ended or kept, as it said when it attached. The host ends when
// nobody is attached and nothing that it started is left.
//
// The lock in the run directory is held as long as the host lives: a held lock
// is a live host. Limits, umask and priority of the commands are those of the
// process that started the host.
package host
