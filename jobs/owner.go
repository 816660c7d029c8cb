package jobs

import "sync"

// Owner is the live handle of a session that owns jobs. A session that was
// resumed has another one. It is safe for concurrent use.
type Owner struct {
	session string

	mu      sync.Mutex
	notices []Notice
	ended   bool
}

// Notice tells a session that one of its jobs has settled.
type Notice struct {
	// Seq is the sequence number of the event in the session's log, 0 where
	// nothing is logged.
	Seq   int64  `json:"seq,omitempty"`
	JobID string `json:"jobId"`
	// Text is for the model, Summary one line for a person.
	Text    string `json:"text"`
	Summary string `json:"summary"`
}

// NewOwner returns the handle of a session.
func NewOwner(session string) *Owner { return &Owner{session: session} }

// ID is the session's id.
func (o *Owner) ID() string { return o.session }

// Inject queues a notice for the session's next step.
func (o *Owner) Inject(n Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notices = append(o.notices, n)
}

// Take returns the queued notices, the oldest first, and empties the queue.
func (o *Owner) Take() []Notice {
	o.mu.Lock()
	defer o.mu.Unlock()
	taken := o.notices
	o.notices = nil
	return taken
}

// close ends the handle: it cannot own further jobs.
func (o *Owner) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
}

func (o *Owner) hasEnded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}
