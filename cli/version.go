package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build.
var version = "dev"

// versionDocument is what version prints.
type versionDocument struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  hardshell version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.printVersion()
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) printVersion() error {
	d := buildVersion()
	if a.json {
		return a.printJSON(d)
	}
	commit := d.Commit
	if d.Modified {
		commit += ", modified"
	}
	fmt.Fprintf(a.streams.Out, "hardshell %s (%s) %s %s\n", d.Version, commit, d.Go, d.Platform)
	return nil
}

func buildVersion() versionDocument {
	d := versionDocument{
		Version: version, Commit: "unknown commit",
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return d
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			d.Commit = setting.Value
		case "vcs.modified":
			d.Modified = setting.Value == "true"
		}
	}
	return d
}
