// Package landlock makes Landlock rulesets: see landlock(7) and the kernel's
// Documentation/userspace-api/landlock.rst. A ruleset is a descriptor; the
// process or thread that is to be restricted applies it.
//
// A right that a ruleset handles is denied except beneath the paths that have it
// as a rule. There is no rule that takes away, and descriptors that are already
// open keep what they could.
package landlock
