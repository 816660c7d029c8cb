// Package shell is the seam through which commands are run: a request is
// resolved to a spec, and a spec is run in the foreground or started in the
// background.
//
// It promises:
//
//   - Run fails only for infrastructure: a bad workdir, no shell, no sandbox. A
//     nonzero exit, a timeout and an abort are results.
//   - Outcomes are independent fields: a command can time out and exit 0.
//     TimedOut and Aborted name the first cause and are never both true.
//   - Start returns at once, has no timeout, and its Done always comes; a
//     command that could not be spawned settles as killed with the reason on
//     its standard error.
//   - ReadOutput delivers every byte at most once and says when it lost some.
//
// The exit markers of a rendered result, and their inverse, live here, because
// every shell tool shares them. Durations are time.Duration, sizes bytes.
package shell
