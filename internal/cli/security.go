package cli

import (
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/bitproof"
	"github.com/zkwarp/zkwarp/whir/whirfile"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
)

func (a *app) securityCommand() *cobra.Command {
	var (
		onlyWhir bool
		vars     int
		f        whirFlags
	)
	c := &cobra.Command{
		Use:   "security (KEY | STATEMENT | --whir --vars N)",
		Short: "Print every term of a soundness budget",
		Long: "For a key, or a statement of zkwarp binary: each step of the protocol with its proven error in bits, the weakest step, and the sum\n" +
			"of all errors.\n" +
			"With --whir: the same for a commitment of 2^N field elements alone, with parameters as zkwarp whir plan chooses them.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if onlyWhir == (len(args) == 1) {
				return usageError("pass a key or a statement, or --whir with --vars N")
			}
			if onlyWhir {
				return a.whirSecurity(&f, vars)
			}
			data, err := a.readFile("key", args[0])
			if err != nil {
				return err
			}
			switch artefact(data) {
			case whirfile.MagicCommitment, whirfile.MagicKey, whirfile.MagicBundle:
				return inputError("key %s is a file of zkwarp whir, not a model's key; zkwarp inspect %s prints its security table", args[0], args[0])
			}
			if artefact(data) == bitproof.Magic {
				return inputError("key %s is a proof about columns of bits, not a key; its statement has the security table", args[0])
			}
			if isStatement(data) {
				return a.binarySecurity(args[0], data)
			}
			if artefact(data) == chunks.MagicChain {
				return a.chainSecurity(args[0], data)
			}
			vk, err := decodeAnyKey(data)
			if err != nil {
				if m := artefact(data); m != zkml.MagicVerifyingKey && m != zkml.MagicProvingKey {
					return inputError("%s is no key, and no statement of zkwarp binary, which begins with rows 2^N", args[0])
				}
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
	c.Flags().IntVar(&vars, "vars", 20, "with --whir: base-2 logarithm of the number of committed elements")
	c.Flags().IntVar(&f.tables, "tables", 1, "tables that share a commitment")
	f.register(c)
	return c
}

// chainSecurity prints the budget of a chain: that of every part, and of all together.
func (a *app) chainSecurity(path string, data []byte) error {
	chain, err := a.decodeChain(path, data)
	if err != nil {
		return err
	}
	type part struct {
		Part    int     `json:"part"`
		Name    string  `json:"name"`
		Sum     float64 `json:"sum"`
		Min     float64 `json:"min"`
		MinTerm string  `json:"min_term"`
	}
	var parts []part
	t := table{Columns: []string{"part", "bits in sum", "weakest", "step"}}
	least := math.Inf(1)
	for k, vk := range chain.Keys() {
		r := zkml.Security(vk)
		parts = append(parts, part{k + 1, chain.PartName(k), r.Sum, r.Min, r.MinTerm})
		t.Rows = append(t.Rows, []any{chain.PartName(k), r.Sum, r.Min, r.MinTerm})
		least = min(least, r.Min)
	}
	return a.result(map[string]any{"parts": parts, "sum": chain.Security(), "min": least}, "%s%.2f bits in sum over all parts, weakest step %.2f", t.text(), chain.Security(), least)
}

// decodeAnyKey reads the verifying key of either key file.
func decodeAnyKey(data []byte) (*zkml.VerifyingKey, error) {
	if artefact(data) == zkml.MagicProvingKey {
		vk, _, err := zkml.DecodeProvingKey(data)
		return vk, err
	}
	return zkml.DecodeVerifyingKey(data)
}

func (a *app) whirSecurity(f *whirFlags, vars int) error {
	if err := f.checkVars(vars); err != nil {
		return err
	}
	p, err := a.whirParams(f, vars)
	if err != nil {
		return err
	}
	d := p.Describe()
	return a.result(map[string]any{"parameters": p.Inner().String(), "scheme": d.Scheme, "lines": d.Lines, "min": d.Min, "sum": d.Sum},
		"%s\n%s\n%s", describeText(d), scheduleTable(d).text(), securityText(d))
}
