package cli_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAMistakeOfAnEditCanBeMendedOnATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers []string
		status  int
		last    string // what the last line has
		content string // what the document then is; "" is none
	}{
		{"by editing again", []string{"what", "e"}, 0, "settings.yaml is changed", "shell:\n  timeoutMs: 5\n"},
		{"not when it is given up", []string{"q"}, 1, "nothing was changed, and your text is kept in", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			// The first time it writes what is wrong, the second what is right.
			editor := filepath.Join(dir, "ed.sh")
			script := `if [ -e "$0.again" ]; then v=5; else v=soon; : >"$0.again"; fi; printf 'shell:\n  timeoutMs: %s\n' $v >"$1"`
			if err := os.WriteFile(editor, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			own, far := terminal(t, 200)
			cmd := exec.Command("hardshell", "settings", "edit")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = far, far, far
			cmd.Env = append(os.Environ(), "DSH_HOME="+filepath.Join(dir, "home"), "VISUAL=", "EDITOR=sh "+editor)
			// So that the terminal is its own, as a person's is.
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			far.Close()
			guard := time.AfterFunc(hangs, func() { cmd.Process.Kill() })
			defer guard.Stop()
			screen := bufio.NewReader(own)
			var shown strings.Builder
			for _, answer := range c.answers {
				for !strings.HasSuffix(shown.String(), "/settings.yaml? ") {
					b, err := screen.ReadByte()
					if err != nil {
						t.Fatalf("%v after %q", err, shown.String())
					}
					shown.WriteByte(b)
				}
				own.WriteString(answer + "\n")
				shown.WriteString("\n")
			}
			for {
				b, err := screen.ReadByte()
				if err != nil {
					break // EIO: nobody has the terminal any more
				}
				shown.WriteByte(b)
			}
			cmd.Wait()
			if status := shellStatus(cmd.ProcessState); status != c.status || !strings.Contains(shown.String(), c.last) {
				t.Errorf("the status is %d, want %d, and the screen %q", status, c.status, shown.String())
			}
			if want := "settings.yaml:2:14: shell.timeoutMs must be a number\r\n(e)dit again, or (q)uit"; !strings.Contains(shown.String(), want) {
				t.Errorf("the screen has no %q: %q", want, shown.String())
			}
			data, _ := os.ReadFile(filepath.Join(dir, "home", "settings.yaml"))
			if string(data) != c.content {
				t.Errorf("the document is %q, want %q", data, c.content)
			}
		})
	}
}

func TestADescriptionFitsATerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []uint16{60, 100, 200} {
		own, far := terminal(t, width)
		cmd := exec.Command("hardshell", "settings", "describe", "sandbox")
		cmd.Stdout, cmd.Env = far, append(os.Environ(), "DSH_HOME="+filepath.Join(t.TempDir(), "home"), "NO_COLOR=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		far.Close()
		var shown strings.Builder
		screen := bufio.NewReader(own)
		for {
			line, err := screen.ReadString('\n')
			shown.WriteString(line)
			if err != nil {
				break
			}
			if n := len([]rune(strings.TrimRight(line, "\r\n"))); n > int(width) {
				t.Errorf("a line has %d characters on a terminal of %d: %q", n, width, line)
			}
		}
		cmd.Wait()
		if !strings.Contains(shown.String(), "sandbox.writableRoots") {
			t.Errorf("on a terminal of %d: %q", width, shown.String())
		}
	}
}
