package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"hardshell/internal/hostwire"
	"hardshell/internal/record"
	"hardshell/internal/state"
	"hardshell/jobs"
)

// Info is what the record of a job tells, without asking anybody.
type Info struct {
	jobs.Job
	// Session is whose job it is.
	Session string `json:"session"`
	// Command is the whole command, Workdir where it runs.
	Command string `json:"command,omitempty"`
	Workdir string `json:"workdir,omitempty"`
	// ExitCode and Signal are how it ended, each where there is one. One that was
	// killed may have both, or neither.
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
	// Reason is what the one gave who asked for its end.
	Reason string `json:"reason,omitempty"`
	// Stdout and Stderr are how much of each stream came, and what of it is kept.
	Stdout record.StreamStatus `json:"stdout"`
	Stderr record.StreamStatus `json:"stderr"`
	// Lost says that the job's host is dead, and that nobody has completed its
	// record yet: the status is failed, and when it ended is not known.
	Lost bool `json:"-"`
}

// Read returns the jobs of a session, in the order of their start, from their
// records alone: it asks no host and changes nothing. A session that is not there
// has none. The error says that the records cannot be listed; one that cannot be
// read is a job that failed.
func Read(home state.Home, session string) ([]Info, error) {
	r := New(Config{Home: home, SessionID: session})
	ids, err := r.ids()
	if err != nil {
		return nil, err
	}
	infos := make([]*Info, len(ids))
	// Reading waits for the kernel more than it computes.
	var readers sync.WaitGroup
	n := min(2*runtime.GOMAXPROCS(0), len(ids))
	for first := range n {
		readers.Go(func() {
			for i := first; i < len(ids); i += n {
				if info, err := r.look(ids[i]); err == nil {
					infos[i] = info
				}
			}
		})
	}
	readers.Wait()
	there := make([]Info, 0, len(infos))
	for _, info := range infos {
		if info != nil { // it was not started yet, or has just been removed
			there = append(there, *info)
		}
	}
	return there, nil
}

// ReadOne is Read for one job; UNKNOWN_JOB when it is not there.
func ReadOne(home state.Home, session, id string) (Info, error) {
	if _, _, ok := parseID(id); !ok {
		return Info{}, unknown(id)
	}
	info, err := New(Config{Home: home, SessionID: session}).look(id)
	if err != nil {
		return Info{}, err
	}
	return *info, nil
}

// OpenLog opens a stream of a job, record.Stdout or record.Stderr, as it was
// written; nil when there is none yet, or will be none. The caller closes it.
// UNKNOWN_JOB when the job is not there.
func OpenLog(home state.Home, session, id string, stream int) (*record.Reader, error) {
	if _, _, ok := parseID(id); !ok {
		return nil, unknown(id)
	}
	dir, err := record.Open(New(Config{Home: home, SessionID: session}).path(id))
	if err != nil {
		return nil, gone(err, id)
	}
	defer dir.Close()
	ask, err := dir.ReadAsk()
	if err != nil {
		return nil, gone(err, id)
	}
	log, err := dir.OpenLog(ask, stream)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return log, err
}

// HostLives reports whether a session has a host. It starts none.
func HostLives(home state.Home, session string) bool {
	return state.Held(hostwire.FilesOf(home.Run(), session).Lock)
}

// look reads one record. UNKNOWN_JOB when there is none.
func (s *Store) look(id string) (*Info, error) {
	kind, _, _ := parseID(id)
	session := s.config.SessionID
	info := &Info{
		Job:     jobs.Job{ID: id, Kind: kind, OwnerSession: session, Status: jobs.Running},
		Session: session,
	}
	dir, err := record.Open(s.path(id))
	var ask *record.Ask
	if err == nil {
		defer dir.Close()
		ask, err = dir.ReadAsk()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unknown(id)
	}
	if err != nil {
		info.Label, info.Status = "(unknown)", jobs.Failed
		info.Detail = "its record cannot be read: " + oneLine(err.Error())
		return info, nil
	}
	info.Key = ask.Key
	info.Label, info.Command, info.Workdir, info.StartedAt = ask.Label, ask.Command, ask.Workdir, ask.Created
	place := s.cursor(id, ask.Key)
	info.Reported = place.Reported || place.Noticed
	settled := info.settled(dir)
	if settled {
		return info, nil
	}
	process, err := dir.ReadProcess()
	if err == nil {
		info.StartedAt = process.Started
	}
	if detail := s.orphaned(dir, process, s.hostLives); detail != "" {
		if info.settled(dir) { // the host has done so before it went
			return info, nil
		}
		info.Lost, info.Status, info.Detail = true, jobs.Failed, detail
	} else if reason, stopping := dir.Stopping(); stopping {
		info.Status, info.Reason = jobs.Stopping, reason
	}
	for stream, status := range []*record.StreamStatus{&info.Stdout, &info.Stderr} {
		if log, err := dir.OpenLog(ask, stream); err == nil {
			*status, _ = log.Status()
			log.Close()
		}
	}
	return info, nil
}

// settled takes over how the job ended, when that is recorded.
func (i *Info) settled(dir *record.Dir) bool {
	status, ok, err := dir.ReadStatus()
	switch {
	case err != nil:
		i.Status, i.Detail = jobs.Failed, "how it ended cannot be read: "+oneLine(err.Error())
		return true
	case !ok:
		return false
	}
	o := outcome(status)
	i.Status, i.Detail, i.Usage = o.Status, o.Detail, o.Usage
	i.ExitCode, i.Signal, i.Reason = status.ExitCode, status.Signal, status.Reason
	i.StartedAt, i.FinishedAt = status.Started, status.Finished
	i.Stdout, i.Stderr = status.Stdout, status.Stderr
	return true
}

// orphaned says why nobody looks after a job that has not settled, "" while
// somebody does. Process is nil when it was not started yet.
func (s *Store) orphaned(dir *record.Dir, process *record.Process, hostLives func() bool) string {
	const died = "the session host died"
	started := process != nil
	switch lives := hostLives(); {
	case started && process.Boot != record.BootID():
		return "lost: the machine was started again"
	case started && lives:
		if s.predates(process) {
			return died
		}
		return ""
	case started:
		return died
	case lives:
		return ""
	}
	if state.Held(hostwire.FilesOf(s.config.Home.Run(), s.config.SessionID).Starting(dir.Path())) {
		return ""
	}
	return "it was never started"
}

// hostLives reports whether the session has a host now.
func (s *Store) hostLives() bool { return HostLives(s.config.Home, s.config.SessionID) }

// predates reports whether a process was started by an earlier host than the one
// that lives: before that listened. Clocks are set, so it must be gone too.
func (s *Store) predates(process *record.Process) bool {
	socket, err := os.Lstat(hostwire.FilesOf(s.config.Home.Run(), s.config.SessionID).Socket)
	return err == nil && process.Started < socket.ModTime().UnixMilli() && !exists(process.PID)
}

// exists reports whether there is a process of this number.
func exists(pid int) bool {
	if pid <= 0 {
		return false
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer process.Release()
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// gone is UNKNOWN_JOB for a record that is not there.
func gone(err error, id string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return unknown(id)
	}
	return err
}

// Tags are the marks of the processes that the jobs of a session have started
// since the machine was, settled ones included.
func Tags(home state.Home, session string) (tags []uint64) {
	s := New(Config{Home: home, SessionID: session})
	records, _ := filepath.Glob(filepath.Join(s.dir, "*"))
	runs, _ := filepath.Glob(filepath.Join(s.dir, runPrefix+"*"))
	for _, path := range append(records, runs...) {
		dir, err := record.Open(path)
		if err != nil {
			continue
		}
		if process, err := dir.ReadProcess(); err == nil && process.Tag != 0 && process.Boot == record.BootID() {
			tags = append(tags, process.Tag)
		}
		dir.Close()
	}
	return tags
}
