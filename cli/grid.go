package cli

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// grid is rows of cells in aligned columns, of which long ones go on in the next
// line. On what is no terminal each row is one line.
type grid struct {
	indent int
	// widest is how wide a column may be on a terminal; 0 is as wide as its
	// widest cell. The last column takes the room that is left.
	widest []int
	rows   []gridRow
}

type gridRow struct {
	cells  []string
	colour string
}

// leastRoom is what the last column needs beside the others, in characters. With
// less it stands below them.
const leastRoom = 30

// leastColumn is how narrow a column may be made on a narrow terminal.
const leastColumn = 8

func (g *grid) add(cells []string, colour string) { g.rows = append(g.rows, gridRow{cells, colour}) }

func (g *grid) lines(out screen) []string {
	last := len(g.widest) - 1
	widths := make([]int, last)
	for _, row := range g.rows {
		for i, cell := range row.cells[:last] {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			if out.width > 0 && g.widest[i] > 0 {
				widths[i] = min(widths[i], g.widest[i])
			}
		}
	}
	used := g.indent
	for _, width := range widths {
		used += width + 2
	}
	room, below := out.width-used, false
	if out.width > 0 && room < leastRoom {
		below, room = true, max(out.width-g.indent-2, 1)
		for ; used-2 > out.width; used-- {
			others := widths[1:] // the first names the row
			i := slices.Index(others, slices.Max(others))
			if others[i] <= leastColumn {
				break
			}
			others[i]--
		}
	}
	var lines []string
	for n, row := range g.rows {
		columns := make([][]string, last+1)
		for i, cell := range row.cells {
			switch {
			case out.width == 0:
				columns[i] = []string{cell}
			case i < last:
				columns[i] = wrap(cell, widths[i])
			default:
				columns[i] = wrap(cell, room)
			}
		}
		under := columns[last]
		if below {
			columns[last] = nil
		}
		for _, line := range g.row(columns, widths) {
			lines = append(lines, coloured(line, row.colour, out))
		}
		if below && n > 0 {
			for _, line := range under {
				lines = append(lines, coloured(strings.Repeat(" ", g.indent+2)+line, faint, out))
			}
		}
	}
	return lines
}

// row lays one row out.
func (g *grid) row(columns [][]string, widths []int) []string {
	height := 0
	for _, column := range columns {
		height = max(height, len(column))
	}
	lines := make([]string, height)
	for n := range lines {
		var line strings.Builder
		line.WriteString(strings.Repeat(" ", g.indent))
		for i, column := range columns {
			text := ""
			if n < len(column) {
				text = column[n]
			}
			line.WriteString(text)
			if i < len(widths) {
				line.WriteString(strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(text), 0)+2))
			}
		}
		lines[n] = strings.TrimRight(line.String(), " ")
	}
	return lines
}

func coloured(line, colour string, out screen) string {
	if colour == plain || !out.colours {
		return line
	}
	return colour + line + reset
}

// wrap breaks a text into lines of at most width characters: at spaces, behind
// commas of a list, and where there is no other way anywhere.
func wrap(text string, width int) []string {
	var lines []string
	rest := []rune(text)
	for len(rest) > width {
		cut, skip := width, 0
		for i := width; i > 0; i-- {
			if rest[i] == ' ' {
				cut, skip = i, 1
				break
			}
			if rest[i-1] == ',' {
				cut = i
				break
			}
		}
		lines = append(lines, string(rest[:cut]))
		rest = rest[cut+skip:]
	}
	return append(lines, string(rest))
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
