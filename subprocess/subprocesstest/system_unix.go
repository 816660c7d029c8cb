//go:build unix

package subprocesstest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// identity is what "stat -Lc %d:%i" prints about a descriptor's file.
func identity(t *testing.T, descriptor int) string {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Fstat(descriptor, &st); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d:%d\n", st.Dev, st.Ino)
}

func workingDirectory(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// writeExecutable makes an executable file through a child. This process must
// not hold it open for writing: a child that is being spawned just then would
// inherit the descriptor, and the file could not be executed (ETXTBSY).
func writeExecutable(t *testing.T, path, content string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", `printf %s "$2" >"$1" && chmod 700 "$1"`, "bash", path, content)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("writing %s: %v: %s", path, err, out)
	}
}
