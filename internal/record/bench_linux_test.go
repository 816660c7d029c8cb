package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkSplice compares a child that writes 64 KiB at once through a pipe
// and a Writer with the same child writing into a file. The ratio is the file's
// time divided by the log's: 1 is as fast. The best and the median of all rounds
// are given, for on a busy machine the mean says little. RECORD_BENCH_DIR and
// RECORD_BENCH_MIB choose the file system and the amount.
func BenchmarkSplice(b *testing.B) {
	megabytes := 256
	if s := os.Getenv("RECORD_BENCH_MIB"); s != "" {
		fmt.Sscan(s, &megabytes)
	}
	for name, limit := range map[string]int64{"cap64MiB": DefaultMaxBytes, "uncapped": 1 << 50} {
		b.Run(name, func(b *testing.B) {
			var direct, logged []time.Duration
			for i := range b.N {
				dir := benchDir(b)
				// Each begins with a clean page cache, and each is first at times.
				for j := range 2 {
					unix.Sync()
					if (i+j)%2 == 0 {
						direct = append(direct, timeDirect(b, dir, megabytes))
					} else {
						logged = append(logged, timeLogged(b, dir, megabytes, limit))
					}
				}
				os.RemoveAll(dir)
			}
			b.SetBytes(int64(megabytes) << 20)
			slices.Sort(direct)
			slices.Sort(logged)
			middle := len(direct) / 2
			b.ReportMetric(float64(direct[0])/float64(logged[0]), "best-ratio")
			b.ReportMetric(float64(direct[middle])/float64(logged[middle]), "median-ratio")
			b.ReportMetric(logged[middle].Seconds(), "s/log")
		})
	}
}

func benchDir(b *testing.B) string {
	root := os.Getenv("RECORD_BENCH_DIR")
	if root == "" {
		root = os.TempDir()
	}
	dir, err := os.MkdirTemp(root, "record-bench-")
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

func timeDirect(b *testing.B, dir string, megabytes int) time.Duration {
	file, err := os.Create(filepath.Join(dir, "direct"))
	if err != nil {
		b.Fatal(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	cmd := child(b, "write", fmt.Sprint(megabytes))
	cmd.Stdout = file
	start := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func timeLogged(b *testing.B, dir string, megabytes int, limit int64) time.Duration {
	d := openDir(b, dir)
	ask := NewAsk()
	ask.MaxBytes = limit
	logs, err := d.CreateLogs(ask)
	if err != nil {
		b.Fatal(err)
	}
	defer d.remove(ask.Stdout)
	defer logs.Close()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	conn, err := r.SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	cmd := child(b, "write", fmt.Sprint(megabytes))
	cmd.Stdout = w
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w.Close()
	err = conn.Read(func(fd uintptr) bool {
		for {
			n, err := logs.Stream(Stdout).Splice(int(fd))
			if err == unix.EAGAIN {
				return false
			}
			if n == 0 {
				return true
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	elapsed := time.Since(start)
	cmd.Wait()
	if got := logs.Stream(Stdout).Total(); got != int64(megabytes)<<20 {
		b.Fatalf("%d bytes came", got)
	}
	return elapsed
}
