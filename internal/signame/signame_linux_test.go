package signame

import (
	"syscall"
	"testing"
)

func TestNamesAndNumbersAreInverse(t *testing.T) {
	for number, name := range map[syscall.Signal]string{
		syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL", syscall.SIGINT: "SIGINT",
		32: "SIG32", 34: "SIGRTMIN", 35: "SIGRTMIN+1", 64: "SIGRTMIN+30",
	} {
		if got := Name(number); got != name {
			t.Errorf("Name(%d) = %q, want %q", number, got, name)
		}
		if got := Number(name); got != int(number) {
			t.Errorf("Number(%q) = %d, want %d", name, got, number)
		}
	}
	if got := Number("nonsense"); got != 0 {
		t.Errorf("an unknown name has number %d", got)
	}
}
