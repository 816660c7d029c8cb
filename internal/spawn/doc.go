// Package spawn starts child processes, waits for them and marks them.
//
// Every child leads a new session (and so a group) without a controlling
// terminal, and receives the descriptors that its Attr lists and no others. A
// failure is reported with the stage that failed. Waiting costs no thread where
// the kernel has pidfds: the runtime's poller waits.
//
// A child can carry a tag, by which every process that descends from it is
// found again, however it changed its group, its session, its parent or its
// environment. See Tags.
package spawn
