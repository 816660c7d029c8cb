package hostsockets

import "strings"

// maxPath is the size of sun_path: unix(7).
const maxPath = 108

// parse returns what may be the paths of the sockets in the text of
// /proc/net/unix (proc_net(5)), in its order.
//
// The kernel writes paths as they are, newlines included, so a line that looks
// like a socket of its own may be the rest of a path. Both readings are
// returned; only one of them exists.
func parse(text string) []string {
	var paths []string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		path, ok := pathOf(line)
		if !ok {
			continue
		}
		for next := i + 1; len(path) <= maxPath; next++ {
			paths = append(paths, path)
			if next >= len(lines) {
				break
			}
			path += "\n" + lines[next]
		}
	}
	return paths
}

// pathOf returns the path in a line of the table, if it is absolute. A line is
//
//	Num: RefCount Protocol Flags Type St Inode Path
//
// and its numbers are hexadecimal, but for the last one.
func pathOf(line string) (string, bool) {
	number, rest, ok := strings.Cut(line, ": ")
	if !ok || !isNumber(number) {
		return "", false
	}
	for range 6 {
		// The inode is padded to five places.
		rest = strings.TrimLeft(rest, " ")
		if number, rest, ok = strings.Cut(rest, " "); !ok || !isNumber(number) {
			return "", false
		}
	}
	return rest, strings.HasPrefix(rest, "/")
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == "" }
