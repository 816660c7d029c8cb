package file

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"hardshell/internal/document"
	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/settings"
)

// Config says which file a provider is over, and how.
type Config struct {
	// Home has the lock and the revisions, in its run directory, and the document
	// when Path is "". It is required; nothing is created in it before it is
	// needed.
	Home state.Home

	// Path is the document, ending in .yaml, .yml or .json; a relative one is
	// taken from the working directory, and ~ is not expanded. It may be absent.
	// "" is settings.yaml in the home.
	Path string

	// Watch keeps an eye on the file from Open to Close. Without it the edits of
	// others are seen by the next write only.
	Watch bool

	// Debounce is how long a file must have been left alone before its content
	// counts. 0 is 100 ms, and less than 0 none at all.
	Debounce time.Duration

	// Log gets warnings: that watching is not possible, that the document is
	// invalid. Nil discards them. Nothing logged holds content of the document.
	Log *slog.Logger
}

const (
	defaultName     = "settings.yaml"
	defaultDebounce = 100 * time.Millisecond
)

// Provider is a settings.Provider over a file. It is safe for concurrent use.
type Provider struct {
	path     string
	format   document.Format
	home     state.Home
	watching bool
	log      *slog.Logger
	times    times

	// turn is held by whoever reads or writes the document, and while the service
	// is called back. It guards the fields below it.
	turn      turn
	publish   func(settings.Document)
	known     content   // what was published last
	sight     sight     // since when the file has looked as it looks
	refused   stamp     // of the invalid file that was reported last
	uneasy    string    // the failure to read that was reported last
	narrow    bool      // that the mode was narrowed has been reported
	lockedOut lockout   // why what the file holds is not known yet
	gaveUp    time.Time // when the last wait for the lock was in vain

	closed  atomic.Bool
	stop    context.CancelFunc // of the watch; nil when there is none
	stopped chan struct{}      // closed when the watch has ended

	hooks hooks
}

var _ settings.Provider = (*Provider)(nil)

// times are the durations that a provider keeps to. Tests shorten them.
type times struct {
	debounce time.Duration // a file must be left alone for so long
	grace    time.Duration // and an empty or absent one for so long
	latest   time.Duration // but one that is never left alone is read after so long
	fallback time.Duration // between looks without any event
	blind    time.Duration // the same, when there are no events
	lock     time.Duration // a writer waits for the lock for so long
	glance   time.Duration // and a reader for so long, several times
	stuck    time.Duration // a turn that nobody ends
}

// hooks are what tests see and break.
type hooks struct {
	// step is called before every step that changes a file; an error is what the
	// step then fails with.
	step func(name string) error
	// watcher replaces the making of a watcher by its failure.
	watcher func() error
	// looked is called after every look of the watch.
	looked func()
}

// New returns a provider over the file that the configuration names. It does not
// touch the file system.
//
// INVALID_ARGUMENT for a path without a known ending, and when it is relative and
// the working directory is gone.
func New(c Config) (*Provider, error) {
	path := c.Path
	if path == "" {
		path = filepath.Join(c.Home.Root(), defaultName)
	}
	if c.Home.Root() == "" {
		return nil, fault.New(fault.InvalidArgument, "a settings file needs a home for its lock: set Config.Home")
	}
	format, err := document.FormatOf(path)
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the settings file %s is relative and the working directory is gone: name it by an absolute path (%w)", path, err)
	}
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	debounce := c.Debounce
	if debounce == 0 {
		debounce = defaultDebounce
	}
	return &Provider{
		path:     absolute,
		format:   format,
		home:     c.Home,
		watching: c.Watch,
		log:      log,
		turn:     newTurn(),
		times: times{
			debounce: max(debounce, 0),
			grace:    max(debounce, 500*time.Millisecond),
			latest:   2 * time.Second,
			fallback: 10 * time.Second,
			blind:    2 * time.Second,
			lock:     2 * time.Second,
			glance:   100 * time.Millisecond,
			stuck:    10 * time.Second,
		},
	}, nil
}

// Writable implements settings.Provider. Whether the file system lets a write
// happen is found out by writing.
func (p *Provider) Writable() bool { return true }

// Path implements settings.Provider: the absolute path as it was configured, a
// link if it is one.
func (p *Provider) Path() string { return p.path }

// Open implements settings.Provider. DOCUMENT_INVALID when the file is there and
// cannot be read, is no plain file, or holds no valid document.
func (p *Provider) Open(ctx context.Context, publish func(settings.Document)) (settings.Document, error) {
	if err := p.enter(ctx); err != nil {
		return settings.Document{}, err
	}
	defer p.turn.give()
	if p.publish != nil {
		return settings.Document{}, fault.New(fault.Invariant, "the settings file %s is open already", p.path)
	}
	if err := p.load(ctx); err != nil {
		return settings.Document{}, err
	}
	p.publish = publish
	if p.watching {
		p.startWatch()
	}
	return settings.Document{Sections: p.known.sections}, nil
}

// Close implements settings.Provider. A write that has begun is completed, with
// what it takes in.
func (p *Provider) Close(ctx context.Context) error {
	p.closed.Store(true)
	if err := p.turn.take(ctx, 0); err != nil {
		return fmt.Errorf("waiting for the settings file to come to rest: %w", err)
	}
	stop := p.stop
	p.turn.give()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-p.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the watch of the settings file to end: %w", context.Cause(ctx))
	}
}

// enter takes the turn of a provider that is open or not yet, but not closed.
func (p *Provider) enter(ctx context.Context) error {
	if p.closed.Load() {
		return settings.ErrClosed
	}
	if err := p.turn.take(ctx, p.times.stuck); err != nil {
		return err
	}
	if p.closed.Load() {
		p.turn.give()
		return settings.ErrClosed
	}
	return nil
}
