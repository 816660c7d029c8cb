// Package bash provides shell.Executor with GNU bash: non-login and
// non-interactive, a fresh process for each command, no startup files.
package bash
