// Package capture is the standard streams of one command as its caller has
// them: the pipes, the pumps that move them into bounded windows, the files of
// streams that outgrew those, and the rules by which streams end that a
// background process holds open.
//
// It does the work behind the streams of package subprocess, whose runtimes
// share it: who spawns the command makes no difference to it.
package capture
