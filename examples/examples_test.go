// Package examples holds programs that use this module. Its test builds and
// runs each of them.
package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// outputs is what each example prints.
var outputs = map[string]string{
	"library": "exit status 3\nworking\n",
	"parts":   "killed SIGTERM\n",
}

func TestEveryExampleDoesWhatItSays(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("needs the go command and its caches")
	case runtime.GOOS == "windows":
		t.Skip("the examples run bash")
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-o", bin+"/", "./...")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			want, ok := outputs[entry.Name()]
			if !ok {
				t.Fatal("this test does not know what it prints")
			}
			cmd := exec.Command(filepath.Join(bin, entry.Name()))
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "DSH_HOME="+filepath.Join(t.TempDir(), "home"))
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil || string(out) != want {
				t.Errorf("it prints %q, %v; want %q", out, err, want)
			}
		})
	}
}
