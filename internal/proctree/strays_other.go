//go:build unix && !linux

package proctree

import "context"

// endStrays finds nothing: there are no tags here.
func (s *Set) endStrays(context.Context, []int) []int { return nil }

// AwaitStrays reports true: there are no tags here.
func (s *Set) AwaitStrays(context.Context) bool { return true }
