package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"hardshell/sandbox"
)

// print writes a diagnosis for a person.
func (d *diagnosis) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "hardshell %s, %s", d.Version.Version, d.Version.Platform)
	if d.Sandbox.Kernel != "" {
		fmt.Fprintf(&b, ", kernel %s", d.Sandbox.Kernel)
	}
	if d.Sandbox.Container != "" {
		fmt.Fprintf(&b, ", in a container (%s)", d.Sandbox.Container)
	}
	b.WriteString("\n")
	for _, warning := range d.Warnings {
		fmt.Fprintf(&b, "\nWarning: %s.\n", strings.TrimSuffix(warning, "."))
	}
	d.printTiers(&b)
	d.printPlace(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// printTiers tells of the tier in use in words, and of the others with what
// hinders them.
func (d *diagnosis) printTiers(b *strings.Builder) {
	if d.Sandbox.Tier == "" {
		b.WriteString("\nCommands cannot be confined.\n")
	}
	for _, t := range d.Sandbox.Tiers {
		if t.Tier == d.Sandbox.Tier && t.Effects != nil {
			fmt.Fprintf(b, "\nCommands are confined by %s: %s.\n\n", t.Tier, tierWords[t.Tier])
			printEffects(b, t.Effects)
		}
	}
	other := "Other ways"
	if d.Sandbox.Tier == "" {
		other = "What was tried"
	}
	fmt.Fprintf(b, "\n%s\n", other)
	for _, t := range d.Sandbox.Tiers {
		switch {
		case t.Tier == d.Sandbox.Tier:
		case !t.Works:
			fmt.Fprintf(b, "\n  %s does not work here: %s.\n", t.Tier, strings.TrimSuffix(t.Error, "."))
		case t.Effects.Enforcement() == sandbox.Full:
			fmt.Fprintf(b, "\n  %s works too, completely.\n", t.Tier)
		default:
			fmt.Fprintf(b, "\n  %s works too, in part: %s.\n", t.Tier, strings.Join(partial(t.Effects), "; "))
		}
	}
	for _, blocker := range d.Sandbox.Blockers {
		if blocker.Fix == "" && d.Sandbox.Tier != "" {
			continue // nothing to do about it, and not needed
		}
		tiers := make([]string, len(blocker.Tiers))
		for i, tier := range blocker.Tiers {
			tiers[i] = string(tier)
		}
		fmt.Fprintf(b, "\nIn the way of %s: %s\n", strings.Join(tiers, " and "), blocker.Cause)
		if blocker.Fix != "" {
			fmt.Fprintf(b, "  %s\n", blocker.Fix)
		}
		for _, command := range blocker.Commands {
			fmt.Fprintf(b, "      %s\n", command)
		}
	}
}

// tierWords say what a tier is.
var tierWords = map[sandbox.Tier]string{
	sandbox.TierNamespaces: "namespaces of their own, Landlock where the kernel has it, and a filter of system calls",
	sandbox.TierRoot:       "namespaces made by root, with few capabilities, and a filter of system calls",
	sandbox.TierLandlock:   "Landlock and a filter of system calls, without namespaces",
}

// effectWords say of each class what is the case when it is enforced, and when
// it is not wholly.
var effectWords = []struct {
	class, full, partial string
	of                   func(*sandbox.Effects) sandbox.Enforcement
}{
	{"write", "files outside of what a command may change stay as they are", "some changes to files outside are not refused",
		func(e *sandbox.Effects) sandbox.Enforcement { return e.Write }},
	{"metadata", "so do their modes, owners, times and attributes", "modes, owners and times of files outside can be changed",
		func(e *sandbox.Effects) sandbox.Enforcement { return e.Metadata }},
	{"protected-paths", "hooks and settings in the workspace stay as they are", "hooks and settings in the workspace can be changed",
		func(e *sandbox.Effects) sandbox.Enforcement { return e.ProtectedPaths }},
	{"read", "keys, credentials and the home of hardshell cannot be read", "some hidden files can be read",
		func(e *sandbox.Effects) sandbox.Enforcement { return e.Read }},
	{"visibility", "processes outside cannot be seen", "processes outside can be seen",
		func(e *sandbox.Effects) sandbox.Enforcement { return e.Visibility }},
	{"signal", "processes outside cannot be signalled or traced", "processes outside can be signalled",
		func(e *sandbox.Effects) sandbox.Enforcement { return e.Signal }},
	{"unix", "sockets of the host (docker, agents, desktop) cannot be reached", "sockets of the host can be reached",
		func(e *sandbox.Effects) sandbox.Enforcement { return e.Unix }},
}

func printEffects(b *strings.Builder, effects *sandbox.Effects) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, words := range effectWords {
		state, say := words.of(effects), words.full
		if state != sandbox.Full {
			say = words.partial
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", words.class, state, say)
	}
	fmt.Fprintf(table, "  network\t%s\t%s\n", effects.Network, "as the policy says: --network none leaves a loopback")
	// It writes to memory.
	_ = table.Flush()
}

// partial lists what a tier does not enforce wholly.
func partial(effects *sandbox.Effects) []string {
	var list []string
	for _, words := range effectWords {
		if words.of(effects) != sandbox.Full {
			list = append(list, words.partial)
		}
	}
	return slices.Compact(list)
}

// printPlace tells what commands find.
func (d *diagnosis) printPlace(b *strings.Builder) {
	b.WriteString("\n")
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	bash := "none on PATH"
	if d.Bash.Path != "" {
		bash = d.Bash.Path
		if d.Bash.Version != "" {
			bash += ", " + d.Bash.Version
		}
	}
	fmt.Fprintf(table, "bash\t%s\n", bash)
	spawner := "children are started by the portable way"
	if d.Sandbox.FastSpawn {
		spawner = "children are started by the fast way"
	}
	fmt.Fprintf(table, "spawn\t%s\n", spawner)
	if d.Limits.OpenFiles > 0 {
		fmt.Fprintf(table, "limits\topen files %s, at most %s; processes %s\n",
			limitText(d.Limits.OpenFiles), limitText(d.Limits.MaxOpenFiles), limitText(d.Limits.Processes))
	}
	home := d.Home.Path
	if d.Home.Mode != "" {
		home += ", mode " + d.Home.Mode
	}
	if d.Home.Owner != "" {
		home += ", user " + d.Home.Owner
	}
	if d.Home.FreeBytes > 0 {
		home += ", " + bytesText(d.Home.FreeBytes) + " free"
	}
	if d.Home.Sockets {
		home += ", sockets work"
	}
	fmt.Fprintf(table, "home\t%s\n", home)
	_ = table.Flush()
}

func limitText(n uint64) string {
	if n >= unlimitedFrom {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

// bytesText is a number of bytes with a unit.
func bytesText(n uint64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
