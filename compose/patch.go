package compose

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"syscall"

	"hardshell/internal/document"
	"hardshell/internal/fault"
	"hardshell/internal/state"
)

// patchFile is the file of patch rows in a home.
const patchFile = "compose.yaml"

// maxPatchBytes bounds a file of patch rows.
const maxPatchBytes = 4 << 20

// Rows returns the default composition, changed by the rows of compose.yaml in the
// home, when there is one, and of the files in patches, in their order.
//
// A file is a list of rows. A row with the id of an earlier one replaces the
// fields that it has, config whole; one with an id of its own and a plugin is
// added; one that names neither changes nothing, and is logged. INVALID_ARGUMENT
// names the file and the line of what cannot be meant.
func Rows(home state.Home, patches []string, log *slog.Logger) ([]Row, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	rows := Default()
	own := filepath.Join(home.Root(), patchFile)
	data, err := state.ReadFile(own, maxPatchBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
	case err != nil:
		return nil, fault.New(fault.InvalidArgument, "the composition %s cannot be read: %w", own, err)
	default:
		if rows, err = patch(rows, own, data, log); err != nil {
			return nil, err
		}
	}
	for _, path := range patches {
		real, err := filepath.EvalSymlinks(path)
		var data []byte
		if err == nil {
			data, err = state.ReadFile(real, maxPatchBytes)
		}
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "the composition patch cannot be read: %w", err)
		}
		if rows, err = patch(rows, path, data, log); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// patch changes rows by those of one file.
func patch(rows []Row, path string, data []byte, log *slog.Logger) ([]Row, error) {
	format, err := document.FormatOf(path)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the composition patch: %w", err)
	}
	items, lines, err := document.ParseList(path, format, data)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the composition patch: %w", err)
	}
	if len(items) == 0 {
		return nil, fault.New(fault.InvalidArgument, "the composition patch %s has no rows: give a list of rows, or remove the file", path)
	}
	seen := map[string]bool{}
	for i, item := range items {
		p, err := readPatch(item)
		if err == nil && seen[p.id] {
			err = fmt.Errorf("id %q stands twice in the file", p.id)
		}
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "the composition patch %s, line %d: %w", path, lines[i], err)
		}
		seen[p.id] = true
		at := slices.IndexFunc(rows, func(row Row) bool { return row.ID == p.id })
		switch {
		case at >= 0 && p.plugin != "" && p.plugin != rows[at].Plugin && p.config == nil:
			rows[at].Plugin, rows[at].Config = p.plugin, nil // the other one's means nothing to it
		case at >= 0 && p.plugin != "":
			rows[at].Plugin = p.plugin
		case at >= 0:
		case p.plugin != "":
			rows = append(rows, Row{ID: p.id, Plugin: p.plugin})
			at = len(rows) - 1
		default:
			log.Warn("a composition patch names a row that is not there, and no plugin to make it of", "file", path, "line", lines[i], "id", p.id)
			continue
		}
		if p.config != nil {
			rows[at].Config = p.config
		}
		if p.disabled != nil {
			rows[at].Disabled = *p.disabled
		}
		if _, err := configure(rows[at]); err != nil {
			return nil, fault.New(fault.InvalidArgument, "the composition patch %s, line %d: %w", path, lines[i], err)
		}
	}
	return rows, nil
}

// patchRow is a row of a file; what is absent is zero.
type patchRow struct {
	id, plugin string
	config     map[string]any
	disabled   *bool
}

func readPatch(item any) (p patchRow, err error) {
	row, ok := item.(map[string]any)
	if !ok {
		return p, errors.New("a row is a map with an id")
	}
	for key, value := range row {
		fits := false
		switch key {
		case "id":
			p.id, fits = value.(string)
		case "plugin":
			p.plugin, fits = value.(string)
		case "config":
			p.config, fits = value.(map[string]any)
		case "disabled":
			var disabled bool
			disabled, fits = value.(bool)
			p.disabled = &disabled
		default:
			return p, fmt.Errorf("%q is no key of a row: use id, plugin, config and disabled", key)
		}
		if !fits {
			return p, fmt.Errorf("%s is of the wrong kind: id and plugin are strings, config is a map, disabled is true or false", key)
		}
	}
	if p.id == "" {
		return p, errors.New("a row needs an id")
	}
	return p, nil
}
