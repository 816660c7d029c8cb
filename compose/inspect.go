package compose

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/record"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/jobs/durable"
	"hardshell/settings"
	"hardshell/subprocess"
)

// What follows looks at a home from outside of every session: it starts nothing
// and, but for Prune, changes nothing.

// JobInfo is what the record of a job tells.
type JobInfo = durable.Info

// ReadJobs returns the jobs of a session that are kept, in the order of their
// start.
func ReadJobs(home state.Home, session string) ([]JobInfo, error) {
	return durable.Read(home, session)
}

// ReadJob returns one of them; UNKNOWN_JOB when it is not there.
func ReadJob(home state.Home, session, id string) (JobInfo, error) {
	return durable.ReadOne(home, session, id)
}

// OpenLog opens a stream of a job as it was written; nil when there is none yet,
// or will be none. The caller closes it. UNKNOWN_JOB when the job is not there.
func OpenLog(home state.Home, session, id string, stream subprocess.Stream) (*record.Reader, error) {
	n := record.Stdout
	if stream == subprocess.Stderr {
		n = record.Stderr
	}
	return durable.OpenLog(home, session, id, n)
}

// HostLives reports whether a session has a host.
func HostLives(home state.Home, session string) bool { return durable.HostLives(home, session) }

// SessionInfo is what a home knows of a session.
type SessionInfo struct {
	ID string `json:"id"`
	// Live says that the session has a host: somebody is attached, or a command
	// runs.
	Live bool `json:"live"`
	// Jobs are those that are kept.
	Jobs struct {
		Running int `json:"running"`
		Total   int `json:"total"`
	} `json:"jobs"`
	// LastActivity is when something is known to have happened last, in
	// milliseconds since the epoch; 0 when that is not known.
	LastActivity int64 `json:"lastActivity,omitempty"`
}

// ReadSessions returns the sessions that a home knows, in the order of their ids.
func ReadSessions(home state.Home) ([]SessionInfo, error) {
	known := map[string]bool{}
	for _, dir := range []string{home.Sessions(), jobsDir(home)} {
		ids, err := sessionDirs(dir)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			known[id] = true
		}
	}
	// One that has run foreground commands only has left nothing to come back to.
	for _, dir := range []string{filepath.Dir(home.Temp("x")), home.Spills()} {
		ids, _ := sessionDirs(dir)
		for _, id := range ids {
			known[id] = known[id] || HostLives(home, id)
		}
	}
	infos := make([]SessionInfo, 0, len(known))
	for id, is := range known {
		if !is {
			continue
		}
		info, err := readSession(home, id)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	slices.SortFunc(infos, func(a, b SessionInfo) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return infos, nil
}

func readSession(home state.Home, id string) (SessionInfo, error) {
	info := SessionInfo{ID: id, Live: HostLives(home, id)}
	list, err := ReadJobs(home, id)
	if err != nil {
		return info, err
	}
	for _, path := range []string{home.Jobs(id), home.SessionLog(id)} {
		if stat, err := os.Stat(path); err == nil {
			info.LastActivity = max(info.LastActivity, stat.ModTime().UnixMilli())
		}
	}
	for _, job := range list {
		info.Jobs.Total++
		info.LastActivity = max(info.LastActivity, job.StartedAt, job.FinishedAt)
		if !job.Status.Terminal() {
			info.Jobs.Running++
			info.LastActivity = time.Now().UnixMilli()
		}
	}
	return info, nil
}

// jobsDir is the directory with one directory of jobs per session.
func jobsDir(home state.Home) string { return filepath.Dir(home.Jobs("x")) }

// sessionDirs lists the directories that are called like sessions.
func sessionDirs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && state.ValidateSessionID(e.Name()) == nil {
			ids = append(ids, e.Name())
		}
	}
	return ids, err
}

// SessionsWithJobs returns the ids of the sessions of which jobs are or were kept.
func SessionsWithJobs(home state.Home) ([]string, error) { return sessionDirs(jobsDir(home)) }

// Prune takes settled jobs of a session away, as the rows and the settings say or
// with everything all of them, and returns their ids.
func Prune(ctx context.Context, rows []Row, in Surroundings, everything bool) ([]string, error) {
	if _, err := os.Lstat(in.Home.Jobs(in.SessionID)); os.IsNotExist(err) {
		return nil, nil // and it is not made
	}
	config, shell, err := readConfig(ctx, rows, in)
	if err != nil {
		return nil, err
	}
	gone, err := config.Store(in, shell.MaxOutputBytes, func() time.Duration { return milliseconds(shell.GraceMs) }, nil).Prune(everything)
	if !HostLives(in.Home, in.SessionID) {
		// What commands of a session that is over have left in its own places.
		for _, dir := range []string{in.Home.Temp(in.SessionID), in.Home.Spill(in.SessionID)} {
			_, swept := state.Sweep(dir, milliseconds(config.RetentionMs))
			err = errors.Join(err, swept)
		}
	}
	return gone, err
}

// Follow returns the facts and the work of a job that is kept, for somebody who
// is not its owner: whatever they do with it, its end is still news to the owner.
// UNKNOWN_JOB when it is not there, INVALID_ARGUMENT in a session of which no
// jobs are kept.
func (c *Composition) Follow(id string) (jobs.Job, jobs.Producer, error) {
	if c.Records() == nil {
		return jobs.Job{}, nil, fault.New(fault.InvalidArgument, "this session ends with the process and keeps no jobs: name a session")
	}
	return c.Records().Open(id)
}

// leftoverGrace is the time between SIGTERM and SIGKILL for what dead hosts left.
const leftoverGrace = 3 * time.Second

// EndLeftovers ends what the jobs of a session left running whose host is dead,
// and returns what resisted. It is called when the session has no host.
func EndLeftovers(home state.Home, session string) (survivors []int) {
	return endMarked(durable.Tags(home, session), leftoverGrace)
}

// WaitForHost waits until a session has no host, and reports whether that came
// before ctx ended.
func WaitForHost(ctx context.Context, home state.Home, session string) bool {
	for pause := 2 * time.Millisecond; HostLives(home, session); pause = min(2*pause, 100*time.Millisecond) {
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return false
		}
	}
	return true
}

// readConfig is how rows and the settings configure jobs and the shell.
func readConfig(ctx context.Context, rows []Row, in Surroundings) (config JobsConfig, shell ShellConfig, err error) {
	config, shell = defaultJobs(), defaultShell()
	configured, err := configureAll(rows)
	if err != nil {
		return config, shell, err
	}
	service, err := settingsFileOf(configured).open(ctx, in, false)
	if err != nil {
		return config, shell, err
	}
	defer service.Close(context.WithoutCancel(ctx))
	data := statedBy(rows)
	for _, row := range configured {
		switch own := row.Config.(type) {
		case JobsConfig:
			config, err = read(jobsSettings(), service, own, data[row.ID])
		case ShellConfig:
			shell, err = read(shellSettings(), service, own, data[row.ID])
		}
		if err != nil {
			return config, shell, errRow(row, err)
		}
	}
	return config, shell, nil
}

// read is a configuration as the settings have it now.
func read[T any](s settingsOf[T], service *settings.Service, config T, stated map[string]any) (T, error) {
	if !service.Stored(s.ns) {
		return config, nil
	}
	scope, err := s.register(service, config, stated, false)
	if err != nil {
		return config, err
	}
	return scope.Get(), nil
}
