package record

import (
	"os"
	"strings"
	"sync"
)

// BootID names this boot of the machine (random(4)); "" when it is unknown.
var BootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})
