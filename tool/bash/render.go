package bash

import (
	"fmt"
	"strconv"
	"strings"

	"hardshell/shell"
)

// Render is the text of a finished command as a model reads it. The order is
// an interface: standard output, standard error, then one line each for a
// refused file access, the way to escalate where there is one, a timeout, what
// survived the kill, and last the signal or the nonzero status.
func Render(result *shell.Result, escalation bool) string {
	body := streamText(result.Stdout)
	if stderr := streamText(result.Stderr); stderr != "" {
		body = onOwnLine(body) + "[stderr]\n" + stderr
	}
	if body == "" {
		body = "(no output)"
	}
	if lines := markers(result, escalation); len(lines) > 0 {
		return onOwnLine(body) + strings.Join(lines, "\n")
	}
	return body
}

// render is the text of a value.
func (b *bash) render(out Output) string {
	switch out := out.(type) {
	case Foreground:
		return Render(out.Result, b.confines)
	case Background:
		return "started background job " + out.JobID
	default:
		panic(fmt.Sprintf("no text for a %T", out))
	}
}

// streamText is a stream with the note that its head is missing.
func streamText(output shell.CollectedOutput) string {
	if !output.Truncated {
		return output.Text
	}
	path := output.SpillPath
	if path == "" {
		path = "(unavailable)"
	}
	return fmt.Sprintf("%s\n[output truncated; full output: %s]", output.Text, path)
}

// onOwnLine ends a text so that what follows begins a line.
func onOwnLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func markers(result *shell.Result, escalation bool) []string {
	exit := shell.ExitMarker(result.ExitCode, result.Signal)
	var lines []string
	// A command that succeeded did not need what it was refused.
	if info := result.Sandbox; info != nil && info.Denied && (exit != "" || result.TimedOut) {
		lines = append(lines, fmt.Sprintf("[sandbox: file access denied under %s mode]", info.Mode))
		if escalation {
			lines = append(lines, escalationHint)
		}
	}
	if result.TimedOut {
		ms := strconv.FormatFloat(shell.Milliseconds(result.Timeout), 'f', -1, 64)
		lines = append(lines, fmt.Sprintf("[timed out after %sms]", ms))
	}
	if marker := survivorsMarker(result.Survivors); marker != "" {
		lines = append(lines, marker)
	}
	if exit != "" {
		lines = append(lines, exit)
	}
	return lines
}

const escalationHint = "[sandbox: escalation available — retry this exact command once with sandbox_permissions " +
	"set to the narrowest wider mode that it needs and a justification; the user is then asked to approve that one run]"

// survivorsMarker names the processes that could not be proven dead, "" when
// there are none.
func survivorsMarker(pids []int) string {
	if len(pids) == 0 {
		return ""
	}
	words := make([]string, len(pids))
	for i, pid := range pids {
		words[i] = strconv.Itoa(pid)
	}
	return "[still running after the kill: pid " + strings.Join(words, ", ") + "]"
}
