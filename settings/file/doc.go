// Package file is the settings.Provider over one YAML or JSON file that its user
// owns and edits, and that any number of processes write at the same time.
//
//   - A write holds a kernel lock in the home's run directory, reads the file
//     again, and replaces it whole: a crash at any moment leaves the old file or
//     the new one, and the next writer does not wait for the dead.
//   - A write changes the bytes of the edited values only. What another program
//     wrote before it is taken in first, and never overwritten unseen.
//   - A file that is still being written by an editor is read, and written, only
//     when it has come to rest: unchanged for the debounce, 2 s at most. One that
//     is empty or gone must stay so for 500 ms.
//   - A file that cannot be read or parsed is refused by Open and by writes, and
//     otherwise leaves the settings as they were.
//   - A link is followed: its target is replaced and watched, and the link stays.
//   - Revisions are kept beside the lock: see the ledger in ledger.go.
//
// Processes that share a file must share a home: the lock is in the home, where
// no confined command can take it. Other hard links to the file keep the old
// content.
package file
