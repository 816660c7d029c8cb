//go:build !linux

package cgroup

import (
	"errors"
	"os"
)

// Groups makes no groups: there are none on this system.
type Groups struct{}

// ErrNotDelegated is the answer of New.
var ErrNotDelegated = errors.New("this system has no control groups")

// Group does not exist here.
type Group struct{}

// New is always ErrNotDelegated.
func (g *Groups) New([]string) (*Group, *os.File, error) { return nil, nil, ErrNotDelegated }

// Close does nothing.
func (g *Groups) Close() {}

// Memory is never called.
func (g *Group) Memory() (bytes int64, ok bool) { return 0, false }

// Remove does nothing.
func (g *Group) Remove() {}
