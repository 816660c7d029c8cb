package proctree

import (
	"bytes"
	"os"
	"strconv"

	"hardshell/internal/procfs"
)

// Memory is how many bytes the living members of the tree hold that they do not
// share with a file: proc_pid_statm(5), resident less shared. What a process has
// in common with its children since it forked counts for each of them.
func (t *Tree) Memory() int64 {
	var total int64
	buf := make([]byte, 256)
	seen := map[int]bool{} // a look may meet one twice
	t.find(func(p process) bool {
		if seen[p.pid] {
			return true
		}
		seen[p.pid] = true
		if statm, err := procfs.Read(p.pid, "statm", buf); err == nil {
			if fields := bytes.Fields(statm); len(fields) > 2 {
				resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
				shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
				total += (resident - shared) * int64(os.Getpagesize())
			}
		}
		return true
	})
	return total
}
