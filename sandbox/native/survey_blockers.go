package native

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hardshell/sandbox"
)

// facts are what is known of a host that may stand in the way of a tier. A
// setting of the kernel is -1 where the kernel has none.
type facts struct {
	kernel, version, arch string
	unsupported           string // the name of a system that is not Linux
	root                  bool
	fastSpawn, portable   bool

	usernsClone, maxUserns, apparmor, memfdNoexec int
	apparmorLabel, lsm                            string
	executable                                    string

	docker, podman, kubernetes bool
	seccomp, noNewPrivs        bool
	maskedProc                 bool

	landlockABI int
	landlock    error // of the question for the ABI
}

// landlockState is why there is no Landlock.
type landlockState int

const (
	landlockWorks landlockState = iota
	landlockMissing
	landlockDisabled
	landlockRefused
)

// container names the kind of container that the host seems to be.
func (f *facts) container() string {
	switch {
	case f.kubernetes:
		return "kubernetes"
	case f.docker:
		return "docker"
	case f.podman:
		return "podman"
	case strings.Contains(f.version, "gVisor"):
		return "gvisor"
	default:
		return ""
	}
}

// blockers says what stands in the way of the tiers that do not work. A property
// of the host that hinders no tier is no blocker. The tiers are those of Survey.
func (f *facts) blockers(tiers []TierSurvey) []Blocker {
	failed := func(tier sandbox.Tier) bool {
		return slices.ContainsFunc(tiers, func(t TierSurvey) bool { return t.Tier == tier && !t.Works })
	}
	list := []Blocker{}
	add := func(b Blocker, tiers ...sandbox.Tier) {
		for _, tier := range tiers {
			if failed(tier) {
				b.Tiers = append(b.Tiers, tier)
			}
		}
		if len(b.Tiers) > 0 {
			list = append(list, b)
		}
	}
	if f.unsupported != "" {
		add(Blocker{ID: "unsupported-system", Cause: "Only Linux is supported by this version, and this is " + f.unsupported + ".",
			Fix: "Run hardshell in a Linux virtual machine or in WSL 2, or choose --mode danger-full-access to run without confinement."},
			Tiers()...)
		return list
	}
	const users, root, landlock = sandbox.TierNamespaces, sandbox.TierRoot, sandbox.TierLandlock
	f.spawnBlockers(func(b Blocker) { add(b, users, root) })
	if failed(users) {
		f.usernsBlockers(func(b Blocker) { add(b, users) })
	}
	if !f.root {
		add(Blocker{ID: "not-root", Cause: "Only root can make namespaces without a user namespace."}, root)
	}
	if f.fastSpawn || !f.portable && f.arch == "amd64" { // else they were not tried
		f.containerBlockers(func(b Blocker) { add(b, users, root) })
	}
	f.landlockBlocker(func(b Blocker) { add(b, landlock) })
	return list
}

// spawnBlockers are about how children are started.
func (f *facts) spawnBlockers(add func(Blocker)) {
	switch {
	case f.fastSpawn:
	case f.portable:
		add(Blocker{ID: "portable-spawn", Cause: "HARDSHELL_SPAWN=portable is set: children are started by a way that cannot enter namespaces.",
			Fix: "Remove the variable.", Commands: []string{"unset HARDSHELL_SPAWN"}})
	case f.arch != "amd64":
		add(Blocker{ID: "architecture", Cause: "Namespaces are supported on linux/amd64 only by this version, and this is linux/" + f.arch + "."})
	default:
		add(Blocker{ID: "fast-spawn", Cause: "The kernel, or a filter of system calls, refuses the way of starting children that namespaces need."})
	}
	if f.memfdNoexec > 0 {
		add(Blocker{ID: "memfd-noexec",
			Cause: fmt.Sprintf("vm.memfd_noexec is %d: the process that holds a sandbox is started from memory, which this refuses.", f.memfdNoexec),
			Fix:   "Allow it. In a container the setting is the container's own.", Commands: persistent("vm.memfd_noexec", "0")})
	}
	if major, minor, ok := kernelVersion(f.kernel); ok && (major < 5 || major == 5 && minor < 12) {
		add(Blocker{ID: "old-kernel", Cause: fmt.Sprintf("The kernel %s is older than 5.12, which has the mount_setattr that namespaces need.", f.kernel),
			Fix: "Use a newer kernel."})
	}
	if strings.Contains(f.version, "Microsoft") && !strings.Contains(f.version, "WSL2") && !strings.Contains(f.version, "microsoft-standard") {
		add(Blocker{ID: "wsl1", Cause: "WSL 1 has neither namespaces nor Landlock.", Fix: "Convert the distribution to WSL 2, from Windows.",
			Commands: []string{"wsl --set-version <distribution> 2"}})
	}
}

// usernsBlockers are the settings that refuse user namespaces.
func (f *facts) usernsBlockers(add func(Blocker)) {
	if f.maxUserns == 0 {
		add(Blocker{ID: "max-user-namespaces", Cause: "user.max_user_namespaces is 0: nobody can make a user namespace.",
			Fix: "Allow some.", Commands: persistent("user.max_user_namespaces", "15000")})
	}
	if f.usernsClone == 0 && !f.root {
		add(Blocker{ID: "unprivileged-userns-clone", Cause: "kernel.unprivileged_userns_clone is 0: only root can make a user namespace.",
			Fix: "Allow it to all users.", Commands: persistent("kernel.unprivileged_userns_clone", "1")})
	}
	if f.apparmor == 1 && !f.root && f.executable != "" {
		add(Blocker{ID: "apparmor-userns",
			Cause:    "AppArmor lets only programs with a profile that says so use user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1).",
			Fix:      "Install a profile for " + f.executable + ", and start hardshell anew. It allows user namespaces to this one program and restricts nothing else.",
			Commands: apparmorProfile(f.executable)})
	}
}

// apparmorProfile writes and loads a profile that allows a program to use user
// namespaces: apparmor.d(5), "userns".
func apparmorProfile(executable string) []string {
	return []string{
		"sudo tee /etc/apparmor.d/hardshell <<'EOF'",
		" abi <abi/4.0>,",
		" include <tunables/global>",
		" profile hardshell " + apparmorPath(executable) + " flags=(unconfined) {",
		"   userns,",
		"   include if exists <local/hardshell>",
		" }",
		"EOF",
		"sudo apparmor_parser -r /etc/apparmor.d/hardshell",
	}
}

// apparmorPath writes a path for a profile: what its patterns would read
// otherwise is escaped.
func apparmorPath(path string) string {
	return `"` + regexp.MustCompile(`[][\\*?{}^"]`).ReplaceAllString(path, `\$0`) + `"`
}

// containerBlockers are about what the surroundings took from this process.
func (f *facts) containerBlockers(add func(Blocker)) {
	switch kind := f.container(); {
	case kind == "docker":
		add(Blocker{ID: "container",
			Cause:    "This seems to be a Docker container: by default its filter of system calls refuses namespaces, its AppArmor profile mounts, and its covers of /proc a new /proc.",
			Fix:      "Start it with all three lifted, and only if you trust what else runs in it: they protect the host from the whole container. The tier landlock needs none of it.",
			Commands: []string{"docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …"}})
	case kind == "podman":
		add(Blocker{ID: "container",
			Cause:    "This seems to be a podman container: by default its covers of /proc refuse a new /proc, and its filter of system calls may refuse namespaces.",
			Fix:      "Start it with both lifted, and only if you trust what else runs in it. The tier landlock needs none of it.",
			Commands: []string{"podman run --security-opt unmask=ALL --security-opt seccomp=unconfined …"}})
	case kind == "kubernetes":
		add(Blocker{ID: "container",
			Cause: "This seems to be a Kubernetes pod: its filter of system calls or its covers of /proc refuse namespaces.",
			Fix:   "If the cluster's policy allows it, give the pod hostUsers: false and the container the securityContext seccompProfile.type: Unconfined and procMount: Unmasked. The tier landlock needs none of it."})
	case f.seccomp && f.noNewPrivs:
		add(Blocker{ID: "nested", Cause: "This process is in a sandbox already (a filter of system calls and no_new_privs are set), which may refuse namespaces.",
			Fix: "Start hardshell outside of that sandbox, or leave it: what that sandbox refuses stays refused."})
	case f.seccomp:
		add(Blocker{ID: "seccomp", Cause: "A filter of system calls is set on this process (Seccomp: 2 in /proc/self/status), as containers and services do, which may refuse namespaces.",
			Fix: "Allow clone and unshare with CLONE_NEWUSER, setns, mount and pivot_root in it. For a systemd service, remove RestrictNamespaces= and SystemCallFilter=."})
	case f.maskedProc:
		add(Blocker{ID: "masked-proc", Cause: "Something is mounted over parts of /proc, so that a new /proc cannot be mounted.",
			Fix: "Remove those mounts where they are made: see grep ' /proc/' /proc/self/mountinfo. For a systemd service, remove ProtectKernelTunables= and ProtectProc=."})
	}
}

// landlockBlocker says why there is no Landlock.
func (f *facts) landlockBlocker(add func(Blocker)) {
	switch landlockCause(f.landlock) {
	case landlockMissing:
		add(Blocker{ID: "landlock-missing", Cause: "The kernel " + f.kernel + " was built without Landlock, or a filter of system calls does not know it.",
			Fix: "Use a kernel from 5.13 on with CONFIG_SECURITY_LANDLOCK, and in a container a newer container engine."})
	case landlockDisabled:
		list := "landlock"
		if f.lsm != "" {
			list += "," + f.lsm
		}
		add(Blocker{ID: "landlock-disabled", Cause: "The kernel has Landlock, but was booted without it.",
			Fix: "Add the boot parameter lsm=" + list + " and start the machine anew. With GRUB on Debian and Ubuntu:",
			Commands: []string{
				`echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX lsm=` + list + `"' | sudo tee /etc/default/grub.d/landlock.cfg`,
				"sudo update-grub && sudo reboot",
			}})
	case landlockRefused:
		add(Blocker{ID: "landlock-refused", Cause: fmt.Sprintf("A filter of system calls refuses Landlock (%v).", f.landlock),
			Fix: "Allow landlock_create_ruleset, landlock_add_rule and landlock_restrict_self in it; the default filters of Docker and podman do."})
	}
}

// persistent sets a setting of the kernel now and at each start.
func persistent(name, value string) []string {
	return []string{
		"sudo sysctl -w " + name + "=" + value,
		"echo '" + name + " = " + value + "' | sudo tee -a /etc/sysctl.d/60-hardshell.conf",
	}
}

// kernelVersion reads the first two numbers of a release.
func kernelVersion(release string) (major, minor int, ok bool) {
	numbers := strings.SplitN(release, ".", 3)
	if len(numbers) < 2 {
		return 0, 0, false
	}
	major, err := strconv.Atoi(numbers[0])
	if err != nil {
		return 0, 0, false
	}
	digits := strings.IndexFunc(numbers[1], func(r rune) bool { return r < '0' || r > '9' })
	if digits >= 0 {
		numbers[1] = numbers[1][:digits]
	}
	minor, err = strconv.Atoi(numbers[1])
	return major, minor, err == nil
}
