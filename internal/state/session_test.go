package state

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hardshell/internal/fault"
)

func TestValidateSessionID(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		id    string
		valid bool
	}{
		"a letter":                     {"a", true},
		"a digit":                      {"7", true},
		"all that is allowed":          {"Az09._-", true},
		"dots inside":                  {"a..b", true},
		"64 bytes":                     {strings.Repeat("a", 64), true},
		"a ULID":                       {"01ARYZ6S41041061050R3GG28A", true},
		"nothing":                      {"", false},
		"65 bytes":                     {strings.Repeat("a", 65), false},
		"a dot first":                  {".a", false},
		"the parent directory":         {"..", false},
		"a hyphen first":               {"-a", false},
		"an underscore first":          {"_a", false},
		"a slash":                      {"a/b", false},
		"a backslash":                  {`a\b`, false},
		"a NUL":                        {"a\x00", false},
		"a newline at the end":         {"a\n", false},
		"a space":                      {"a b", false},
		"a letter beyond ASCII":        {"é", false},
		"a colon":                      {"a:b", false},
		"what lies beside the letters": {"a@", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := ValidateSessionID(tt.id)
			if tt.valid && err != nil {
				t.Errorf("%q: %v", tt.id, err)
			}
			if !tt.valid && (!errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")) {
				t.Errorf("%q: got %v, want %s with the rule", tt.id, err, fault.InvalidArgument)
			}
		})
	}
}

func TestEncodeULID(t *testing.T) {
	t.Parallel()
	// The texts are those of github.com/oklog/ulid v2.1.2 for the same bytes.
	tests := []struct {
		ms     int64
		random [10]byte
		want   string
	}{
		{0, [10]byte{}, "00000000000000000000000000"},
		{1469918176385, [10]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "01ARYZ6S41041061050R3GG28A"},
		{1796054400000, [10]byte{222, 173, 190, 239, 0, 127, 128, 17, 195, 90}, "01M8PJYF00VTPVXVR0FY013GTT"},
		{1<<48 - 1, [10]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255}, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"},
	}
	for _, tt := range tests {
		if got := encodeULID(tt.ms, tt.random); got != tt.want {
			t.Errorf("encodeULID(%d, %v) = %s, want %s", tt.ms, tt.random, got, tt.want)
		}
	}
}

func TestNewSessionIDs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10_000 {
		id := NewSessionID()
		if err := ValidateSessionID(id); err != nil || seen[id] {
			t.Fatalf("%q: valid %v, seen before %v", id, err, seen[id])
		}
		seen[id] = true
	}
}

func TestNewSessionIDsSortByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ids []string
		for range 100 {
			ids = append(ids, NewSessionID())
			time.Sleep(time.Millisecond)
		}
		if !slices.IsSorted(ids) {
			t.Errorf("not sorted: %v", ids)
		}
	})
}
