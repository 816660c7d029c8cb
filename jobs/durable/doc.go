// Package durable keeps the jobs of a session as records in the home, where every
// process of the session finds them: ids are directories, admission is a lock,
// the model's place in the output is a cursor in the run directory, which nothing
// confined sees.
package durable
