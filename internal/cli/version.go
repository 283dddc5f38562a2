package cli

import (
	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/internal/buildinfo"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print which build this is",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			i := buildinfo.Get()
			tags := i.Tags
			if tags == "" {
				tags = "none"
			}
			return a.result(i, "zkwarp %s\ncommit   %s\ngo       %s\nplatform %s\ntags     %s", i.Version, i.Commit, i.Go, i.Platform, tags)
		},
	}
}
