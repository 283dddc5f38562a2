package cli

import "github.com/spf13/cobra"

// verbs lists the commands in the order of the help.
func verbs(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.demoCommand(),
		a.inspectCommand(),
		a.calibrateCommand(),
		a.setupCommand(),
		a.commitCommand(),
		a.linkCommand(),
		a.proveCommand(),
		a.verifyCommand(),
		a.proveModelCommand(),
		a.mockCommand(),
		a.securityCommand(),
		a.whirCommand(),
		a.binaryCommand(),
		a.msmCommand(),
		a.benchCommand(),
		a.doctorCommand(),
		a.versionCommand(),
	}
}
