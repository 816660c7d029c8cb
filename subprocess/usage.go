package subprocess

import (
	"encoding/json"
	"time"
)

// Usage is what a command has used.
type Usage struct {
	// User and System are processor time.
	User, System time.Duration
	// MaxRSS is the peak resident memory in bytes of the largest process.
	MaxRSS int64
}

// usageJSON is the JSON form of Usage: milliseconds with fractions, and bytes.
type usageJSON struct {
	UserMs      float64 `json:"userMs"`
	SystemMs    float64 `json:"systemMs"`
	MaxRSSBytes int64   `json:"maxRssBytes"`
}

// MarshalJSON gives userMs, systemMs and maxRssBytes.
func (u Usage) MarshalJSON() ([]byte, error) {
	return json.Marshal(usageJSON{milliseconds(u.User), milliseconds(u.System), u.MaxRSS})
}

// UnmarshalJSON reads what MarshalJSON gives.
func (u *Usage) UnmarshalJSON(data []byte) error {
	var j usageJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*u = Usage{User: duration(j.UserMs), System: duration(j.SystemMs), MaxRSS: j.MaxRSSBytes}
	return nil
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
