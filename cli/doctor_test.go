//go:build unix

package cli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hardshell/compose"
	"hardshell/sandbox"
)

// completely and inPart are what two tiers enforce.
var (
	completely = sandbox.Effects{
		Write: sandbox.Full, Metadata: sandbox.Full, ProtectedPaths: sandbox.Full, Read: sandbox.Full,
		Visibility: sandbox.Full, Signal: sandbox.Full, Unix: sandbox.Full, Network: sandbox.NetworkOpen,
	}
	inPart = sandbox.Effects{
		Write: sandbox.Full, Metadata: sandbox.Partial, ProtectedPaths: sandbox.Partial, Read: sandbox.Full,
		Visibility: sandbox.Partial, Signal: sandbox.Full, Unix: sandbox.Partial, Network: sandbox.NetworkOpen,
	}
)

// diagnoses are hosts that doctor has something different to say about.
var diagnoses = map[string]diagnosis{
	"full": {
		Version: versionDocument{Version: "1.0.0", Platform: "linux/amd64"},
		Sandbox: compose.Survey{
			Tier: sandbox.TierNamespaces, Kernel: "6.12.9", LandlockABI: 6, FastSpawn: true,
			Tiers: []compose.TierSurvey{
				{Tier: sandbox.TierNamespaces, Works: true, Allowed: true, Effects: &completely},
				{Tier: sandbox.TierRoot, Allowed: true, Error: "only root can make namespaces without a user namespace"},
				{Tier: sandbox.TierLandlock, Works: true, Allowed: true, Effects: &inPart},
			},
			Blockers: []compose.Blocker{{ID: "not-root", Tiers: []sandbox.Tier{sandbox.TierRoot}, Cause: "Only root can make namespaces without a user namespace."}},
		},
		Bash:   bashFacts{Path: "/usr/bin/bash", Version: "5.2.15(1)-release"},
		Limits: limitFacts{OpenFiles: 1024, MaxOpenFiles: 1<<64 - 1, Processes: 31000},
		Home:   homeFacts{Path: "/home/ann/.hardshell", Mode: "0700", Owner: "1000", FreeBytes: 5 << 30, Sockets: true},
	},
	"partial": {
		Version: versionDocument{Version: "1.0.0", Platform: "linux/amd64"},
		Sandbox: compose.Survey{
			Tier: sandbox.TierLandlock, Kernel: "6.8.0-45-generic", Container: "docker", LandlockABI: 4, FastSpawn: true,
			Tiers: []compose.TierSurvey{
				{Tier: sandbox.TierNamespaces, Allowed: true, Error: "make a user namespace: operation not permitted"},
				{Tier: sandbox.TierRoot, Allowed: true, Error: "make namespaces: operation not permitted"},
				{Tier: sandbox.TierLandlock, Works: true, Allowed: true, Effects: &inPart},
			},
			Blockers: []compose.Blocker{{
				ID: "container", Tiers: []sandbox.Tier{sandbox.TierNamespaces, sandbox.TierRoot},
				Cause: "This seems to be a Docker container.", Fix: "Start it otherwise.", Commands: []string{"docker run --security-opt seccomp=unconfined …"},
			}},
		},
		Bash:   bashFacts{Path: "/usr/bin/bash", Version: "5.1.4(1)-release"},
		Limits: limitFacts{OpenFiles: 128, MaxOpenFiles: 128, Processes: 1<<64 - 1},
		Home:   homeFacts{Path: "/mnt/nfs/home", Mode: "0700", Owner: "0", FreeBytes: 100 << 20},
	},
	"none": {
		Version: versionDocument{Version: "1.0.0", Platform: "darwin/arm64"},
		Sandbox: compose.Survey{
			Tiers:    []compose.TierSurvey{{Tier: sandbox.TierLandlock, Allowed: true, Error: "darwin is not supported yet"}},
			Blockers: []compose.Blocker{{ID: "unsupported-system", Tiers: []sandbox.Tier{sandbox.TierLandlock}, Cause: "Only Linux is supported by this version, and this is darwin."}},
		},
		Home: homeFacts{Path: "/Users/ann/.hardshell", Error: "the home /Users/ann/.hardshell is writable by others: run chmod go-w on it"},
	},
}

func TestDoctorTellsAPerson(t *testing.T) {
	t.Parallel()
	for name, d := range diagnoses {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			d.Warnings = d.warn()
			if err := d.print(&out); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "doctor", name+".txt")
			if flag.Lookup("update").Value.String() == "true" {
				if err := os.MkdirAll(filepath.Dir(golden), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(out.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("it tells\n%s\nwant\n%s", out.String(), want)
			}
		})
	}
}

func TestDoctorIsADocument(t *testing.T) {
	t.Parallel()
	status, out, errs := invoke(t, "doctor", "--json")
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil || errs != "" {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	if (status == 0) != (d.Sandbox.Tier != "") || status != 0 && status != exitError {
		t.Errorf("status %d with the tier %q", status, d.Sandbox.Tier)
	}
	if len(d.Sandbox.Tiers) != 3 || d.Bash.Path == "" || d.Bash.Version == "" || d.Limits.OpenFiles == 0 ||
		d.Home.Mode != "0700" || d.Home.FreeBytes == 0 || !d.Home.Sockets || d.Home.Error != "" || d.Warnings == nil {
		t.Errorf("the diagnosis is %+v", d)
	}
	if left, err := filepath.Glob(filepath.Join(d.Home.Path, "run", "*")); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestDoctorTellsOfAHomeThatCannotBe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	status := Main(t.Context(), []string{"--home", file + "/home", "doctor"}, Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if status != exitError || errs.Len() > 0 || !strings.Contains(out.String(), "Warning: the home "+file+"/home cannot be used") {
		t.Errorf("status %d, standard error %q, output\n%s", status, errs.String(), out.String())
	}
}
