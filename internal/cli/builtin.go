package cli

import "github.com/spf13/cobra"

// builtinVerbs adds the verbs that cobra brings, help and completion, and
// teaches them to refuse arguments that they do not know: cobra's own print
// some help and succeed. All other verbs must be there already.
func builtinVerbs(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		case "help":
			show := c.Run
			c.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				switch {
				case err != nil:
					return err
				case len(rest) > 0 && of == root:
					return unknownVerb(root, rest[0])
				case len(rest) > 0:
					return usageError("%s has no verb %q; %s --help lists what it has", of.CommandPath(), rest[0], of.CommandPath())
				}
				return nil
			}
			c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
				show(c, args)
				return nil
			}
		}
	}
}
