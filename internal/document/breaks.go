package document

import (
	"bytes"
	"fmt"
	"strings"
)

// oldBreaks end a line in YAML 1.1, which the parser reads, and are characters
// like any other since 1.2 (section 5.4).
var oldBreaks = [...]rune{'\u0085', '\u2028', '\u2029'}

// withoutOldBreaks has the old line breaks of text stand as characters of the same
// size that mean nothing, and returns what puts them back: nil when there are none.
// It is not ok when text leaves no character for that.
func withoutOldBreaks(text []byte) (masked []byte, back *strings.Replacer, ok bool) {
	var there, behind []string
	lower := ""
	for _, old := range oldBreaks {
		if !bytes.ContainsRune(text, old) {
			continue
		}
		if lower == "" {
			lower = strings.ToLower(string(text))
		}
		first, last := '\u0100', '\u07ff' // two bytes, and not to be written as \xNN
		if old > last {
			first, last = '\ue000', '\uf8ff' // three bytes, for private use
		}
		for standIn := first; ; standIn++ {
			if standIn > last {
				return nil, nil, false
			}
			free := !strings.ContainsRune(lower, standIn) && !bytes.ContainsRune(text, standIn) &&
				!strings.Contains(lower, fmt.Sprintf("%04x", standIn)) // nor as an escape
			if free && !strings.Contains(strings.Join(behind, ""), string(standIn)) {
				there, behind = append(there, string(old), string(standIn)), append(behind, string(standIn))
				break
			}
		}
	}
	if there == nil {
		return text, nil, true
	}
	var reverse []string
	for i := 0; i < len(there); i += 2 {
		reverse = append(reverse, there[i+1], there[i])
	}
	return []byte(strings.NewReplacer(there...).Replace(string(text))), strings.NewReplacer(reverse...), true
}
