//go:build !unix

package state

const appendFlags = 0
