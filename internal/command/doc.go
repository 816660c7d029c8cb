// Package command is what the runtimes of package subprocess share beside the
// streams: how a spec becomes a program, an environment and a working
// directory, what the errors of a spawn mean, and the life of one command from
// its spawn to the end of its tree.
package command
