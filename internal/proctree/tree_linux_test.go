package proctree

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"hardshell/internal/spawn"
)

// sleeper starts a tree of two: a shell that waits for a sleep in a session of
// its own.
func sleeper(t *testing.T, s *Set) *Tree {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fd := int(null.Fd())
	if err := s.Enter(); err != nil {
		t.Fatal(err)
	}
	defer s.Leave()
	tree, err := s.Start(spawn.Start, &spawn.Attr{
		Path: "/bin/sh", Argv: []string{"sh", "-c", "setsid sleep 600 & wait"}, Env: os.Environ(),
		Files: []int{fd, fd, fd}, Tag: s.NextTag(),
	}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		tree.AwaitExit()
		s.Forget(tree)
	}()
	return tree
}

// members counts the living processes of a tree.
func members(tree *Tree) int {
	seen := map[int]bool{}
	tree.find(func(p process) bool {
		seen[p.pid] = true
		return true
	})
	return len(seen)
}

func awaitMembers(t *testing.T, tree *Tree, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); members(tree) != n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the tree has %d members, want %d", members(tree), n)
		}
	}
}

func TestAdoptedTreeIsFoundByItsTagAndEnded(t *testing.T) {
	s := NewSet()
	tree := sleeper(t, s)
	awaitMembers(t, tree, 2)
	for _, led := range []bool{false, true} {
		if n := members(Adopt(tree.PID(), tree.Tag(), time.Second, led)); n != 2 {
			t.Errorf("adopted with led=%v it has %d members, want 2", led, n)
		}
	}
	adopted := Adopt(0, tree.Tag(), time.Second, false)
	adopted.Terminate()
	<-adopted.Ended()
	if left := adopted.Survivors(); len(left) != 0 || members(tree) != 0 {
		t.Errorf("%d are left, survivors %v", members(tree), left)
	}
	if !tree.AwaitEnd(context.Background(), time.Second) {
		t.Error("the tree is not gone for its owner")
	}
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("Close = %v", err)
	}
	if s.Enter() == nil {
		t.Error("a closed set starts more")
	}
}

// The number of a process that was found may mean another one a moment later.
func TestWaitingForAProcessThatIsAnotherByNow(t *testing.T) {
	never := make(chan struct{})
	if !waitGone(os.Getpid(), func(int) bool { return false }, never) {
		t.Error("what is another process by now is waited for")
	}
	stopped := make(chan struct{})
	close(stopped)
	if waitGone(os.Getpid(), func(int) bool { return true }, stopped) {
		t.Error("a living process has ended")
	}
	s := NewSet()
	defer s.Close(context.Background())
	tree := sleeper(t, s)
	awaitMembers(t, tree, 2)
	if !tree.still(tree.PID()) || tree.still(os.Getpid()) || tree.still(1<<30) {
		t.Error("members are not told from strangers")
	}
}

func TestStraysAreWaitedFor(t *testing.T) {
	s := NewSet()
	tree := sleeper(t, s)
	awaitMembers(t, tree, 2)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if s.AwaitStrays(ctx) {
		t.Error("nothing is left, says the set of a living tree")
	}
	tree.Kill()
	if !s.AwaitStrays(context.Background()) {
		t.Error("something is left")
	}
	s.Close(context.Background())
}

func TestParseStat(t *testing.T) {
	line := func(name, state string, threads int) string {
		return "42 (" + name + ") " + state + " 1 7 8" + strings.Repeat(" 0", 13) + " " + strconv.Itoa(threads) + " 0 0\n"
	}
	for name, tt := range map[string]struct {
		stat string
		want process
		ok   bool
	}{
		"plain":                           {line("sh", "S", 1), process{42, 7, 8, false}, true},
		"a name like the end of the name": {line("a) R 9 9 9 (b", "S", 1), process{42, 7, 8, false}, true},
		"a zombie":                        {line("sh", "Z", 1), process{42, 7, 8, true}, true},
		"a zombie with other threads":     {line("sh", "Z", 3), process{42, 7, 8, false}, true},
		"nothing":                         {"", process{}, false},
		"cut short":                       {"42 (sh) S 1 7", process{}, false},
	} {
		if got, ok := parseStat(42, []byte(tt.stat)); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, got, ok, tt.want, tt.ok)
		}
	}
}
