package bash

import (
	"fmt"
	"strconv"
	"strings"

	"hardshell/sandbox"
	"hardshell/shell"
)

// Render is the text of a finished command as a model reads it. The order is
// an interface: standard output, standard error, then one line each for a
// refused file access, the way to escalate where there is one, a timeout, what
// survived the kill, and last the signal or the nonzero status.
func Render(result *shell.Result, escalation bool) string {
	text := body(result)
	if lines := markers(result, escalation); len(lines) > 0 {
		return onOwnLine(text) + strings.Join(lines, "\n")
	}
	return text
}

// render is the text of a value.
func (b *bash) render(out Output) string {
	switch out := out.(type) {
	case Foreground:
		return Render(out.Result, b.confines)
	case Background:
		return "started background job " + out.JobID
	case Promoted:
		return onOwnLine(body(out.Result)) + fmt.Sprintf("[still running after %dms%s%s]",
			out.Result.Duration.Milliseconds(), promotion, out.JobID)
	default:
		panic(fmt.Sprintf("no text for a %T", out))
	}
}

// promotion is in the last line of a command that became a job.
const promotion = "; continues as background job "

// tellsPromotion reports whether a text ends like that of a Promoted.
func tellsPromotion(text string) bool {
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.HasPrefix(last, "[still running after ") && strings.Contains(last, promotion)
}

// body is the two streams of a command.
func body(result *shell.Result) string {
	text := streamText(result.Stdout)
	if stderr := streamText(result.Stderr); stderr != "" {
		text = onOwnLine(text) + "[stderr]\n" + stderr
	}
	if text == "" {
		return "(no output)"
	}
	return text
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
		lines = append(lines, sandbox.DenialMarker(info.Mode))
		if escalation {
			lines = append(lines, sandbox.EscalationHint)
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
