// Package session is the event log of a durable session: what happened in it that
// is worth keeping, one JSON object a line, appended by every process that works
// for the session.
//
// The log is created with the first event. Confined commands of the session can
// read it, and change nothing.
package session
