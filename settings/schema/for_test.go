package schema

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", path, got)
	}
}

type limits struct {
	TimeoutMs int64   `json:"timeoutMs" doc:"How long a command may run." default:"120000" minimum:"1" maximum:"600000"`
	Ratio     float64 `json:"ratio" default:"0.5" exclusiveMinimum:"0" exclusiveMaximum:"1"`
}

type common struct {
	Debug bool `json:"debug" default:"false"`
}

type model struct {
	Name  string   `json:"name"`
	Tags  []string `json:"tags,omitempty" minLength:"1" maxItems:"3"`
	Inner []model  `json:"inner"`
}

type everything struct {
	common
	Mode     string            `json:"mode" title:"Mode" doc:"What a command may write." enum:"ro=Read only|ww=Workspace" default:"ww"`
	Level    string            `json:"level" enum:"info|debug" default:"info"`
	Retries  uint8             `json:"retries" default:"3"`
	APIKey   Text              `json:"apiKey,omitempty" role:"secret" doc:"Key of the service."`
	KeyEnv   string            `json:"keyEnv" role:"credential-ref" default:"KEY" pattern:"^[A-Z_]+$"`
	Headers  map[string]string `json:"headers" role:"secret-values"`
	Limits   limits            `json:"limits"`
	Proxy    *limits           `json:"proxy"`
	Roots    []string          `json:"roots" default:"[\"/tmp\"]"`
	Pair     [2]int            `json:"pair" default:"[1,2]"`
	Routes   map[string]model  `json:"routes"`
	Workdir  string            `json:"workdir"`
	Anything any               `json:"anything,omitempty"`
	Ignored  string            `json:"-"`
	hidden   string
}

func TestTagsBecomeASchema(t *testing.T) {
	t.Parallel()
	s, err := For[everything]()
	if err != nil {
		t.Fatal(err)
	}
	var pretty strings.Builder
	encoder := json.NewEncoder(&pretty)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(json.RawMessage(s.Document())); err != nil {
		t.Fatal(err)
	}
	golden(t, "everything.json", pretty.String())
	again, _ := For[everything]()
	if again != s {
		t.Error("the second call made another schema")
	}
	if reread := parsed(t, string(s.Document())); string(reread.Document()) != string(s.Document()) {
		t.Error("the document is not read back as it was")
	}
	got := s.Resolve(nil, tree(t, `{"workdir":"/w","limits":{"ratio":0.25},"routes":{"a":{"name":"n","inner":[{"name":"i"}]}},"mode":"ro"}`))
	if len(got.Problems)+len(got.Unknown) > 0 {
		t.Fatal(lines(got.Problems), got.Unknown)
	}
	var value everything
	if err := jsontree.Decode(any(got.Value), &value); err != nil {
		t.Fatal(err)
	}
	if value.Limits != (limits{120000, 0.25}) || value.Proxy != nil || value.Retries != 3 || value.Mode != "ro" || value.hidden != "" ||
		value.Pair != [2]int{1, 2} || value.Routes["a"].Inner[0].Name != "i" || value.Roots[0] != "/tmp" || value.Debug {
		t.Errorf("%+v", value)
	}
	missing := s.Resolve(nil, tree(t, `{"mode":"rw","retries":256,"routes":{"a":{"inner":[{}]}}}`))
	want := []string{
		"$.mode oneOf: must be one of: ro, ww", "$.retries maximum: must be at most 255",
		"$.routes.a.inner[0].name required: is required; set it", "$.routes.a.name required: is required; set it",
		"$.workdir required: is required; set it",
	}
	if lines := lines(missing.Problems); joined(lines) != joined(want) {
		t.Errorf("%q", lines)
	}
}

func TestKeysAreListedForPeople(t *testing.T) {
	t.Parallel()
	s, err := For[everything]()
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	list := func(s *Schema) {
		for _, k := range s.Keys() {
			table.WriteString(k.Path + " | " + k.Type + " | " + k.Default + " | " + k.Range + " |")
			for _, c := range k.Enum {
				table.WriteString(" " + string(jsontree.Encode(c.Value)) + "=" + c.Label)
			}
			table.WriteString(" |")
			if k.Secret {
				table.WriteString(" secret")
			}
			if k.Required {
				table.WriteString(" required")
			}
			table.WriteString(" | " + k.Title + " | " + k.Description + "\n")
		}
	}
	list(s)
	table.WriteString("\n")
	list(parsed(t, adapter))
	if strings.Contains(table.String(), "canary") {
		t.Error("a secret default is listed")
	}
	golden(t, "keys.txt", table.String())
}

func TestTypesThatCannotBeProvenAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		of   func() (*Schema, error)
		want string
	}{
		"no struct":                  {For[string], "not by string"},
		"a duration":                 {For[struct{ D time.Duration }], "timeoutMs"},
		"a type that decodes itself": {For[struct{ T time.Time }], "decodes itself"},
		"raw JSON":                   {For[struct{ R json.RawMessage }], "decodes itself"},
		"bytes":                      {For[struct{ B []byte }], "list of bytes"},
		"a channel":                  {For[struct{ C chan int }], "no data of settings"},
		"an interface":               {For[struct{ E error }], "no data of settings"},
		"keys of numbers":            {For[struct{ M map[int]string }], "plain strings as keys"},
		"a misspelt tag": {For[struct {
			S string `rol:"secret"`
		}], `the unknown tag "rol"`},
		"a misspelt role": {For[struct {
			S string `role:"secrets"`
		}], "has a role that is not"},
		"a broken tag": {described(reflect.StructField{Name: "S", Type: reflect.TypeFor[string](), Tag: "role:secret"}), "is not written key"},
		"a bound of a string": {For[struct {
			S string `minimum:"1"`
		}], "is no number and has the tag minimum"},
		"a length of a number": {For[struct {
			N int `minLength:"1"`
		}], "is no string and has the tag minLength"},
		"a bound of a struct": {For[struct {
			L limits `maximum:"1"`
		}], "is a struct and has the tag maximum"},
		"secret values of a text": {For[struct {
			S string `role:"secret-values"`
		}], "its role is secret"},
		"a default of no JSON": {For[struct {
			N int `default:"one"`
		}], "no JSON"},
		"a default out of bounds": {For[struct {
			N int `default:"0" minimum:"1"`
		}], `"default" at #/properties/N`},
		"a bound of no number": {For[struct {
			N int `minimum:"one"`
		}], `"minimum" at #/properties/N must be a number`},
		"one key twice": {described(
			reflect.StructField{Name: "A", Type: reflect.TypeFor[string](), Tag: `json:"a"`},
			reflect.StructField{Name: "B", Type: reflect.TypeFor[string](), Tag: `json:"a"`}), "the key of another field"},
		"strings of numbers": {For[struct {
			N int `json:",string"`
		}], "option of encoding/json"},
		"an embedded pointer": {For[struct{ *limits2 }], "must not be embedded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.of()
			if !errors.Is(err, fault.SettingsInvalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want … %s", err, test.want)
			}
		})
	}
}

// described is For of a struct that go vet would refuse.
func described(fields ...reflect.StructField) func() (*Schema, error) {
	return func() (*Schema, error) {
		d := describer{names: map[string]reflect.Type{}}
		_, err := d.document(reflect.StructOf(fields))
		return nil, err
	}
}

// limits2 is exported by its embedding only.
type limits2 = Limits

// Limits is embedded as a pointer.
type Limits struct{ N int }

func BenchmarkForAndResolve(b *testing.B) {
	type ten struct {
		A string            `json:"a" default:"x"`
		B int               `json:"b" default:"1" minimum:"1"`
		C bool              `json:"c" default:"true"`
		D float64           `json:"d" default:"0.5"`
		E string            `json:"e" enum:"a|b" default:"a"`
		F []string          `json:"f"`
		G map[string]string `json:"g"`
		H Text              `json:"h,omitempty" role:"secret"`
		I int               `json:"i" default:"1"`
		J string            `json:"j,omitempty" maxLength:"100"`
	}
	user := tree(b, `{"a":"y","b":5,"f":["1","2"],"g":{"k":"v"},"h":"s"}`)
	base := tree(b, `{"i":7,"g":{"l":"w"}}`)
	b.ReportAllocs()
	for b.Loop() {
		s, err := For[ten]()
		if err != nil {
			b.Fatal(err)
		}
		if got := s.Resolve(base, user); len(got.Problems) > 0 {
			b.Fatal(got.Problems)
		}
	}
}

// BenchmarkFirstFor is what the first use of a type costs: a start pays it for
// every section.
func BenchmarkFirstFor(b *testing.B) {
	t := reflect.TypeFor[everything]()
	b.ReportAllocs()
	for b.Loop() {
		d := describer{root: t, names: map[string]reflect.Type{}}
		source, err := d.document(t)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := build(source); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	s := parsed(b, adapter)
	layer := tree(b, `{"url":"u","token":"t","providers":{"a":{"apiKey":"c","model":"m"},"b":{}}}`)
	b.ReportAllocs()
	for b.Loop() {
		s.Redact(layer)
	}
}
