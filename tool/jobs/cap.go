package jobs

import (
	"strings"
	"unicode/utf8"

	"hardshell/internal/textutil"
)

// What tells that something was cut. Every cap counts UTF-8 bytes, 0 is none,
// and no character is ever cut apart.
const (
	outputTruncated = "\n[output truncated]"
	resultTruncated = "\n[result truncated]"
	noticeTruncated = "\n[notice truncated]"
	noticeAction    = "\nDone; job_output."
)

// capOutput is a job's output with its status, in at most limit bytes. The end of
// the output stays, and the status as long as it fits.
func capOutput(body, status string, limit int64) string {
	text := onOwnLine(body) + status
	if fits(text, limit) {
		return text
	}
	body = strings.TrimSuffix(strings.TrimSuffix(body, "\n"), outputTruncated)
	return tailBefore(body, outputTruncated+"\n"+status, limit)
}

// capBody is output alone, in at most limit bytes.
func capBody(body string, limit int64) string { return capTail(body, outputTruncated, limit) }

// capResult is any other text, in at most limit bytes.
func capResult(text string, limit int64) string { return capTail(text, resultTruncated, limit) }

// capNotice is a notice in at most limit bytes: the head, which names the job,
// the detail as far as it fits, and what to do.
func capNotice(head, detail string, limit int64) string {
	full := head + detail
	if fits(full, limit) {
		return full
	}
	fixed := int64(len(noticeTruncated) + len(noticeAction))
	switch room := limit - int64(len(head)); {
	case room > fixed:
		return head + headOf(detail, room-fixed) + noticeTruncated + noticeAction
	case room >= int64(len(noticeAction)):
		return head + noticeAction
	case limit >= int64(len(noticeAction)):
		return headOf(head, limit-int64(len(noticeAction))) + noticeAction
	default:
		return tailOf(noticeAction, limit)
	}
}

func capTail(text, marker string, limit int64) string {
	if fits(text, limit) {
		return text
	}
	return tailBefore(text, marker, limit)
}

// tailBefore is the end of a text and a suffix, or the end of the suffix where
// there is no room for more.
func tailBefore(text, suffix string, limit int64) string {
	if room := limit - int64(len(suffix)); room >= 0 {
		return tailOf(text, room) + suffix
	}
	return tailOf(suffix, limit)
}

func fits(text string, limit int64) bool { return limit <= 0 || int64(len(text)) <= limit }

// tailOf is the last bytes of a text, n at most.
func tailOf(text string, n int64) string {
	if int64(len(text)) <= n {
		return text
	}
	return string(textutil.TrimLeadingContinuation([]byte(text[int64(len(text))-n:])))
}

// headOf is the first bytes of a text, n at most.
func headOf(text string, n int64) string {
	if int64(len(text)) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
