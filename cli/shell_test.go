package cli

import "testing"

func TestIsShell(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"-c", "x"}, true}, {[]string{"-lc", "x"}, true}, {[]string{"-l", "-c", "x"}, true}, {[]string{"-h"}, false}, {[]string{"--home", "x", "run"}, false},
		{[]string{"run", "-c"}, false}, {nil, false}, {[]string{"-"}, false}, {[]string{"-x"}, false}, {[]string{"-eux", "-c", "x"}, true}, {[]string{"--", "-c"}, false},
	} {
		if got := isShell(c.args); got != c.want {
			t.Errorf("%q: %v", c.args, got)
		}
	}
}
