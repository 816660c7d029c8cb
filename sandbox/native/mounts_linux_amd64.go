package native

import (
	"strconv"

	"golang.org/x/sys/unix"

	"hardshell/internal/spawn"
)

// The child that makes a sandbox runs these steps, in this order, in its own
// mount namespace: the trees to keep are cloned while they are as the host has
// them; then everything becomes read-only; then covers and clones go over it.
// Read-only is never taken back from a mount, so that what the host has
// read-only, a submount of the workspace for instance, stays it.

// at is what a path without a base is relative to.
const at = uintptr(^uint32(99)) // AT_FDCWD, -100, as the kernel's int

// sizeofMountAttr is the size of struct mount_attr: mount_setattr(2).
const sizeofMountAttr = 32

// openHow is struct open_how of openat2(2). With RESOLVE_NO_SYMLINKS it opens a
// physical path: a link in it was put there since.
type openHow struct{ flags, _, resolve uint64 }

// mounter writes the steps of mounting into a program.
type mounter struct {
	*spawn.Program
	how spawn.Address
}

func newMounter(p *spawn.Program) *mounter {
	return &mounter{Program: p, how: spawn.Hold(p, &openHow{
		flags:   unix.O_PATH | unix.O_CLOEXEC,
		resolve: unix.RESOLVE_NO_SYMLINKS,
	})}
}

// open opens a physical path as a place.
func (m *mounter) open(path string) spawn.Result {
	return m.Call("open "+path, unix.SYS_OPENAT2, at, path, m.how, 24)
}

// clone detaches a copy of the tree at path, submounts included.
func (m *mounter) clone(path string) spawn.Result {
	place := m.open(path)
	return m.Call("open_tree "+path, unix.SYS_OPEN_TREE, place, "",
		uintptr(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE))
}

// restrict sets attributes on a detached tree, submounts included.
func (m *mounter) restrict(tree spawn.Result, path string, attributes uint64) {
	attr := spawn.Hold(m.Program, &unix.MountAttr{Attr_set: attributes})
	m.Call("mount_setattr "+path, unix.SYS_MOUNT_SETATTR, tree, "", uintptr(unix.AT_EMPTY_PATH|unix.AT_RECURSIVE), attr, sizeofMountAttr)
}

// attach puts a detached tree over what is at path.
func (m *mounter) attach(tree spawn.Result, path string) {
	place := m.open(path)
	m.Call("move_mount "+path, unix.SYS_MOVE_MOUNT, tree, "", place, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// mount mounts a new file system.
func (m *mounter) mount(kind, path string, flags uintptr, options string) {
	m.Call("mount "+kind+" on "+path, unix.SYS_MOUNT, kind, path, kind, flags|unix.MS_NOSUID, options)
}

// seal makes the mount at path read-only, submounts not.
func (m *mounter) seal(path string) {
	attr := spawn.Hold(m.Program, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	m.Call("mount_setattr "+path, unix.SYS_MOUNT_SETATTR, at, path, 0, attr, sizeofMountAttr)
}

// makeDir makes a directory in a file system of the sandbox's own.
func (m *mounter) makeDir(path string, mode int) {
	m.Try("mkdir "+path, unix.SYS_MKDIRAT, at, path, mode)
}

// makeFile makes an empty file in a file system of the sandbox's own.
func (m *mounter) makeFile(path string) {
	m.Try("mknod "+path, unix.SYS_MKNODAT, at, path, unix.S_IFREG|0o600, 0)
}

const (
	// keptTree are the attributes of trees that can be written: no set-user-ID
	// programs, no devices.
	keptTree = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	sealed   = keptTree | unix.MOUNT_ATTR_RDONLY
)

// mountAll makes the file system of the sandbox, but for /proc.
func (m *mounter) mountAll(l *layout, tempDir string) {
	m.Call("make all mounts private", unix.SYS_MOUNT, "none", "/", 0, unix.MS_REC|unix.MS_PRIVATE, 0)

	trees := make([]spawn.Result, len(l.placements))
	for i, p := range l.placements {
		switch p.kind {
		case tree:
			trees[i] = m.clone(p.from())
			m.restrict(trees[i], p.path, keptTree)
		case readOnly:
			trees[i] = m.clone(p.from())
			m.restrict(trees[i], p.path, sealed)
		case temp:
			trees[i] = m.clone(tempDir)
			m.restrict(trees[i], p.path, keptTree)
		}
	}
	nodes := make([]spawn.Result, len(devices))
	for i, name := range devices {
		nodes[i] = m.clone("/dev/" + name)
		// A device on a read-only mount can be written; its mode cannot.
		m.restrict(nodes[i], "/dev/"+name, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_RDONLY)
	}

	attributes := uint64(sealed)
	if l.rootWritable {
		attributes = keptTree
	}
	all := spawn.Hold(m.Program, &unix.MountAttr{Attr_set: attributes})
	m.Call("make everything read-only", unix.SYS_MOUNT_SETATTR, at, "/", unix.AT_RECURSIVE, all, sizeofMountAttr)
	if l.rootWritable {
		kernel := spawn.Hold(m.Program, &unix.MountAttr{Attr_set: sealed})
		m.Try("make /sys read-only", unix.SYS_MOUNT_SETATTR, at, "/sys", unix.AT_RECURSIVE, kernel, sizeofMountAttr)
	}

	m.mountDevices(nodes)
	for i, p := range l.placements {
		for _, dir := range p.parents {
			m.makeDir(dir, 0o755)
		}
		if p.file {
			m.makeFile(p.path)
		}
		switch {
		case p.kind == scratch, p.kind == coverDir && p.filled:
			m.mount("tmpfs", p.path, unix.MS_NODEV, "mode=1777")
		case p.kind == coverDir:
			m.attach(m.clone(covers+"/directory"), p.path)
		case p.kind == coverFile:
			m.attach(m.clone(covers+"/file"), p.path)
		default:
			m.attach(trees[i], p.path)
		}
	}
	for _, p := range l.placements {
		if p.kind == coverDir && p.filled {
			m.seal(p.path)
		}
	}
	m.finishDevices()
}

// covers is where an empty file and an empty directory are while covers are cloned
// from them. Nobody may open them, but for root.
const covers = "/dev/pts"

// mountDevices makes a /dev with the harmless devices alone.
func (m *mounter) mountDevices(nodes []spawn.Result) {
	m.mount("tmpfs", "/dev", unix.MS_NOEXEC, "mode=755,size=64k")
	for i, name := range devices {
		m.makeFile("/dev/" + name)
		m.attach(nodes[i], "/dev/"+name)
	}
	m.makeDir("/dev/pts", 0o755)
	m.makeDir("/dev/shm", 0o777)
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
		"stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		m.Try("symlink /dev/"+name, unix.SYS_SYMLINKAT, target, at, "/dev/"+name)
	}
	m.mount("tmpfs", covers, unix.MS_NODEV|unix.MS_NOEXEC, "mode=555,size=4k")
	m.Call("make the cover of a directory", unix.SYS_MKDIRAT, at, covers+"/directory", 0)
	m.Call("make the cover of a file", unix.SYS_MKNODAT, at, covers+"/file", unix.S_IFREG, 0)
	m.seal(covers)
}

// finishDevices gives the sandbox terminals of its own and closes /dev.
func (m *mounter) finishDevices() {
	// Not every kernel allows it; a sandbox without terminals is one too.
	m.Try("mount devpts", unix.SYS_MOUNT, "devpts", "/dev/pts", "devpts",
		uintptr(unix.MS_NOSUID|unix.MS_NOEXEC), "newinstance,ptmxmode=0666,mode=620")
	m.seal("/dev")
}

// kernelFiles are the parts of /proc through which root could change the host
// without any capability: the modes of the files are all that guards them. All
// but the first depend on how the kernel was built.
var kernelFiles = []string{
	"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
	"/proc/acpi", "/proc/scsi", "/proc/dynamic_debug", "/proc/mtrr",
}

// mountProc gives the sandbox the view of its own processes. It comes from
// inside of the pid namespace. Limit bounds the processes of that; 0 leaves them.
func (m *mounter) mountProc(limit int) {
	m.mount("proc", "/proc", unix.MS_NODEV|unix.MS_NOEXEC, "")
	if limit > 0 {
		m.limitPIDs(limit)
	}
	for i, path := range kernelFiles {
		if i == 0 {
			part := m.clone(path)
			m.restrict(part, path, sealed)
			m.attach(part, path)
			continue
		}
		// Whether it is there is seen in the new one alone.
		part := m.Try("open_tree "+path, unix.SYS_OPEN_TREE, at, path, uintptr(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC))
		attr := spawn.Hold(m.Program, &unix.MountAttr{Attr_set: sealed})
		m.Try("mount_setattr "+path, unix.SYS_MOUNT_SETATTR, part, "", unix.AT_EMPTY_PATH, attr, sizeofMountAttr)
		m.Try("move_mount "+path, unix.SYS_MOVE_MOUNT, part, "", at, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
	}
}

// limitPIDs bounds the process ids of the pid namespace, and with them the
// processes: those of root are not counted by RLIMIT_NPROC.
//
// Since Linux 6.14 each pid namespace has a pid_max of its own. Before, the file
// is the whole system's, which root may write by its mode alone. So it is opened
// as a user who owns nothing, with the capabilities of the user namespace: those
// open the namespace's own file, and not the system's. Nobody has to be an id
// that is mapped.
func (m *mounter) limitPIDs(limit int) {
	const noSetuidFixup, nobody = 1 << 2, 65534 // capabilities(7), securebits
	keep := uintptr(^uint32(0))                 // -1: leaves an id
	m.Call("keep the capabilities", unix.SYS_PRCTL, unix.PR_SET_SECUREBITS, noSetuidFixup, 0, 0, 0)
	m.Call("be nobody", unix.SYS_SETRESUID, keep, nobody, keep)
	f := m.Try("open pid_max", unix.SYS_OPENAT, at, "/proc/sys/kernel/pid_max", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	m.Call("be root again", unix.SYS_SETRESUID, keep, 0, keep)
	m.Call("let go of the capabilities", unix.SYS_PRCTL, unix.PR_SET_SECUREBITS, 0, 0, 0, 0)
	value := strconv.Itoa(max(limit, smallestPIDMax))
	m.Try("write pid_max", unix.SYS_WRITE, f, value, len(value))
}

// smallestPIDMax is the smallest value that the kernel takes: kernel/pid.c,
// pid_max_min, 301 at least.
const smallestPIDMax = 301
