package nofile_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"hardshell/internal/nofile"
)

// TestMain answers for the child of the test below.
func TestMain(m *testing.M) {
	if os.Getenv("NOFILE_PRINT") != "" {
		limit, ok := nofile.Original()
		os.Stdout.WriteString(strconv.FormatUint(limit.Cur, 10) + " " + strconv.FormatBool(ok))
		return
	}
	os.Exit(m.Run())
}

func TestOriginalIsTheLimitBeforeGoRaisedIt(t *testing.T) {
	cmd := exec.Command("sh", "-c", `ulimit -Sn 123; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), "NOFILE_PRINT=1")
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != "123 true" {
		t.Errorf("a process started with 123 remembers %q (%v)", out, err)
	}
}
