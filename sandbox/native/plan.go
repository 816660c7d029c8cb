package native

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hardshell/internal/gitdir"
	"hardshell/internal/hostsockets"
	"hardshell/internal/realpath"
	"hardshell/sandbox"
)

// plan is a policy applied to this host: which paths may be written, which are
// hidden, which are kept as they are. Every path is physical. Each tier makes of
// it what it can.
type plan struct {
	policy sandbox.Policy
	temp   string // host directory of the private temp, "" for one in memory

	writable  []string // roots, the workspace among them
	granted   []string // those of them that an explicit grant named
	pinned    []string // must stay what they are, though they can be written
	protected []string // stay read-only inside of the roots
	hidden    []string
	missing   []string   // to be protected or hidden as soon as they are there
	blocked   []string   // the same, of which it cannot be told whether they are
	absent    *absentees // watches missing, blocked, and what is closed as a whole
	shown     []string   // inside of the hidden home, read-only
	placed    []placed   // made for as long as sandboxes last
	blind     bool       // the sockets of the host are not known
	unseen    bool       // something that should be protected was not found
	exposed   bool       // something that git would obey is not there, and cannot be protected
	home      string
	caches    []cache
	sockets   []string // sockets and directories of them that may be reached
	uncovered []string // sockets of the host that must not be
}

// cache is one directory of a package manager.
type cache struct {
	// dir is where it is for the sandbox, "" when the user has none there: the
	// variable then leads to the private one.
	dir      string
	private  string
	variable string
}

// newPlan examines the host for a policy.
func (p *Provider) newPlan(policy sandbox.Policy) (*plan, error) {
	pl := &plan{policy: policy, home: realpath.Canonical(p.home.Root())}
	if policy.Mode == sandbox.WorkspaceWrite {
		root := policy.WorkspaceRoot // physical, as all roots are
		pl.granted = policy.WritableRoots
		layout := gitdir.Search{Configs: gitConfigs(policy.UserHome)}.Find(root)
		if layout.Obstacle != nil {
			return nil, &obstacle{at: layout.Obstacle.Path, err: layout.Obstacle}
		}
		for _, dir := range layout.Hooks {
			// Once there, it is protected. That it cannot be made is no reason
			// to refuse: then the sandbox cannot make it either.
			makeHooks(dir)
			layout.Protected = append(layout.Protected, dir)
		}
		pl.unseen = layout.Truncated
		pl.placed = place(layout)
		for _, held := range pl.placed {
			pl.protected = append(pl.protected, held.path)
		}
		pl.exposed = slices.ContainsFunc(layout.Exposed, func(path string) bool { return !slices.Contains(pl.protected, path) })
		for _, name := range append(gitdir.ToolNames(), ".git") {
			path := filepath.Join(root, name)
			if _, err := look(path); realpath.LeadsNowhere(err) {
				pl.missing = append(pl.missing, path)
			}
		}
		pl.writable = append(append([]string{root}, pl.granted...), layout.Writable...)
		pl.pinned = layout.Pinned
		pl.protected = slices.Concat(pl.protected, layout.Protected, gitdir.Tools(root))
		for _, path := range policy.Protect {
			if err := pl.protect(path); err != nil {
				return nil, err
			}
		}
		if err := p.planCaches(pl); err != nil {
			return nil, err
		}
	}
	for _, path := range policy.Hide {
		if err := pl.hide(path); err != nil {
			return nil, err
		}
	}
	var err error
	if pl.pinned, err = pl.recheck(pl.pinned); err != nil {
		return nil, err
	}
	protected := pl.protected
	pl.protected = nil // what is closed off comes in beside
	if protected, err = pl.recheck(protected); err != nil {
		return nil, err
	}
	pl.protected = append(pl.protected, protected...)
	// An explicit grant wins over what hides that very path, and over what
	// protects something in it when it lies inside of the workspace itself.
	pl.hidden = slices.DeleteFunc(pl.hidden, func(path string) bool { return slices.Contains(pl.granted, path) })
	released := func(path string) bool {
		return slices.ContainsFunc(pl.granted, func(grant string) bool {
			return realpath.Within(path, grant) && (path == grant || grant != policy.WorkspaceRoot && realpath.Within(grant, policy.WorkspaceRoot))
		})
	}
	pl.protected = slices.DeleteFunc(pl.protected, released)
	pl.pinned = slices.DeleteFunc(pl.pinned, released)

	pl.sockets = policy.Sockets.Paths
	if !policy.Sockets.Host {
		known := true
		pl.uncovered, known = pl.foreignSockets(nil)
		pl.blind = !known
	}
	if err := p.planHome(pl); err != nil {
		return nil, err
	}
	pl.pinWays()
	pl.pinned, pl.protected = pl.unveil(pl.pinned), pl.unveil(pl.protected)
	pl.absent = watchAbsent(pl.missing, pl.blocked, slices.Concat(pl.hidden, pl.protected))
	return pl, nil
}

// pinWays pins the directories between a root and what is hidden or protected in
// it: moved away, they would take it along, and the next sandbox would not know
// it by its new name.
func (pl *plan) pinWays() {
	for _, path := range slices.Concat(pl.hidden, pl.protected, []string{pl.home}) {
		for _, root := range pl.writable {
			if !realpath.Within(path, root) {
				continue
			}
			for dir := filepath.Dir(path); dir != root && realpath.Within(dir, root); dir = filepath.Dir(dir) {
				if !slices.Contains(pl.pinned, dir) && !slices.Contains(pl.writable, dir) {
					pl.pinned = append(pl.pinned, dir)
				}
			}
		}
	}
}

// planHome says what of the home of hardshell can be seen: the log, the jobs and
// the spill files of the policy's session.
func (p *Provider) planHome(pl *plan) error {
	id := pl.policy.SessionID
	dirs := []string{p.home.Temp(p.tempID(id))}
	if id != "" {
		pl.shown = []string{p.home.Spill(id)}
		if p.config.Ephemeral {
			for _, dir := range []string{p.home.Session(id), p.home.Jobs(id)} {
				if info, err := os.Stat(dir); err == nil && info.IsDir() {
					pl.shown = append(pl.shown, dir)
				}
			}
		} else {
			pl.shown = append(pl.shown, p.home.Session(id), p.home.Jobs(id))
		}
	}
	dirs = append(dirs, pl.shown...)
	for _, c := range pl.caches {
		if c.private != "" {
			dirs = append(dirs, c.private)
		}
	}
	if err := p.home.Ensure(dirs...); err != nil {
		return err
	}
	p.mu.Lock()
	p.temps[p.tempID(id)] = true
	p.mu.Unlock()
	pl.home = realpath.Canonical(p.home.Root())
	pl.temp = realpath.Canonical(dirs[0])
	// Users of other ids may write there, as in every /tmp. The directories
	// above it are private.
	if err := os.Chmod(pl.temp, 0o777|os.ModeSticky); err != nil {
		return err
	}
	for i, dir := range pl.shown {
		pl.shown[i] = realpath.Canonical(dir)
	}
	return nil
}

// gitConfigs are the configuration files that git reads in every repository.
func gitConfigs(userHome string) []string {
	list := []string{"/etc/gitconfig"}
	if userHome == "" {
		userHome, _ = os.UserHomeDir()
	}
	if userHome != "" {
		list = append(list, filepath.Join(userHome, ".gitconfig"), filepath.Join(userHome, ".config/git/config"))
	}
	return list
}

// foreignSockets lists the sockets of the host that lie where the sandbox could
// connect to them, but for those that skip knows. It is false when they are not
// known.
func (pl *plan) foreignSockets(skip func(path string) bool) ([]string, bool) {
	all, err := hostsockets.Listening(func(path string) bool {
		inside := func(root string) bool { return realpath.Within(path, root) }
		return slices.ContainsFunc(socketDirs, inside) || slices.ContainsFunc(pl.writable, inside) ||
			slices.ContainsFunc(pl.sockets, inside) || skip != nil && skip(path)
	})
	return all, err == nil
}

// hidden is what is covered to hide a path: what it leads to. A command may have
// made it a link to a place that no command can do without; that is not covered.
func hidden(path, real, workspace string) string {
	if real != filepath.Clean(path) && (strings.Count(real, "/") < 2 || realpath.Within(workspace, real)) {
		return filepath.Clean(path)
	}
	return real
}

// userCaches are the directories of package managers below the user's home,
// with the variable that moves each.
var userCaches = []struct{ dir, variable string }{
	{".cache", "XDG_CACHE_HOME"},
	{".npm", "npm_config_cache"},
	{".cargo/registry", "CARGO_HOME"},
	{".cargo/git", ""},
	{"go/pkg/mod", "GOMODCACHE"},
	{".bun/install/cache", "BUN_INSTALL_CACHE_DIR"},
	{".local/share/pnpm/store", "npm_config_store_dir"},
	{".yarn/berry/cache", ""},
	{".m2/repository", ""},
	{".gradle/caches", ""},
	{".nuget/packages", "NUGET_PACKAGES"},
}

// planCaches says where package managers write.
func (p *Provider) planCaches(pl *plan) error {
	policy := pl.policy
	if policy.Caches == sandbox.CachesNone {
		return nil
	}
	home := policy.UserHome
	if home == "" {
		own, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(own) {
			return nil
		}
		home = own
	}
	home = realpath.Canonical(home)
	base := filepath.Join(p.home.Caches(), workspaceKey(policy.WorkspaceRoot))
	for _, user := range userCaches {
		c := cache{dir: filepath.Join(home, user.dir), variable: user.variable}
		// A link may have been put there by a command, to have what it leads to
		// mounted.
		real, err := look(c.dir)
		if err != nil && !realpath.LeadsNowhere(err) {
			if err := pl.closeOff(c.dir, real, err); err != nil {
				return err
			}
		}
		if info, statErr := os.Stat(real); err != nil || real != c.dir || statErr != nil || !info.IsDir() {
			c.dir = ""
		}
		switch {
		case policy.Caches == sandbox.CachesShared:
			if c.dir != "" {
				pl.caches = append(pl.caches, cache{dir: c.dir})
			}
			continue
		case c.dir == "" && c.variable == "":
			continue
		}
		c.private = filepath.Join(base, strings.ReplaceAll(strings.TrimPrefix(user.dir, "."), "/", "-"))
		pl.caches = append(pl.caches, c)
	}
	return nil
}
