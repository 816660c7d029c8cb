//go:build !(linux && amd64)

package spawn

// Program is the table of system calls that a child runs before its program.
// Children are not started in that way here.
type Program struct{}
