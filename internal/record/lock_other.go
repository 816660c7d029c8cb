//go:build !unix

package record

// TryLock takes the lock on the directory.
func (*Dir) TryLock() (release func(), ok bool, err error) { return nil, false, errPlatform }
