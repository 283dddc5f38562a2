package cli

import "github.com/spf13/cobra"

// completions tells shells what flags with a fixed choice can be; all other
// values are files, which shells complete by themselves.
func completions(root *cobra.Command) {
	choices := map[string][]string{
		"device":    {"auto", "cpu", "cuda:0", "simt"},
		"log-level": {"debug", "info", "warn", "error"},
		"progress":  {"auto", "plain", "none"},
		"optimize":  {"prove", "size", "verify"},
		"field":     whirFields(),
		"extension": {"auto", "4", "5"},
		"hash":      whirHashes(),
		"arity":     {"2", "4", "8"},
		"bound":     {"bchks25", "dkt26"},
		"machine":   {"auto", "cpu", "gpu"},
		"curve":     msmCurves(),
		// Or a name, which only the model knows.
		"commit-input":  {everything},
		"commit-output": {everything},
		"kind":          msmKinds(),
	}
	for _, c := range allCommands(root) {
		for name, values := range choices {
			if c.Flags().Lookup(name) == nil && c.PersistentFlags().Lookup(name) == nil {
				continue
			}
			// It fails only for flags that do not exist.
			_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}
