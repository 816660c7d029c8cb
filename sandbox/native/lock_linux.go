package native

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"hardshell/internal/landlock"
	"hardshell/internal/seccomp"
	"hardshell/sandbox"
)

// lock is what takes from a process the means to undo its confinement.
type lock struct {
	keep    uint64 // capabilities that a program of root may have
	clear   bool   // take away what root would pass on: it was not born in a user namespace
	pids    uint64 // bound on the user's processes, 0 for none
	options seccomp.Options
	filter  []unix.SockFilter
	ruleset *landlock.Ruleset // nil without Landlock
}

// rootCapabilities are what builds in containers need of root, over the files and
// processes that the sandbox has.
const rootCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER |
	1<<unix.CAP_FSETID | 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID | 1<<unix.CAP_KILL

// newLock returns the lock of a plan. Nested says that its processes are in a
// user namespace of their own, whose processes are counted apart.
func newLock(pl *plan, namespace, nested bool) *lock {
	l := &lock{clear: !nested}
	if os.Geteuid() == 0 {
		l.keep = rootCapabilities
	}
	if nested {
		l.pids = uint64(pl.pids())
	}
	l.options = seccomp.Options{
		DenyPtrace: pl.policy.DenyPtrace,
		DenyIP:     !namespace && pl.policy.Network == sandbox.NetworkNone,
	}
	if namespace {
		// Whoever guessed it could have children that nobody waits for.
		var pass [8]byte
		rand.Read(pass[:]) // it never fails
		l.options.Pass = binary.LittleEndian.Uint64(pass[:]) | 1
	}
	l.filter = seccomp.Filter(l.options)
	return l
}

// shield keeps signals from a thread of this process.
func (l *lock) shield(thread int) {
	l.options.Thread = int32(thread)
	l.filter = seccomp.Filter(l.options)
}

// pids is how many processes the policy allows.
func (pl *plan) pids() int {
	if pl.policy.PIDs > 0 {
		return pl.policy.PIDs
	}
	return sandbox.DefaultPIDs
}

// lastCapability is the largest capability that the kernel knows.
var lastCapability = sync.OnceValue(func() int {
	data, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err == nil {
		if last, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && last < 64 {
			return last
		}
	}
	return unix.CAP_LAST_CAP
})
