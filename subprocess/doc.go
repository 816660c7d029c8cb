// Package subprocess is the seam that owns child processes: spawning, standard
// streams, bounded output, the environment, the end of a whole process tree.
//
// It promises:
//
//   - Nothing is defaulted: a Spec states every stream, limit and grace.
//   - Every child leads a session and a group of its own, without a terminal,
//     and gets the descriptors 0, 1, 2 and what the Spec adds, nothing else.
//   - Streams are pipes. A collected stream costs its cap in memory (bytes),
//     whatever its length; readers are any number and never consume.
//   - Terminate means the tree: SIGTERM, the grace, SIGKILL. What could not be
//     proven dead is named by Survivors, never hidden.
//   - Close is quiet when it returns: every tree dead, every file sealed.
//
// Sizes are bytes, offsets count from the start of a stream.
package subprocess
