//go:build linux

package seccomp

var archRefusedByName = map[uint32]string{}

var unusedNumbers = [][2]uint32{{244, 259}, {295, 423}}
