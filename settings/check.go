package settings

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"hardshell/internal/jsontree"
)

var (
	errPanicked = errors.New("panicked")
	errTooLong  = errors.New("took too long")
)

// contained calls f in a goroutine of its own, so that neither a panic nor a
// runtime.Goexit ends its caller: both are errPanicked. The panic's own words are
// dropped: they may hold a setting.
func contained(f func() error) error { return <-begun(f) }

// inTime is contained, but that it waits no longer than limit. What f does after
// that has no effect.
func inTime(limit time.Duration, f func() error) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-begun(f):
		return err
	case <-timer.C:
		return errTooLong
	}
}

func begun(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() {
		err := errPanicked
		defer func() {
			_ = recover()
			result <- err
		}()
		err = f()
	}()
	return result
}

// quotesSecret reports whether text contains a secret of the value.
func (r *registration) quotesSecret(value map[string]any, text string) bool {
	_, slots := r.schema.Redact(value)
	for _, slot := range slots {
		if secret, ok := at(value, slot.Path); ok && quotes(text, secret) {
			return true
		}
	}
	return false
}

// quotes reports whether text contains a string or number of tree.
func quotes(text string, tree any) bool {
	switch node := tree.(type) {
	case map[string]any:
		for _, value := range node {
			if quotes(text, value) {
				return true
			}
		}
		return false
	case []any:
		for _, value := range node {
			if quotes(text, value) {
				return true
			}
		}
		return false
	case string:
		return node != "" && (strings.Contains(text, node) || strings.Contains(text, strings.Trim(strconv.Quote(node), `"`)))
	case nil, bool:
		return false
	default:
		return strings.Contains(text, string(jsontree.Encode(node)))
	}
}

// at follows the path of a slot, in which items of lists stand by their index.
func at(tree any, path []string) (any, bool) {
	for _, key := range path {
		switch node := tree.(type) {
		case map[string]any:
			value, ok := node[key]
			if !ok {
				return nil, false
			}
			tree = value
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			tree = node[i]
		default:
			return nil, false
		}
	}
	return tree, true
}
