package sandbox

import "fmt"

// EscalationHint is the line after a denial where a wider mode can be asked
// for.
const EscalationHint = "[sandbox: escalation available — retry this exact command once with sandbox_permissions " +
	"set to the narrowest wider mode that it needs and a justification; the user is then asked to approve that one run]"

// DenialMarker is the line that tells a model that a command failed and was
// refused a file operation.
func DenialMarker(mode Mode) string {
	return fmt.Sprintf("[sandbox: file access denied under %s mode]", mode)
}

// RunnerFailureMarker is the line that tells a model that a command never ran,
// because its sandbox could not be set up.
func RunnerFailureMarker(mode Mode) string {
	return fmt.Sprintf("[sandbox: the sandbox runner itself failed under %s mode — the command did not run; "+
		"this is a problem of the sandbox, not of the command]", mode)
}
