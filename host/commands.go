//go:build unix

package host

import (
	"time"

	"hardshell/internal/command"
	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/proctree"
	"hardshell/internal/spawn"
	"hardshell/subprocess"
)

// beginSpawn spawns beside other answers; the descriptors are its own from then
// on. It is false for a spawn that makes no sense.
func (c *client) beginSpawn(m *hostwire.Message, files []int) bool {
	s := m.Spawn
	if s.Record != nil {
		if len(s.Argv) == 0 {
			return false
		}
		c.serving(func() {
			defer hostwire.CloseFiles(files)
			pid, err := c.spawnRecorded(s, files)
			c.conn.Send(&hostwire.Message{Request: m.Request, Spawned: &hostwire.Spawned{
				PID: pid, Failure: hostwire.NewFailure(err, fault.SpawnFailed),
			}})
		})
		return true
	}
	tagged := s.Tag == 0 || c.trees.Issued(s.Tag)
	if len(files) < 3 || len(s.Argv) == 0 || s.Grace <= 0 || s.Grace > subprocess.MaxGrace || !tagged || !c.reserve(s.ID) {
		return false
	}
	c.serving(func() {
		defer hostwire.CloseFiles(files)
		tree, err := c.spawn(s, files)
		answer := &hostwire.Spawned{Tag: c.trees.NextTag()}
		if err != nil {
			c.drop(s.ID)
			answer.Failure = hostwire.NewFailure(command.Explain(err), fault.SpawnFailed)
		} else {
			answer.PID = tree.PID()
		}
		c.conn.Send(&hostwire.Message{Request: m.Request, Spawned: answer})
		if tree != nil {
			go c.follow(s.ID, tree)
		}
	})
	return true
}

// spawn starts a command. When it returns one, c.following counts it.
func (c *client) spawn(s *hostwire.Spawn, files []int) (*proctree.Tree, error) {
	if err := c.trees.Enter(); err != nil {
		return nil, err
	}
	defer c.trees.Leave()
	start := spawn.Start
	if s.Policy != nil {
		confinement, err := c.announced(s.Policy, s.Report)
		if err != nil {
			return nil, err
		}
		starter, ok := confinement.(spawn.Starter)
		if !ok {
			return nil, fault.New(fault.SandboxUnavailable, "the session host cannot confine by %s", confinement.Confines())
		}
		start = starter.Start
	}
	tree, err := c.trees.Start(start, &spawn.Attr{
		Path: string(s.Path), Argv: s.Argv, Env: s.Env, Dir: string(s.Dir), Files: files, Tag: s.Tag,
	}, s.Grace)
	if err != nil {
		return nil, err
	}
	c.hold(s.ID, tree)
	return tree, nil
}

// follow tells the client about a tree until it is gone, or what is left of it
// is found by its tag alone.
func (c *client) follow(id uint64, tree *proctree.Tree) {
	defer c.following.Done()
	defer c.trees.Forget(tree)
	defer c.server.guard(c.conn)
	exit, left := tree.AwaitExit()
	left = c.letGo(id, left)
	c.conn.Send(&hostwire.Message{Exited: &hostwire.Exited{
		ID: id, Code: exit.Code, Signal: exit.Signal, Duration: exit.Duration, Left: left,
		User: exit.UserTime, System: exit.SystemTime, MaxRSS: exit.MaxRSS,
	}})
	if !left {
		return
	}
	gone := tree.AwaitEnd(c.watching, 10*time.Second)
	c.drop(id)
	if gone {
		c.conn.Send(&hostwire.Message{Gone: &hostwire.Gone{ID: id}})
	}
}

// end begins the end of a tree, and reports when it is over. A tree that the
// host has let go of is the client's to end.
func (c *client) end(e *hostwire.End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.held[e.ID]
	if h == nil || h.tree == nil {
		return
	}
	if e.Kill {
		h.tree.Kill()
	} else {
		h.tree.Terminate()
	}
	if h.ending {
		return
	}
	h.ending = true
	// follow is not done yet: it drops the tree before.
	c.following.Add(1)
	go func() {
		defer c.following.Done()
		select {
		case <-h.tree.Ended():
			c.conn.Send(&hostwire.Message{Ended: &hostwire.Ended{ID: e.ID, Survivors: h.tree.Survivors()}})
		case <-h.tree.Gone():
		}
	}()
}

// reserve takes an id for a spawn. It is false for one that is taken.
func (c *client) reserve(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[id] != nil {
		return false
	}
	c.held[id] = &held{}
	return true
}

// hold makes a tree known by its id.
func (c *client) hold(id uint64, tree *proctree.Tree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[id].tree = tree
	c.following.Add(1)
}

func (c *client) drop(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, id)
}

// letGo drops a tree of which nothing seems left when its leader has ended. It
// reports whether the host looks after it further: also one that is being ended.
func (c *client) letGo(id uint64, left bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.held[id].tree.Begun():
		return true
	default:
	}
	if !left {
		delete(c.held, id)
	}
	return left
}
