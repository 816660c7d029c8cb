package native

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hardshell/sandbox"
)

// nothing is a host whose settings stand in nobody's way.
func nothing() facts {
	return facts{
		kernel: "6.8.0-45-generic", arch: "amd64", fastSpawn: true,
		usernsClone: -1, maxUserns: 15000, apparmor: -1, memfdNoexec: 0,
		executable: "/opt/hardshell", landlockABI: 4,
	}
}

// tried is the outcome of a survey: which tiers work.
func tried(works ...sandbox.Tier) []TierSurvey {
	var list []TierSurvey
	for _, tier := range Tiers() {
		list = append(list, TierSurvey{Tier: tier, Works: slices.Contains(works, tier)})
	}
	return list
}

func TestBlockersNameWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	const users, root, landlock = sandbox.TierNamespaces, sandbox.TierRoot, sandbox.TierLandlock
	for _, c := range []struct {
		name  string
		facts func(*facts)
		works []sandbox.Tier
		want  string // the ids
		says  []string
	}{
		{"nothing where all works", func(f *facts) { f.apparmor, f.docker, f.maxUserns, f.landlock = 1, true, 0, unix.ENOSYS }, Tiers(), "", nil},
		{"that one is not root", func(f *facts) {}, []sandbox.Tier{users, landlock}, "not-root", nil},
		{"a switched off sysctl", func(f *facts) { f.usernsClone = 0 }, []sandbox.Tier{landlock}, "unprivileged-userns-clone not-root",
			[]string{"sudo sysctl -w kernel.unprivileged_userns_clone=1"}},
		{"which does not bind root", func(f *facts) { f.usernsClone, f.root = 0, true }, []sandbox.Tier{landlock}, "", nil},
		{"a count of none", func(f *facts) { f.maxUserns, f.root = 0, true }, []sandbox.Tier{root, landlock}, "max-user-namespaces",
			[]string{"sudo sysctl -w user.max_user_namespaces=15000", "/etc/sysctl.d/60-hardshell.conf"}},
		{"AppArmor", func(f *facts) { f.apparmor = 1 }, []sandbox.Tier{landlock}, "apparmor-userns not-root",
			[]string{`profile hardshell "/opt/hardshell" flags=(unconfined) {`, "sudo apparmor_parser -r /etc/apparmor.d/hardshell"}},
		{"Docker", func(f *facts) { f.docker, f.seccomp, f.root = true, true, true }, []sandbox.Tier{landlock}, "container",
			[]string{"--security-opt seccomp=unconfined", "systempaths=unconfined"}},
		{"podman", func(f *facts) { f.podman, f.root = true, true }, []sandbox.Tier{landlock}, "container", []string{"unmask=ALL"}},
		{"Kubernetes, which runs either", func(f *facts) { f.kubernetes, f.docker, f.root = true, true, true }, []sandbox.Tier{landlock}, "container", []string{"procMount: Unmasked"}},
		{"another sandbox", func(f *facts) { f.seccomp, f.noNewPrivs, f.root = true, true, true }, []sandbox.Tier{landlock}, "nested", nil},
		{"a service's filter", func(f *facts) { f.seccomp, f.root = true, true }, []sandbox.Tier{landlock}, "seccomp", []string{"RestrictNamespaces="}},
		{"covers of /proc", func(f *facts) { f.maskedProc, f.root = true, true }, []sandbox.Tier{landlock}, "masked-proc", nil},
		{"memory that cannot be run", func(f *facts) { f.memfdNoexec, f.root = 2, true }, []sandbox.Tier{landlock}, "memfd-noexec", []string{"sudo sysctl -w vm.memfd_noexec=0"}},
		{"an old kernel", func(f *facts) { f.kernel, f.root, f.landlock = "5.4.0-200-generic", true, unix.ENOSYS }, nil, "old-kernel landlock-missing", []string{"5.13"}},
		{"a kernel without Landlock", func(f *facts) { f.landlock = unix.ENOSYS }, []sandbox.Tier{users, root}, "landlock-missing", []string{"CONFIG_SECURITY_LANDLOCK"}},
		{"one that was booted without", func(f *facts) { f.landlock, f.lsm = unix.EOPNOTSUPP, "capability,yama" }, []sandbox.Tier{users, root}, "landlock-disabled", []string{"lsm=landlock,capability,yama"}},
		{"a filter that refuses Landlock", func(f *facts) { f.landlock = unix.EPERM }, []sandbox.Tier{users, root}, "landlock-refused", []string{"operation not permitted"}},
		{"an architecture", func(f *facts) { f.arch, f.fastSpawn, f.root, f.docker = "arm64", false, true, true }, []sandbox.Tier{landlock}, "architecture", []string{"linux/arm64"}},
		{"the portable way", func(f *facts) { f.portable, f.fastSpawn, f.root, f.docker = true, false, true, true }, []sandbox.Tier{landlock}, "portable-spawn", []string{"unset HARDSHELL_SPAWN"}},
		{"a refused way of spawning", func(f *facts) { f.fastSpawn, f.root, f.docker = false, true, true }, []sandbox.Tier{landlock}, "fast-spawn container", nil},
		{"the first Windows Subsystem", func(f *facts) {
			f.version, f.landlock, f.root = "Linux version 4.4.0-19041-Microsoft", unix.ENOSYS, true
		}, nil, "wsl1 landlock-missing", []string{"WSL 2"}},
		{"another system", func(f *facts) { *f = facts{unsupported: "darwin"} }, nil, "unsupported-system", []string{"darwin"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := nothing()
			c.facts(&f)
			var ids, text []string
			for _, b := range f.blockers(tried(c.works...)) {
				ids = append(ids, b.ID)
				text = append(text, b.Cause, b.Fix)
				text = append(text, b.Commands...)
				if len(b.Tiers) == 0 || !strings.HasSuffix(b.Cause, ".") || b.Fix != "" && !strings.ContainsAny(b.Fix[len(b.Fix)-1:], ".:") {
					t.Errorf("the blocker is %+v", b)
				}
				for _, tier := range b.Tiers {
					if slices.Contains(c.works, tier) {
						t.Errorf("%s is in the way of %s, which works", b.ID, tier)
					}
				}
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("the blockers are %q, want %q", got, c.want)
			}
			for _, want := range c.says {
				if all := strings.Join(text, "\n"); !strings.Contains(all, want) {
					t.Errorf("nothing says %q:\n%s", want, all)
				}
			}
		})
	}
}

func TestAProfileNamesItsProgramLiterally(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/usr/bin/hardshell":  `"/usr/bin/hardshell"`,
		"/home/a b/hardshell": `"/home/a b/hardshell"`,
		`/x/{a,b}*[c]?\d"^`:   `"/x/\{a,b\}\*\[c\]\?\\d\"\^"`,
	} {
		if got := apparmorPath(path); got != want {
			t.Errorf("%s is written as %s, want %s", path, got, want)
		}
	}
}

func TestFilesOfTheKernelAreRead(t *testing.T) {
	t.Parallel()
	for status, want := range map[string][2]bool{
		"": {},
		"Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t2\n": {},
		"NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n":           {true, true},
		"NoNewPrivs:\t1\nSeccomp:\t1\n":                                {false, true},
	} {
		if seccomp, noNewPrivs := confinedAlready(status); seccomp != want[0] || noNewPrivs != want[1] {
			t.Errorf("%q is %t, %t", status, seccomp, noNewPrivs)
		}
	}
	for mounts, want := range map[string]bool{
		"": false,
		"24 1 0:22 / /proc rw,nosuid - proc proc rw\n":                                false,
		"30 24 0:30 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw,fd=29\n":      false,
		"31 30 0:40 / /proc/sys/fs/binfmt_misc rw - binfmt_misc binfmt_misc rw\n":     false,
		"40 24 0:50 /null /proc/kcore rw,nosuid shared:5 - tmpfs tmpfs rw,mode=755\n": true,
		"41 24 0:22 /sys /proc/sys ro,nosuid - proc proc rw\n":                        true,
	} {
		if got := maskedProc(mounts); got != want {
			t.Errorf("%q is %t", mounts, got)
		}
	}
	for release, want := range map[string][2]int{"6.18.44-fc": {6, 18}, "5.4": {5, 4}, "4.19-rc1": {4, 19}, "": {}, "six": {}} {
		if major, minor, _ := kernelVersion(release); major != want[0] || minor != want[1] {
			t.Errorf("%q is %d.%d", release, major, minor)
		}
	}
}

func TestSurveyTriesEveryTierAndLeavesNothing(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	p, err := New(Config{Home: home, Tiers: []sandbox.Tier{sandbox.TierLandlock}, Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	s := p.Survey(t.Context())
	if len(s.Tiers) != len(Tiers()) || s.Kernel == "" || s.Blockers == nil {
		t.Fatalf("the survey is %+v", s)
	}
	for _, tier := range s.Tiers {
		if tier.Works != (tier.Effects != nil) || tier.Works != (tier.Error == "") || tier.Allowed != (tier.Tier == sandbox.TierLandlock) {
			t.Errorf("a tier is %+v", tier)
		}
		if tier.Tier == sandbox.TierLandlock && tier.Works != (s.Tier == sandbox.TierLandlock) {
			t.Errorf("the tier in use is %q, and landlock is %+v", s.Tier, tier)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if left, err := filepath.Glob(home + "/tmp/*"); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestASurveyThatIsEndedBlamesNobody(t *testing.T) {
	t.Parallel()
	p, err := New(Config{Home: filepath.Join(t.TempDir(), "home")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	for _, tier := range p.Survey(ctx).Tiers {
		if tier.Works || tier.Error != "enough" {
			t.Errorf("a tier is %+v", tier)
		}
	}
}

func TestAHomeThatCannotBeIsNoTiersFault(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := New(Config{Home: file + "/home"})
	if err != nil {
		t.Fatal(err)
	}
	s := p.Survey(t.Context())
	if s.Tier != "" || len(s.Blockers) > 0 || !strings.Contains(s.Tiers[0].Error, "Choose another directory with --home") {
		t.Errorf("the survey is %+v", s)
	}
}
