package jobs

import (
	"fmt"
	"strconv"
	"strings"

	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/subprocess"
)

// Detail says how the job of a settled command ended, and in a few words why.
// Any exit status is a completed job; a command that never ran is a failed one.
func Detail(state shell.ProcessState) (Status, string) {
	switch {
	case state.Sandbox != nil && state.Sandbox.RunnerFailed:
		return Failed, "the sandbox runner failed under " + string(state.Sandbox.Mode) + " mode"
	case state.Failure != nil:
		return Failed, "spawn failed: " + strings.Join(strings.Fields(state.Failure.Error()), " ")
	case state.Limit != "":
		return Killed, limitDetail(state.Limit) + survivors(state.Survivors)
	case state.Status == shell.Killed && state.Signal != "":
		return Killed, "signal: " + state.Signal + survivors(state.Survivors)
	case state.Status == shell.Killed:
		return Killed, "killed before exit" + survivors(state.Survivors)
	case state.ExitCode == nil:
		return Completed, "exit code: 0"
	}
	return Completed, "exit code: " + strconv.Itoa(*state.ExitCode)
}

// limitDetail says which limit ended a command.
func limitDetail(limit subprocess.Limit) string {
	switch limit {
	case subprocess.LimitRuntime:
		return "timed out"
	case subprocess.LimitSilence:
		return "no output for too long"
	case subprocess.LimitMemory:
		return "used too much memory"
	case subprocess.LimitOutput:
		return "wrote too much output"
	}
	return "passed the limit of " + string(limit)
}

// survivors names processes that could not be proven dead.
func survivors(pids []int) string {
	if len(pids) == 0 {
		return ""
	}
	words := make([]string, len(pids))
	for i, pid := range pids {
		words[i] = strconv.Itoa(pid)
	}
	return "; still running: pid " + strings.Join(words, ", ")
}

// Notes are the lines that tell a model what its sandbox did to a command, ""
// for nothing. Failed says that the command did not succeed: one that did, did
// not need what it was refused. With escalation a denial is followed by the way
// to ask for more.
func Notes(info *sandbox.Info, failed, escalation bool) string {
	switch {
	case info == nil:
		return ""
	case info.RunnerFailed:
		return sandbox.RunnerFailureMarker(info.Mode)
	case info.Denied && failed && escalation:
		return sandbox.DenialMarker(info.Mode) + "\n" + sandbox.EscalationHint
	case info.Denied && failed:
		return sandbox.DenialMarker(info.Mode)
	}
	return ""
}

// Unsuccessful reports whether a settled command did not succeed, as Notes
// wants to know.
func Unsuccessful(state shell.ProcessState) bool {
	return state.Status == shell.Killed || state.ExitCode != nil && *state.ExitCode != 0
}

// LossNote is the line that says that output was dropped before it was read, and
// which files have the whole of it. Empty paths are none.
func LossNote(paths ...string) string {
	var there []string
	for _, path := range paths {
		if path != "" {
			there = append(there, path)
		}
	}
	if len(there) == 0 {
		there = []string{"(unavailable)"}
	}
	return fmt.Sprintf("[some output was dropped from memory; full output: %s]", strings.Join(there, ", "))
}

// Merge puts new standard error under its heading after new standard output.
func Merge(stdout, stderr string) string {
	if stderr == "" {
		return stdout
	}
	return OnOwnLine(stdout, stderrHeading+stderr)
}

const stderrHeading = "[stderr]\n"

// OnOwnLine appends a line to a text, "" for none. The line begins a line, and
// no newline follows it.
func OnOwnLine(text, line string) string {
	if line == "" {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + line
}
