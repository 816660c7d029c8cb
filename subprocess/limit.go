package subprocess

// Limit names what a record bounds.
type Limit string

// The limits of a record, by the names that its status has for them. Passing one ends the child as Terminate does.
const (
	// LimitRuntime bounds the time from the spawn.
	LimitRuntime Limit = "runtime"
	// LimitSilence bounds the time without a byte of output.
	LimitSilence Limit = "silence"
	// LimitMemory bounds the memory of the whole tree that its processes do not share
	// with files, as it is sampled.
	LimitMemory Limit = "memory"
	// LimitOutput bounds the bytes of both outputs together.
	LimitOutput Limit = "output"
)
