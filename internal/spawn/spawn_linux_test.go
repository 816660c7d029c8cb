package spawn

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestMarkFollowsDescendantsThatLeaveEverything(t *testing.T) {
	t.Parallel()
	tags := NewTags()
	tag := tags.Next()
	if tag == 0 {
		t.Skip("this process runs two levels deep under marks of its own")
	}
	out, _ := run(t, `sleep 0.05; env -i setsid sh -c 'echo $$; read x </dev/null; cat /proc/$$/limits'`,
		func(a *Attr) { a.Tag = tag })
	if !strings.Contains(out, strconv.FormatUint(tag, 10)) {
		t.Errorf("a descendant's limits do not hold the tag %d:\n%s", tag, out)
	}
}

func TestMarkReadsTheLimitOfAProcess(t *testing.T) {
	t.Parallel()
	tag := NewTags().Next()
	if tag == 0 {
		t.Skip("this process runs two levels deep under marks of its own")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	child, err := Start(&Attr{Path: "/bin/sh", Argv: []string{"sh", "-c", "read x"}, Files: []int{int(r.Fd()), 1, 2}, Tag: tag})
	r.Close()
	if err != nil {
		t.Fatal(err)
	}
	if got := Mark(child.PID()); got != tag {
		t.Errorf("mark %d, want %d", got, tag)
	}
	w.Close()
	child.WaitExit()
	child.Reap()
	if got := Mark(child.PID()); got != 0 {
		t.Errorf("a process that is gone has mark %d", got)
	}
	if own := Mark(os.Getpid()); own != 0 && own != ownTag() {
		t.Errorf("own mark %d, limit %d", own, ownTag())
	}
}

func TestTheOtherWaysPassTheSameTests(t *testing.T) {
	if os.Getenv("HARDSHELL_SPAWN") != "" {
		t.Skip("this is such a run")
	}
	for _, way := range []string{"portable", "clone"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "HARDSHELL_SPAWN="+way)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", way, err, out)
		}
	}
}
