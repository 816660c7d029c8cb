// Package state is the home directory: where it is, which file is whose, and
// the few ways in which files are written there. The home is shared by every
// process that uses it, so each way holds against the others and against a
// crash at any point:
//
//   - Lock, TryLock: kernel locks, which the end of a process releases.
//   - WriteFile: a document is replaced whole or not at all.
//   - ReplaceFile: the same for what only this boot needs.
//   - ReadFile: what is no plain file, or too long, is an error and no wait.
//   - AppendLine, ReadLines: logs of one JSON object per line; a line is there
//     whole, or it is reported as broken.
//   - Sweep: what is older than its retention goes.
//
// Everything created is private: directories 0700, files 0600. All functions
// are safe for concurrent use. Errors of the file system are returned wrapped,
// without a code; the codes are named where they are returned.
package state
