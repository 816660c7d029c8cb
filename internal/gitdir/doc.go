// Package gitdir knows which files of a Git repository a command may write and
// which ones would run programs for whoever uses the repository next: hooks,
// configuration, and the links that say where those are.
//
// It reads files and never runs git. Everything that it reads may have been
// written by the command that is to be confined: no file below the workspace
// makes anything outside of it writable unless a file outside of it agrees.
//
// What no mount can hold is said in Layout.Exposed. Git trusts more than can be
// held there: a command that may write a directory can always put a new
// repository into it, and a repository whose HEAD is gone makes git look at
// the directory itself as a bare one (safe.bareRepository in git-config(1)).
package gitdir
