// Package jobs is the registry of background jobs: their identity, who owns
// them, how many there may be, how their output is read and their end told.
//
// It promises:
//
//   - An id is <kind>-<n>, numbered from 1 per kind, and never given twice. A
//     start that fails uses none up.
//   - A job settles once, as completed, killed or failed. Whoever waits is told
//     before the listeners are, and the record is written before either.
//   - Ids can be guessed: every access says who asks, and another session's job
//     is refused before anything else is looked at.
//   - One cursor per job hands every byte to the model at most once. Reads by
//     offset never move it.
//   - What a registry started in this process ends with it. What Records keeps
//     outlives it, and is found again by the next registry of the session.
//
// Times are milliseconds since the epoch, as they cross every face; sizes are
// bytes.
package jobs
