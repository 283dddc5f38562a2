package cli

import "github.com/spf13/cobra"

// verbs lists the commands in the order of the help.
func verbs(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.benchCommand(),
		a.versionCommand(),
	}
}
