package state

import "hardshell/internal/fault"

// maxSessionID is the longest session id, in bytes.
const maxSessionID = 64

// ValidateSessionID returns an INVALID_ARGUMENT error that states the rule
// unless id is [A-Za-z0-9][A-Za-z0-9._-]{0,63}. A valid id is one safe element
// of a path.
func ValidateSessionID(id string) error {
	if validSessionID(id) {
		return nil
	}
	shown := id
	if len(shown) > maxSessionID {
		shown = shown[:maxSessionID] + "…"
	}
	return fault.New(fault.InvalidArgument,
		"%q is no session id: it must begin with a letter or digit and have at most %d letters, digits, dots, underscores and hyphens (^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$)",
		shown, maxSessionID)
}

func validSessionID(id string) bool {
	if id == "" || len(id) > maxSessionID || !isAlphanumeric(id[0]) {
		return false
	}
	for i := 1; i < len(id); i++ {
		if c := id[i]; !isAlphanumeric(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
