package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a completion script for your shell",
		Long: `Print a completion script for your shell.

  bash   source <(hardshell completion bash)    (needs the package bash-completion)
  zsh    hardshell completion zsh > "${fpath[1]}/_hardshell"
  fish   hardshell completion fish > ~/.config/fish/completions/hardshell.fish`,
		Example:   "  source <(hardshell completion bash)",
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("completion needs one shell: bash, zsh or fish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.streams.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.streams.Out)
			case "fish":
				return root.GenFishCompletion(a.streams.Out, true)
			default:
				return usagef("completion for %q is not known: use bash, zsh or fish", args[0])
			}
		},
	}
}
