//go:build unix

package file

import (
	"io/fs"
	"os"
	"path/filepath"

	"hardshell/internal/fault"
)

// checkTarget refuses to write through a link into a directory in which others
// can put their own file under the target's name. The sticky bit keeps them from
// replacing one that is there.
func (p place) checkTarget() error {
	if !p.linked() {
		return nil
	}
	dir := filepath.Dir(p.target)
	info, err := os.Stat(dir)
	if err != nil {
		return fault.New(fault.SettingsReadOnly,
			"the settings file is a link to %s, whose directory cannot be used: create it, or change the link (%w)", p.target, err)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fault.New(fault.SettingsReadOnly,
			"the settings file is a link into %s, which others can write to (mode %04o): run chmod go-w on that directory", dir, perm)
	}
	return nil
}
