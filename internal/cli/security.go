package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
)

func (a *app) securityCommand() *cobra.Command {
	var (
		onlyWhir     bool
		vars, lambda int
		g            goalFlag
	)
	c := &cobra.Command{
		Use:   "security (KEY | --whir --vars N)",
		Short: "Print every term of a soundness budget",
		Long: "For a key: each step of the protocol with its proven error in bits, the weakest step, and the sum of all errors.\n" +
			"With --whir: the same for a commitment of 2^N field elements alone, with parameters chosen for --lambda bits a line.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if onlyWhir == (len(args) == 1) {
				return usageError("pass a key, or --whir with --vars N")
			}
			if onlyWhir {
				goal, err := g.goal()
				if err != nil {
					return err
				}
				return a.whirSecurity(vars, lambda, goal)
			}
			data, err := a.readFile("key", args[0])
			if err != nil {
				return err
			}
			vk, err := decodeAnyKey(data)
			if err != nil {
				return inputError("key %s: %w", args[0], err)
			}
			r := zkml.Security(vk)
			type term struct {
				Part string  `json:"part"`
				Name string  `json:"name"`
				Bits float64 `json:"bits"`
				Note string  `json:"note"`
			}
			terms := []term{}
			for _, t := range r.Terms {
				terms = append(terms, term(t))
			}
			return a.result(map[string]any{"terms": terms, "min": r.Min, "min_term": r.MinTerm, "sum": r.Sum}, "%s", strings.TrimSuffix(r.String(), "\n"))
		},
	}
	c.Flags().BoolVar(&onlyWhir, "whir", false, "a commitment alone, instead of a key")
	c.Flags().IntVar(&vars, "vars", 20, "base-2 logarithm of the number of committed Mersenne-31 elements")
	c.Flags().IntVar(&lambda, "lambda", 100, "least proven bits of every line")
	g.register(c)
	return c
}

// decodeAnyKey reads the verifying key of either key file.
func decodeAnyKey(data []byte) (*zkml.VerifyingKey, error) {
	if artefact(data) == zkml.MagicProvingKey {
		vk, _, err := zkml.DecodeProvingKey(data)
		return vk, err
	}
	return zkml.DecodeVerifyingKey(data)
}

func (a *app) whirSecurity(vars, lambda int, goal whir.Goal) error {
	if lambda < 1 {
		return usageError("--lambda %d: want at least 1", lambda)
	}
	p, err := whir.ChooseM31(vars, whir.Options{Lambda: lambda, Goal: goal})
	if err != nil {
		return usageError("--vars %d, --lambda %d: %w", vars, lambda, err)
	}
	r := p.Security()
	type line struct {
		Name string  `json:"name"`
		Bits float64 `json:"bits"`
		Note string  `json:"note"`
	}
	lines := []line{}
	for _, l := range r.Lines {
		lines = append(lines, line{l.Name, l.Bits, l.Note})
	}
	return a.result(map[string]any{"parameters": p.String(), "lines": lines, "min": r.Min, "sum": r.Sum},
		"%s\n%s", p, strings.TrimSuffix(fmt.Sprint(r), "\n"))
}
