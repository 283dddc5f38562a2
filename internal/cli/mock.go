package cli

import (
	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

func (a *app) mockCommand() *cobra.Command {
	var (
		calibration, key, out string
		input                 []string
		m                     modelFlags
	)
	c := &cobra.Command{
		Use:   "mock (MODEL --calibration FILE.zkcal | --key FILE.pk) --input FILE",
		Short: "Run the integer program without proving anything",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(input) == 0 || (len(args) == 1) == (key != "") || (len(args) == 1) != (calibration != "") {
				return usageError("pass --input and either MODEL with --calibration, or --key; usage: %s", cmd.UseLine())
			}
			printed := a.json && out == "-" // the one object is the answer
			if !printed {
				if err := a.checkOutputs(out); err != nil {
					return err
				}
			}
			if key != "" && isFolder(key) {
				return a.mockChain(key, input, out, printed)
			}
			program, weights, err := a.mockProgram(args, calibration, key, m)
			if err != nil {
				return err
			}
			if err := a.enough("the integer program", programBytes(program)); err != nil {
				return err
			}
			x, err := a.loadInput(input, program)
			if err != nil {
				return err
			}
			y, err := zkml.Mock(program, weights, x)
			if err != nil {
				return inputError("input %s: %w", input, err)
			}
			return a.mocked(program, y, out, printed)
		},
	}
	c.Flags().StringVar(&calibration, "calibration", "", "the calibration of the model")
	c.Flags().StringVar(&key, "key", "", "a prover's key, instead of model and calibration")
	inputFlag(c, &input)
	c.Flags().StringVarP(&out, "output", "o", "-", "where to write the answer")
	m.register(c)
	return c
}

// mocked writes the answer of a run without a proof.
func (a *app) mocked(program *graph.Program, y []int32, out string, printed bool) error {
	answer, err := zkmlfile.NewAnswer(program, y)
	if err != nil {
		return err
	}
	if printed {
		return a.printJSON(answer)
	}
	text, err := answer.Encode()
	if err != nil {
		return err
	}
	if err := a.write(output{path: out, data: text}); err != nil {
		return err
	}
	return a.wrote(out, answer, "answer   %s (not proved)\nwritten  %s", answerText(answer), out)
}

// mockChain runs the parts of a chain one after the other.
func (a *app) mockChain(dir string, input []string, out string, printed bool) error {
	keys, err := a.loadProvers(dir)
	if err != nil {
		return err
	}
	program := zkmlfile.Face(keys.chain)
	x, err := a.loadInput(input, program)
	if err != nil {
		return err
	}
	var made [][]int32
	for k, pk := range keys.keys {
		part := pk.VerifyingKey().Program()
		if err := a.enough(keys.chain.PartName(k), programBytes(part)); err != nil {
			return err
		}
		if err := pk.Check(); err != nil {
			return inputError("%s: key %s: %w", keys.chain.PartName(k), partFile(dir, k, ".pk"), err)
		}
		in, err := keys.chain.PartInput(k, x, made)
		if err != nil {
			return inputError("input %s: %w", input, err)
		}
		y, err := zkml.Mock(part, pk.Weights(), in)
		if err != nil {
			return inputError("input %s: %s: %w", input, keys.chain.PartName(k), err)
		}
		made = append(made, y)
	}
	y, err := keys.chain.Output(made)
	if err != nil {
		return err
	}
	return a.mocked(program, y, out, printed)
}

func (a *app) mockProgram(args []string, calibration, key string, m modelFlags) (*graph.Program, *graph.Weights, error) {
	if key == "" {
		return a.loadProgram(args[0], calibration, m)
	}
	pk, err := a.loadProvingKey(key)
	if err != nil {
		return nil, nil, err
	}
	if err := pk.Check(); err != nil {
		return nil, nil, inputError("key %s: %w", key, err)
	}
	return pk.VerifyingKey().Program(), pk.Weights(), nil
}
