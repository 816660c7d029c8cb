// Package jobstest checks a job registry and the work of its jobs.
//
// Run checks what any job promises through a jobs.Registry, whether it is kept
// in memory or by jobs.Records. Stream and Final are work of this process that
// a test controls, for what only such work can show and for the tests of other
// packages.
package jobstest
