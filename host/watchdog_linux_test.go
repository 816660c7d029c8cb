package host

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"hardshell/internal/cgroup"
	"hardshell/internal/command"
	"hardshell/internal/proctree"
	"hardshell/internal/spawn"
)

func TestMemoryIsMeasuredByTheGroupAndElseByALookAtEachProcess(t *testing.T) {
	t.Parallel()
	in, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	trees := proctree.NewSet()
	tree, err := trees.Start(spawn.Start, &spawn.Attr{
		Path: "/bin/sh", Argv: []string{"sh", "-c", "read x"}, Files: []int{int(in.Fd()), 1, 2},
	}, time.Second)
	in.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer tree.AwaitExit()
	defer input.Close()
	dir := t.TempDir()
	group, place, err := cgroup.In(dir).New(nil)
	if err != nil {
		t.Fatal(err)
	}
	place.Close()
	made, _ := filepath.Glob(dir + "/*")
	if len(made) != 1 {
		t.Fatalf("the groups are %q", made)
	}
	r := &recorded{command: &command.Command{Tree: tree}, group: group}

	if bytes, measure := r.memory(); bytes <= 0 || measure != "" {
		t.Errorf("without a controller: %d, %q", bytes, measure)
	}
	stat := "anon 5000000000\nfile 7000000000\nshmem 1000000000\n"
	if err := os.WriteFile(made[0]+"/memory.stat", []byte(stat), 0o600); err != nil {
		t.Fatal(err)
	}
	if bytes, measure := r.memory(); bytes != 6000000000 || measure == "" {
		t.Errorf("with the controller: %d, %q", bytes, measure)
	}
	r.group = nil
	if bytes, measure := r.memory(); bytes <= 0 || bytes >= 5000000000 || measure != "" {
		t.Errorf("without a group: %d, %q", bytes, measure)
	}
}
