package cli

import (
	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
)

func (a *app) linkCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "link KEY.vk KEY.vk... -o FILE.vk",
		Short: "Make one key of the keys of a model's pieces",
		Long: "The keys are those of setup --layers for pieces of one model, in order. Inputs of a piece are the outputs of that name of pieces\n" +
			"before it, or else inputs of the whole. prove --chain proves a piece as a part of the chain, on a machine of its own; verify takes the\n" +
			"proofs of all parts. Errors of n proofs add up: keys for a chain need --security 96 + log2 n.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usageError("pass -o FILE.vk")
			}
			if err := a.checkOutputs(out); err != nil {
				return err
			}
			var keys []*zkml.VerifyingKey
			for _, path := range args {
				vk, err := a.loadVerifyingKey(path)
				if err != nil {
					return err
				}
				if err := vk.Check(); err != nil {
					return inputError("key %s: %w", path, err)
				}
				keys = append(keys, vk)
			}
			chain, err := chunks.Link(keys)
			if err != nil {
				return inputError("linking %d keys: %w", len(keys), err)
			}
			if bits := chain.Security(); !(bits >= zkml.MinSecurity) {
				return usageError("the keys leave %.2f bits together, want %d: make them with setup --security %d", bits, zkml.MinSecurity, chunks.PartSecurity(zkml.MinSecurity, len(keys)))
			}
			if err := a.write(output{path: out, data: chain.Encode()}); err != nil {
				return err
			}
			digest := chain.Digest()
			var parts []string
			text := ""
			for k := range keys {
				parts = append(parts, chain.PartName(k))
				text += chain.PartName(k) + "\n"
			}
			return a.wrote(out, map[string]any{"vk": out, "parts": parts, "digest": hexText(digest[:]), "security_bits": chain.Security()},
				"%swritten  %s, %.1f bits (union)\ndigest   %x", text, out, chain.Security(), digest)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "the key to write")
	return c
}
