// Package cli is the command line: it parses, hands over to the library, and
// prints. Results go to standard output, everything for a person to standard
// error.
package cli
