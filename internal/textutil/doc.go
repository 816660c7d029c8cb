// Package textutil turns the bytes of a stream, which may be cut anywhere and
// hold anything, into text.
//
// All functions are pure, never fail and are safe for concurrent use.
package textutil
