package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	goccy "github.com/goccy/go-yaml"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"hardshell/internal/jsontree"
)

// Where other parsers read a plain scalar by the rules of YAML 1.1.
var (
	timestamp    = regexp.MustCompile(`^\d{4}-\d\d?-\d\d?`)
	underscored  = regexp.MustCompile(`^[-+]?[0-9._][0-9a-fA-FxXoObB._+-]*$`)
	binaryNumber = regexp.MustCompile(`^[-+]?0b[01_]+$`)
	octalNumber  = regexp.MustCompile(`^[-+]?0[0-9]+$`)
	signedBased  = regexp.MustCompile(`^[-+]0[xo][0-9a-fA-F]+$`)
	otherBased   = regexp.MustCompile(`^[-+]?0[XOB]`)
	doubleSign   = regexp.MustCompile(`^[-+][-+]`)
	zeroFloat    = regexp.MustCompile(`^[-+]?0+[0-9]+[.eE]`)
)

func readByVersion11(text string) bool {
	return timestamp.MatchString(text) || strings.Contains(text, "_") && underscored.MatchString(text) || binaryNumber.MatchString(text) || octalNumber.MatchString(text) ||
		signedBased.MatchString(text) || otherBased.MatchString(text)
}

// kindOf reduces a value to what parsers of any number type agree on: what it
// is, and what a number is as a float.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case string:
		return "string " + v
	case json.Number:
		f, _, err := big.ParseFloat(string(v), 10, 80, big.ToNearestEven)
		if err != nil {
			return "number out of range"
		}
		float, _ := f.Float64()
		return number(float)
	case int:
		return number(float64(v))
	case int64:
		return number(float64(v))
	case uint64:
		return number(float64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "no number"
		}
		return number(v)
	default:
		return fmt.Sprintf("%T", v)
	}
}

func number(f float64) string {
	if f == 0 {
		f = 0
	}
	return fmt.Sprintf("number %.15g", f+0)
}

// Scalars are what two other parsers take them for, but where those follow YAML
// 1.1 or are known to be wrong.
func TestPlainScalarsAreReadAsOthersDo(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		d, err := Parse("s.yaml", YAML, []byte("a: "+text+"\n"))
		if err != nil {
			return
		}
		if strings.Contains(text, "#") || d.root.entries[0].value.kind != scalarNode || d.root.entries[0].value.tagged || d.root.entries[0].value.anchor != "" {
			return
		}
		ours := kindOf(d.Tree()["a"])
		if d.Problem("a") != nil {
			ours = "no number"
		}
		var theirs map[string]any
		if err := yaml.Load([]byte("a: "+text+"\n"), &theirs); err == nil && !readByVersion11(text) {
			if got := kindOf(theirs["a"]); got != ours && !expectedOfYAML(text, got) {
				t.Errorf("%q: %s, yaml v4 says %s", text, ours, got)
			}
		}
		theirs = nil
		if err := goccy.Unmarshal([]byte("a: "+text+"\n"), &theirs); err == nil && !readByVersion11(text) {
			if got := kindOf(theirs["a"]); got != ours && !expectedOfGoccy(text, got) {
				t.Errorf("%q: %s, goccy says %s", text, ours, got)
			}
		}
	}
	for _, text := range []string{"yes", "on", "1e3", "1E5", ".5", "5.", "0x1F", "0o17", "~", "null", "Null", "True", "TRUE", "tRue", "-0", "+1", "1.5e-3", ".inf", "-.INF", ".nan", "12:30:45", "=", "<<", "1e400", "a b", "''", "x:y", "9007199254740993", "18446744073709551616", "00.5", "+.5", "-", "e5", "1e", "0x", "0xg", "1__0", "NULL", "nan", "inf", "- 1"} {
		check(t, text)
	}
	if t.Failed() {
		return
	}
	generator := rapid.StringOfN(rapid.SampledFrom([]rune("00123456789..--++eExXobnaNATrueFls_~:[]{},'\" tyi")), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) { check(t, strings.TrimSpace(generator.Draw(t, "text"))) })
}

// expectedOfYAML reports the differences of yaml v4 that are its own.
func expectedOfYAML(text, got string) bool {
	switch {
	case text == "" || text == "<<":
		return true
	case zeroFloat.MatchString(text), strings.HasPrefix(got, "time."):
		return true
	// Its floats are those of strconv, which take 1e400 for a string.
	case strings.HasPrefix(got, "string"):
		_, reason, ok := core(text)
		return ok || reason != ""
	default:
		return false
	}
}

// expectedOfGoccy reports those of goccy: it reads words of strconv as numbers,
// and numbers that it does not hold as strings.
func expectedOfGoccy(text, got string) bool {
	if text == "" || doubleSign.MatchString(text) || zeroFloat.MatchString(text) || strings.Contains(got, "[]") || strings.Contains(got, "map") {
		return true
	}
	if strings.HasPrefix(got, "string") {
		_, reason, ok := core(text)
		return ok || reason != "" || strings.ContainsAny(text, "'\"\t,[]{}: ")
	}
	return strings.ContainsAny(text, "'\"\t,[]{}: ")
}

// JSON is what hujson and encoding/json take it for.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a": [1, 2.5e3, "x\n\u00e9", true, null, {"b": {}}]}`, "// c\n{\"a\": 1, /* d */ \"b\": [1,],}\n", `{"a":"\ud800"}`, `{"a":01}`, `{"\u0061":1,"a":2}`, "{\"a\": 1} // x", `{"a":-}`, `{"a":{"b":[[[]]]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("//")) && bytes.Contains(bytes.ReplaceAll(data, []byte("\r\n"), nil), []byte("\r")) {
			return // To hujson a comment goes on behind a lone CR, to others not.
		}
		d, err := Parse("s.json", JSON, bytes.Clone(data))
		if err != nil {
			if refused, ok := err.(*Error); !ok || refused.Line < 1 || refused.Column < 1 {
				t.Fatalf("%v", err)
			}
			if refused := err.(*Error); refused.Reason == Syntax {
				standard, err := hujson.Standardize(bytes.TrimPrefix(bytes.Clone(data), byteOrderMark))
				if err == nil && json.Valid(standard) && len(bytes.TrimSpace(standard)) > 0 {
					t.Fatalf("%v, but hujson reads %q", refused, data)
				}
			}
			return
		}
		standard, err := hujson.Standardize(append(bytes.TrimPrefix(bytes.Clone(data), byteOrderMark), '\n'))
		if d.root == nil || len(d.Problems()) > 0 {
			return
		}
		if err != nil {
			if bytes.ContainsAny(data, "\u2028\u2029") {
				return // not in its line comments
			}
			t.Fatalf("%q: hujson: %v", data, err)
		}
		theirs, err := jsontree.Parse(standard)
		if err != nil {
			t.Fatalf("%q: encoding/json: %v", data, err)
		}
		if theirs == nil {
			theirs = map[string]any{}
		}
		if !jsontree.Equal(theirs, orEmpty(d.Tree())) {
			t.Fatalf("%q: %s, encoding/json says %s", data, jsontree.Encode(d.Tree()), jsontree.Encode(theirs))
		}
	})
}

// What is written is read by others as it was meant: also by those that follow
// YAML 1.1.
func TestOthersReadWhatIsWritten(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("0123.-+eExob_~:ynYN/ #,\n\t'\"&*!|>%@`[]{}?=<TZ")), 0, 10, -1),
		rapid.SampledFrom([]string{"yes", "No", "ON", "off", "null", "~", "2024-01-02", "1_000", "0b1", "017", "1e3", "=", "<<", "12:30", ".inf", "0x1F", "a\nb\n", "\ta\nb"}))
	rapid.Check(t, func(t *rapid.T) {
		value := text.Draw(t, "text")
		if strings.ToValidUTF8(value, "") != value {
			t.Skip("no UTF-8")
		}
		key := text.Draw(t, "key")
		d, err := Parse("s.yaml", YAML, []byte("s: {x: 1}\nb:\n"))
		if err != nil {
			t.Fatal(err)
		}
		whole := map[string]any{key: value, "list": []any{value, map[string]any{"k": value}}}
		edited, err := d.Apply([]Edit{{Path: jsontree.Path{"b"}, Value: whole}, {Path: jsontree.Path{"s", "y"}, Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := jsontree.From(map[string]any{"s": map[string]any{"x": 1, "y": value}, "b": whole})
		var theirs map[string]any
		if err := yaml.Load(edited.Bytes(), &theirs); err != nil {
			t.Fatalf("yaml v4: %v\n%s", err, edited.Bytes())
		}
		if got, err := jsontree.From(theirs); err != nil || !jsontree.Equal(want, got) {
			t.Fatalf("yaml v4 reads %s, %v, want %s\n%s", jsontree.Encode(got), err, jsontree.Encode(want), edited.Bytes())
		}
	})
}
