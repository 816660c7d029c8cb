// Package subprocesstest is the conformance suite of the seam subprocess.
//
// It knows nothing but the seam: every check spawns real children through a
// Runtime and looks at what the seam promises about them, with /proc as its
// witness for what lives and what is gone. The children are bash scripts and
// the ordinary tools of a POSIX system.
//
// Each check finds its own processes by a marker that no other process of the
// machine carries, and leaves none behind, also when it fails.
package subprocesstest
