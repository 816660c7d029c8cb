// Package plugin makes a program of parts that can be replaced while it runs.
//
// A [Plugin] says which services it needs and which it provides. A [Row] is a
// plugin with a configuration. A [Host] holds rows and keeps them in this order:
//
//   - A row is applied once every service that it needs is there, whatever the
//     order of the rows. Until then it is pending, and says what it waits for.
//   - When a row ends, the rows that use its services end first, and come back
//     with the next provider. Other rows do not notice.
//   - What a row did is undone in reverse when it ends or fails, and the undoing
//     is waited for. A row that fails leaves the others alone.
//
// A [Scope] is the lifetime that effects hang on, a [Key] names a service by
// text and type, and [Emit], [Serial] and [Waterfall] are the three kinds of
// event. All of them work without a host. The package starts no goroutine.
//
// Contexts carry which work runs: pass on the context that a function was given,
// and what would wait for itself is an error and no deadlock.
package plugin
