// Package confined provides shell.Executor with bash, every command confined by
// a sandbox provider according to the policy of its call. It is the executor of
// package bash, whose children are spawned under a confinement: limits, signals,
// timeouts and output are the same in every mode.
package confined
