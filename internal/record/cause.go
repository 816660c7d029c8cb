package record

// The values of Status.Cause.
const (
	CauseStopped = "stopped" // somebody asked for the end
	CauseRuntime = "runtime" // it ran for too long
	CauseSilence = "silence" // it wrote nothing for too long
	CauseMemory  = "memory"  // its processes held too much
	CauseOutput  = "output"  // it wrote too much
	CauseLost    = "lost"    // who looked after it died: how it ended is not known
)

// Limit is the cause of a command that passed a limit of its Ask, else "".
func (s *Status) Limit() string {
	switch s.Cause {
	case CauseRuntime, CauseSilence, CauseMemory, CauseOutput:
		return s.Cause
	}
	return ""
}
