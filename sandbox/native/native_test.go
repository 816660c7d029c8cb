package native

import (
	"context"
	"os"
	"testing"
	"time"

	"hardshell/sandbox"
	"hardshell/subprocess"
	"hardshell/subprocess/local"
)

func TestTry(t *testing.T) {
	ws := t.TempDir()
	os.Chmod(ws, 0o755)
	for _, tier := range Tiers() {
		p, err := New(Config{Home: t.TempDir() + "/home", Tiers: []sandbox.Tier{tier}})
		if err != nil {
			t.Fatal(err)
		}
		r := local.New(local.Config{})
		start := time.Now()
		c, err := p.Confine(context.Background(), sandbox.Policy{Mode: sandbox.WorkspaceWrite, WorkspaceRoot: ws, SessionID: "s1", Network: sandbox.Network(os.Getenv("NET"))})
		t.Log(tier, time.Since(start), err)
		if err != nil {
			continue
		}
		script := os.Getenv("SCRIPT")
		if script == "" {
			script = "id; pwd; ls -la / /tmp /dev; cat /proc/self/status | grep -E 'Cap|NoNew|Seccomp'; ps aux | head; touch x && echo wrote; touch /etc/x; echo hi > /tmp/a; df . ; mount | tail -40; cat /proc/sys/kernel/pid_max; env"
		}
		for range 2 {
			start = time.Now()
			h, err := r.Spawn(context.Background(), subprocess.Spec{
				Argv: []string{"bash", "-c", script}, Dir: ws, Stdin: subprocess.Stdin{Mode: subprocess.StdinIgnore},
				Stdout: subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 1 << 20}, Stderr: subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 1 << 20},
				Grace: time.Second, Confinement: c,
			})
			if err != nil {
				t.Log(err)
				break
			}
			<-h.Done()
			t.Log(time.Since(start), h.Exit(), "\n", h.Reader(subprocess.Stdout).Collected().Text, "\nERR\n", h.Reader(subprocess.Stderr).Collected().Text)
		}
		r.Close(context.Background())
		t.Log("close", p.Close())
	}
}
