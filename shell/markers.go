package shell

import (
	"fmt"
	"strconv"
	"strings"
)

// ExitMarker is the line that ends a rendered result: the signal that killed
// the command, or its nonzero exit status; "" for a clean exit and when
// neither is known.
func ExitMarker(exitCode *int, signal string) string {
	switch {
	case signal != "":
		return fmt.Sprintf("[killed by signal: %s]", signal)
	case exitCode != nil && *exitCode != 0:
		return fmt.Sprintf("[exit code: %d]", *exitCode)
	default:
		return ""
	}
}

// ParsedExitStatus is a rendered text taken apart.
type ParsedExitStatus struct {
	// Body is the text before the marker, without the newline that precedes it.
	Body string
	// ExitCode is 0 when there is no marker. It is meaningless with a Signal.
	ExitCode int
	Signal   string
}

// ParseExitStatus is the inverse of ExitMarker at the very end of a text. It
// cannot tell a marker from output that looks like one: it is for texts of
// which the structured result is lost.
func ParseExitStatus(text string) ParsedExitStatus {
	if body, value, ok := cutMarker(text, "\n[killed by signal: "); ok && value != "" {
		return ParsedExitStatus{Body: body, Signal: value}
	}
	if body, value, ok := cutMarker(text, "\n[exit code: "); ok && isDigits(value) {
		if code, err := strconv.Atoi(value); err == nil {
			return ParsedExitStatus{Body: body, ExitCode: code}
		}
	}
	return ParsedExitStatus{Body: text}
}

// cutMarker splits text before a last line that begins with prefix (a newline
// and an opening) and ends the text with "]".
func cutMarker(text, prefix string) (body, value string, ok bool) {
	i := strings.LastIndex(text, prefix)
	if i < 0 {
		return "", "", false
	}
	value, ok = strings.CutSuffix(text[i+len(prefix):], "]")
	if !ok || strings.ContainsAny(value, "]\n") {
		return "", "", false
	}
	return text[:i], value, true
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
