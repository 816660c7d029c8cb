package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// table is rows of cells in aligned columns, the first row being the heading.
// The last column takes the room that is left.
type table struct {
	rows [][]cell
}

// cell is one line of text, with the escape sequence of its colour.
type cell struct{ text, colour string }

// The colours of cells.
const (
	plain  = ""
	faint  = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// lines lays the table out for an output: in its width and colours.
func (t *table) lines(out screen) []string {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	lines := make([]string, len(t.rows))
	for n, row := range t.rows {
		var line strings.Builder
		used := 0
		for i, c := range row {
			text, pad := c.text, ""
			if i == len(row)-1 {
				if out.width > 0 {
					text = cut(text, max(out.width-used, 1))
				}
			} else {
				pad = strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+2)
			}
			used += widths[i] + 2
			if c.colour != plain && out.colours {
				text = c.colour + text + reset
			}
			line.WriteString(text + pad)
		}
		lines[n] = strings.TrimRight(line.String(), " ")
	}
	return lines
}

// print prints the table.
func (t *table) print(out screen) error {
	for _, line := range t.lines(out) {
		if _, err := io.WriteString(out.w, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// screen is where a table is printed. Width and height are in characters, 0 for
// what is no terminal.
type screen struct {
	w             io.Writer
	width, height int
	colours       bool
}

// screen examines standard output.
func (a *app) screen() screen {
	s := screen{w: a.streams.Out}
	if out, ok := a.streams.Out.(*sink); ok {
		s.width, s.height = terminalSize(out.w)
	}
	// https://no-color.org: any value but the empty one.
	s.colours = s.width > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// clean makes a text one line that a terminal shows as it is.
func clean(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// cut is a text of at most n characters.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// spanText is a time of which the two largest parts matter.
func spanText(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 60*60:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 24*60*60:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}

// sizeText is a number of bytes of which the size matters.
func sizeText(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/(1<<10), 0
	for size >= 1000 && unit < len(units)-1 {
		size, unit = size/(1<<10), unit+1
	}
	if size < 10 {
		return fmt.Sprintf("%.1f %ciB", size, units[unit])
	}
	return fmt.Sprintf("%.0f %ciB", size, units[unit])
}
