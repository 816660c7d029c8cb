package schema

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hardshell/internal/fault"
)

// Text is a setting of words that may stand elsewhere: "${env:NAME}" is the value
// of an environment variable, "${file:PATH}" the content of a file without the
// line end at its end. PATH is absolute or begins with "~/". A reference is the
// whole text. In other text "$${" stands for "${".
//
// A Text does not give away what it resolves to by being printed, logged or
// encoded: a reference prints as it is written, any other text as a placeholder.
// A section's tree has it as a plain string.
type Text string

const (
	hiddenText = "(text not shown)"
	// maxReferenced bounds a file that a Text refers to, in bytes.
	maxReferenced = 64 << 10
)

// Resolve returns the words. A reference is followed anew by every call, so a
// change of its file counts at once. An unset or empty variable, a file that
// cannot be read and a malformed reference are errors with the code
// SETTINGS_INVALID that name what is missing and never its content.
func (t Text) Resolve() (string, error) {
	if why := t.fault(); why != "" {
		return "", fault.New(fault.SettingsInvalid, "the text of the setting %s", why)
	}
	kind, target := t.reference()
	switch kind {
	case "env":
		if value := os.Getenv(target); value != "" {
			return value, nil
		}
		return "", fault.New(fault.SettingsInvalid, "the environment variable %s is not set; set it, or change the setting that refers to it", target)
	case "file":
		return readReferenced(target)
	default:
		return strings.ReplaceAll(string(t), "$${", "${"), nil
	}
}

// IsReference reports whether the text refers to a variable or a file.
func (t Text) IsReference() bool {
	kind, _ := t.reference()
	return kind != "" && t.fault() == ""
}

// String is the reference as it is written, or a placeholder.
func (t Text) String() string {
	if t == "" || t.IsReference() {
		return string(t)
	}
	return hiddenText
}

// GoString is String for the verb %#v.
func (t Text) GoString() string { return "schema.Text(" + strconv.Quote(t.String()) + ")" }

// Format prints String, whatever the verb.
func (t Text) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('#'):
		_, _ = io.WriteString(f, t.GoString())
	case verb == 'q':
		_, _ = io.WriteString(f, strconv.Quote(t.String()))
	default:
		_, _ = io.WriteString(f, t.String())
	}
}

// LogValue is String for logs.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText is the reference as it is written. Other text is an error: what is
// encoded is likely to leave the process. Give such values as plain strings of a
// tree where they are meant to be stored.
func (t Text) MarshalText() ([]byte, error) {
	if t == "" || t.IsReference() {
		return []byte(t), nil
	}
	return nil, errors.New("a schema.Text that is no reference is not encoded: it may be a secret")
}

// reference splits "${kind:target}".
func (t Text) reference() (kind, target string) {
	inner, begins := strings.CutPrefix(string(t), "${")
	inner, ends := strings.CutSuffix(inner, "}")
	if !begins || !ends {
		return "", ""
	}
	kind, target, _ = strings.Cut(inner, ":")
	return kind, target
}

// fault says what is wrong with the text; "" when nothing is.
func (t Text) fault() string {
	const advice = "must be plain text, ${env:NAME} or ${file:PATH}; a literal ${ is written $${"
	switch kind, target := t.reference(); kind {
	case "env":
		if isVariable(target) {
			return ""
		}
		return advice
	case "file":
		if (filepath.IsAbs(target) || strings.HasPrefix(target, "~/")) && !strings.ContainsRune(target, 0) {
			return ""
		}
		return "must refer to a file by an absolute path or one that begins with ~/"
	}
	if strings.Contains(strings.ReplaceAll(string(t), "$${", ""), "${") {
		return advice
	}
	return ""
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func readReferenced(path string) (string, error) {
	if rest, atHome := strings.CutPrefix(path, "~/"); atHome {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fault.New(fault.SettingsInvalid, "the home directory is not known; refer to the file by an absolute path")
		}
		path = filepath.Join(home, rest)
	}
	refuse := func(why string) (string, error) {
		return "", fault.New(fault.SettingsInvalid, "the file %s, which a setting refers to, %s", path, why)
	}
	// A FIFO or a device could block, or never end.
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return refuse("does not exist; create it, or change the setting")
	} else if err != nil {
		return refuse("cannot be read; check its permissions")
	} else if !info.Mode().IsRegular() {
		return refuse("must be a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return refuse("cannot be read; check its permissions")
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxReferenced+1))
	switch {
	case err != nil:
		return refuse("cannot be read")
	case len(content) > maxReferenced:
		return refuse(fmt.Sprintf("is longer than %d bytes", maxReferenced))
	}
	words := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	if words == "" {
		return refuse("is empty")
	}
	return words, nil
}
