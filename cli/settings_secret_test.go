//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hardshell/settings"
)

// vault is a namespace with every kind of secret.
type vault struct {
	Endpoint string            `json:"endpoint" default:"https://example.org" doc:"Where it is."`
	Token    string            `json:"token,omitempty" role:"secret" minLength:"8" doc:"What opens it."`
	Keys     map[string]string `json:"keys,omitempty" role:"secret-values" doc:"Keys by their names."`
	Doors    []vaultDoor       `json:"doors,omitempty" doc:"Doors of it."`
	Rooms    map[string]room   `json:"rooms,omitempty" doc:"Rooms by their names."`
}

type vaultDoor struct {
	Name string `json:"name"`
	Code string `json:"code,omitempty" role:"secret"`
}

type room struct {
	Floor int    `json:"floor" default:"1" doc:"Where it lies."`
	Code  string `json:"code,omitempty" role:"secret" doc:"What opens it."`
}

// canary is in every secret of these tests.
const canary = "s3cret"

// vaultHome is a home whose document has secrets, and invokes commands in it.
type vaultHome struct {
	t    *testing.T
	home string
	seen strings.Builder // all that was printed
}

func newVault(t *testing.T, document string) *vaultHome {
	t.Helper()
	v := &vaultHome{t: t, home: filepath.Join(t.TempDir(), "home")}
	if err := os.Mkdir(v.home, 0o700); err != nil {
		t.Fatal(err)
	}
	v.write(document)
	return v
}

func (v *vaultHome) write(document string) {
	v.t.Helper()
	if err := os.WriteFile(v.path(), []byte(document), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

func (v *vaultHome) path() string { return filepath.Join(v.home, "settings.yaml") }

func (v *vaultHome) read() string {
	v.t.Helper()
	data, err := os.ReadFile(v.path())
	if err != nil {
		v.t.Fatal(err)
	}
	return string(data)
}

// invoke runs a settings command with everything logged.
func (v *vaultHome) invoke(stdin string, args ...string) (status int, stdout, stderr string) {
	v.t.Helper()
	var out, errs strings.Builder
	a := &app{
		streams: Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs},
		register: func(service *settings.Service) error {
			_, err := settings.Register(service, "vault", settings.RegisterOptions[vault]{Tolerate: true})
			return err
		},
	}
	status = a.main(v.t.Context(), append([]string{"--home", v.home, "--log-level", "debug", "settings"}, args...))
	v.seen.WriteString(out.String() + errs.String())
	return status, out.String(), errs.String()
}

func (v *vaultHome) sawNoSecret() {
	v.t.Helper()
	if i := strings.Index(v.seen.String(), canary); i >= 0 {
		v.t.Errorf("a secret was printed: %q", v.seen.String()[max(i-300, 0):i+len(canary)])
	}
}

const vaultDocument = `# mine
vault:
  token: s3cret-token
  keys: {first: s3cret-1, second: s3cret-2}
  doors:
    - {name: front, code: s3cret-3}
    - name: back
  rooms:
    attic: {floor: 3, code: s3cret-4}
  key-that-is-none: s3cret-5
`

func TestASecretIsSetOrNotAndNoMore(t *testing.T) {
	t.Parallel()
	v := newVault(t, vaultDocument)
	const whole = `{"doors":[{"code":{"set":true},"name":"front"},{"code":{"set":false},"name":"back"}],` +
		`"endpoint":"https://example.org","keys":{"first":{"set":true},"second":{"set":true}},` +
		`"rooms":{"attic":{"code":{"set":true},"floor":3}},"token":{"set":true}}`
	for _, c := range []struct{ at, want string }{
		{"vault.token", `{"set":true}`},
		{"vault.keys.first", `{"set":true}`},
		{"vault.keys", `{"first":{"set":true},"second":{"set":true}}`},
		{"vault.rooms.attic.code", `{"set":true}`},
		{"vault.rooms.attic", `{"code":{"set":true},"floor":3}`},
		{"vault.doors", `[{"code":{"set":true},"name":"front"},{"code":{"set":false},"name":"back"}]`},
		{"vault", whole},
	} {
		status, out, errs := v.invoke("", "get", c.at, "--json")
		if status != 0 || out != c.want+"\n" {
			t.Errorf("get %s: status %d, %s%s, want %s", c.at, status, out, errs, c.want)
		}
	}
	if _, out, _ := v.invoke("", "get", "vault.token"); out != `{"set":true}`+"\n" {
		t.Errorf("get without --json: %s", out)
	}
	if status, _, _ := v.invoke("", "get", "vault.key-that-is-none"); status != 1 {
		t.Errorf("get of an undeclared key: status %d", status)
	}
	_, out, _ := v.invoke("", "describe", "vault")
	for _, want := range []string{
		"\n  vault.token             set                                                                          user     -                    What opens it. (secret)\n",
		"\n  vault.rooms.attic.code  set ",
		"\n  vault.rooms.attic.floor  3 ",
		"\n  unknown: nothing reads vault.key-that-is-none\n",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("describe has no %q:\n%s", want, out)
		}
	}
	_, out, _ = v.invoke("", "describe", "vault", "--json")
	for _, want := range []string{`{"path":["token"],"set":true}`, `{"path":["keys","first"],"set":true}`, `{"path":["doors","1","code"],"set":false}`} {
		if !strings.Contains(out, want) {
			t.Errorf("describe --json has no %s: %s", want, out)
		}
	}
	if status, out, _ := v.invoke("", "list"); status != 0 || !strings.Contains(out, "token") {
		t.Errorf("list: status %d, %s", status, out)
	}
	for _, args := range [][]string{{"describe"}, {"list", "--json"}, {"validate"}, {"validate", "--json"}, {"unset", "vault.keys.second"}} {
		if status, out, errs := v.invoke("", args...); status != 0 {
			t.Errorf("%q: status %d, %s%s", args, status, out, errs)
		}
	}
	v.sawNoSecret()
}

func TestASecretIsSetWithoutAnEcho(t *testing.T) {
	t.Parallel()
	v := newVault(t, "vault:\n  token: s3cret-old # keep this\n")
	for _, c := range []struct {
		name, stdin string
		args        []string
		status      int
	}{
		{"from standard input", "s3cret-new\n", []string{"set", "vault.token", "-"}, 0},
		{"the same again", "s3cret-new\n", []string{"set", "vault.token", "-", "--json"}, 0},
		{"as an argument", "", []string{"set", "vault.token", "s3cret-arg"}, 0},
		{"in a map", "", []string{"set", "vault.keys.a", "s3cret-map"}, 0},
		{"too short", "", []string{"set", "vault.token", "s3cret"}, 1},
		{"of another kind", "", []string{"set", "vault.token", `["s3cret"]`}, 1},
		{"with the rest", "", []string{"set", "vault", `{"token":"s3cret-all","endpoint":7}`}, 1},
		{"with a stale revision", "", []string{"set", "--expected-revision", "1", "vault.token", "s3cret-stale"}, 1},
		{"where nothing reads it", "", []string{"set", "vault.tokens", "s3cret-typo"}, 0},
		{"like a flag", "", []string{"set", "vault.token", "-s3cret"}, 2},
		{"like a long flag", "", []string{"set", "vault.token", "--s3cret=s3cret"}, 2},
		{"like a long flag, with JSON", "", []string{"set", "--json", "vault.token", "--s3cret=s3cret"}, 2},
		{"in too many words", "", []string{"set", "vault.token", "s3cret", "words"}, 2},
		{"of no namespace", "", []string{"set", "nothing.token", "s3cret"}, 1},
	} {
		if status, out, errs := v.invoke(c.stdin, c.args...); status != c.status {
			t.Errorf("%s: status %d, want %d: %s%s", c.name, status, c.status, out, errs)
		}
	}
	v.sawNoSecret()
	if text := v.read(); !strings.Contains(text, "  token: s3cret-arg # keep this\n") {
		t.Errorf("the document is %q", text)
	}
}

func TestASecretThatIsWrongIsNotQuoted(t *testing.T) {
	t.Parallel()
	v := newVault(t, "")
	for _, document := range []string{
		"vault:\n  token: [s3cret]\n",
		"vault:\n  token: {s3cret: s3cret}\n",
		"vault:\n  token: s3cret\n",
		"vault:\n  keys: s3cret-not-a-map\n",
		"vault: s3cret-section\n",
		"vault:\n  rooms: {attic: {floor: s3cret}}\n",
		"vault:\n  token: !!binary s3cret\n",
		"vault:\n  token: \"s3cret\n",
		"vault:\n\ttoken: s3cret\n",
		"vault: {token: s3cret, token: s3cret}\n",
		"vault: *s3cret\n",
	} {
		v.write(document)
		for _, args := range [][]string{
			{"list"}, {"get", "vault"}, {"get", "vault.token"}, {"describe"}, {"describe", "--json"},
			{"validate"}, {"validate", "--json"}, {"set", "vault.endpoint", "x"}, {"unset", "vault.endpoint"},
		} {
			if _, _, errs := v.invoke("", args...); strings.Contains(errs, "panic") {
				t.Fatalf("%q of %q: %s", args, document, errs)
			}
		}
		if status, _, _ := v.invoke("", "validate"); status != 1 {
			t.Errorf("validate of %q: status %d", document, status)
		}
	}
	v.sawNoSecret()
}
