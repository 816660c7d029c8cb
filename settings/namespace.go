package settings

import (
	"strconv"

	"hardshell/internal/fault"
)

// Namespace names the section of the document that one owner has. The zero value
// is none; ParseNamespace makes them.
type Namespace string

// ParseNamespace returns name as a Namespace: a lower-case letter, then lower-case
// letters, digits and dashes. Anything else is an INVALID_ARGUMENT.
func ParseNamespace(name string) (Namespace, error) {
	if !legal(name) {
		return "", fault.New(fault.InvalidArgument,
			"%s is no settings namespace: use a lower-case letter, then lower-case letters, digits and dashes ([a-z][a-z0-9-]*)",
			strconv.Quote(name))
	}
	return Namespace(name), nil
}

func legal(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}
