package spawn

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHammer spawns $HARDSHELL_HAMMER children of a program that only ends, from
// sixteen goroutines, while others allocate and force collections: what the
// child runs must survive both. docs/reliability.md has the result of a million.
func TestHammer(t *testing.T) {
	total := 300
	if text := os.Getenv("HARDSHELL_HAMMER"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		total = n
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	program := "/bin/true"
	if text := os.Getenv("HARDSHELL_HAMMER_PROGRAM"); text != "" {
		program = text
	}

	stop := make(chan struct{})
	var pressure sync.WaitGroup
	pressure.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
				time.Sleep(5 * time.Millisecond)
			}
		}
	})
	pressure.Go(func() {
		var keep [64][]byte
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				keep[i%len(keep)] = make([]byte, 32<<10)
				runtime.Gosched()
			}
			if i%64 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	})

	var left atomic.Int64
	left.Store(int64(total))
	var workers sync.WaitGroup
	tags := NewTags()
	for range 16 {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				child, err := Start(&Attr{
					Path: program, Argv: []string{"true", "some", "arguments"}, Env: []string{"A=1", "B=2"}, Dir: "/",
					Files: []int{int(null.Fd()), int(null.Fd()), int(null.Fd())}, Tag: tags.Next(),
				})
				if err != nil {
					t.Errorf("%v", err)
					return
				}
				child.WaitExit()
				if status := child.Reap(); status.Code != 0 {
					t.Errorf("the child ended with %+v", status)
					return
				}
			}
		})
	}
	workers.Wait()
	close(stop)
	pressure.Wait()
}
