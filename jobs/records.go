package jobs

// Records keeps the jobs of one session beyond this process. It is safe for
// concurrent use, also by several processes.
type Records interface {
	// Reserve takes the next id of a kind and a place among the at most limit
	// live jobs of the session; JOB_LIMIT when there is none.
	Reserve(kind string, limit int) (*Slot, error)
	// List names the jobs that are there, in the order of their start, those of
	// other processes too.
	List() ([]string, error)
	// Open returns the facts and the work of a job: UNKNOWN_JOB when it is gone.
	Open(id string) (Job, Producer, error)
}

// Slot is a reserved id. Exactly one of Keep and Release is called.
type Slot struct {
	ID string
	// Dir is the directory for the job's record, absolute and empty.
	Dir string
	// Keep says that the job is there now, Release that it was not started: its
	// id is given again.
	Keep, Release func()
}
