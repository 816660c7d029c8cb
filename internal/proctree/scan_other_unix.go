//go:build unix && !linux

package proctree

// process is a member of a tree: here the leader's group, which stands for all
// of its members.
type process struct {
	pid, group int
}

// visitMembers calls visit with the leader's group while it has members. Those
// who left it are not found here.
func (t *Tree) visitMembers(visit func(process) bool) { t.visitGroup(visit) }

// isMember is not asked: nothing waits for one process here.
func (t *Tree) isMember(int) bool { return true }

// waitGone reports false: here a process that is no child cannot be waited for.
func waitGone(int, func(int) bool, <-chan struct{}) bool { return false }
