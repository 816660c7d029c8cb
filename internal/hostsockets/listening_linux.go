package hostsockets

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"hardshell/internal/realpath"
)

// table lists the sockets of the network namespace of this process.
const table = "/proc/net/unix"

// Listening returns the real paths of the Unix sockets that were bound to an
// absolute path in this network namespace and are still there, sorted and
// without duplicates. Whether somebody listens there is not asked.
//
// It does not see sockets of other network namespaces (a container's), those
// bound to a relative path, and those that were moved since. An error means
// that nothing is known, not that there are none.
//
// A path that skip says so of is left out unseen; nil skips none.
func Listening(skip func(path string) bool) ([]string, error) {
	text, err := os.ReadFile(table)
	if err != nil {
		return nil, err
	}
	paths := parse(string(text))
	if skip != nil {
		paths = slices.DeleteFunc(paths, skip)
	}
	return existing(paths)
}

// existing returns the real paths of those of paths that are sockets. What lies
// behind a directory that this user cannot enter is left out, as others of the
// user cannot reach it either. Any other failure leaves open what is there.
func existing(paths []string) ([]string, error) {
	slices.Sort(paths)
	var sockets []string
	for _, path := range slices.Compact(paths) {
		real, err := realpath.Reach(path)
		switch {
		case err == nil:
		case realpath.LeadsNowhere(err) || errors.Is(err, fs.ErrPermission):
			continue
		default:
			return nil, err
		}
		if info, err := os.Lstat(real); err == nil && info.Mode()&fs.ModeSocket != 0 {
			sockets = append(sockets, real)
		}
	}
	slices.Sort(sockets)
	return slices.Compact(sockets), nil
}
