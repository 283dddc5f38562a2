package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
)

func (a *app) verifyCommand() *cobra.Command {
	var (
		context            string
		model, calibration string
		m                  modelFlags
		f                  statementFiles
	)
	c := &cobra.Command{
		Use:   "verify --key FILE.vk --input FILE --output FILE.out.json FILE.proof...",
		Short: "Check a proof",
		Long: "Exit code 0 means: the network in the key, run on this input, gives this output. Exit code 1 names the check that failed.\n" +
			"Of inputs and outputs that the key has committed, pass the commitments (--commitment): somebody knows values behind them of which this is true.\n" +
			"With the key of a model in parts the proof is one file, or the files of all parts, or a folder of them.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.key == "" {
				return usageError("pass --key FILE.vk, --input FILE and --output FILE.out.json")
			}
			chain, vk, err := a.loadAnyVerifyingKey(f.key)
			if err != nil {
				return err
			}
			if chain != nil {
				return a.verifyChain(cmd.Context(), chain, args, &f, []byte(context), model, calibration, m)
			}
			if len(args) > 1 {
				return usageError("unexpected argument %q: several proofs are those of parts, and go with the key of a chain", args[1])
			}
			proof, err := a.readFile("proof", args[0])
			if err != nil {
				return err
			}
			if kind := artefact(proof); kind == chunks.MagicProof || kind == chunks.MagicPart {
				return inputError("proof %s is of a model in parts, and key %s is not", args[0], f.key)
			}
			o := &zkml.Options{Context: []byte(context)}
			if vk.Mode() == zkml.PublicWeights {
				if model == "" || calibration == "" {
					return usageError("the key is for public weights: pass --model and --calibration")
				}
				if _, o.Weights, err = a.loadProgram(model, calibration, m); err != nil {
					return err
				}
			}
			if _, err := zkml.DecodeProof(vk, proof); err != nil { // first, as the answer of another key makes no sense here
				return a.verifyError(args[0], err)
			}
			statement, commitments, err := a.readStatement(cmd.Context(), vk, &f)
			if err != nil {
				return a.statementError(err)
			}
			start := time.Now()
			err = zkml.VerifyStatement(vk, statement, proof, o)
			took := time.Since(start)
			if err != nil {
				return a.verifyError(args[0], err)
			}
			r := zkml.Security(vk)
			object, lines := map[string]any{"verified": true, "verify_ms": milliseconds(took), "proof_bytes": len(proof), "security_bits": r.Sum}, ""
			for i := range commitments {
				lines += "\n" + commitments[i].line()
			}
			if len(commitments) > 0 {
				object["commitments"] = commitments
			}
			return a.result(object, "accepted in %s (%.1f bits, union)%s", durationText(took), r.Sum, lines)
		},
	}
	c.Flags().StringVar(&f.key, "key", "", "the verifier's key")
	inputFlag(c, &f.input)
	c.Flags().StringVar(&f.answer, "output", "", "the answer that came with the proof")
	c.Flags().StringArrayVar(&f.commitments, "commitment", nil, "the commitment to a committed input or output; or NAME=FILE, where several have its format")
	c.Flags().StringArrayVar(&f.openings, "opening", nil, "for those who were told what is committed: the opening, from which the commitment is made; or NAME=FILE")
	c.Flags().StringVar(&context, "context", "", "text that the proof is tied to")
	c.Flags().StringVar(&model, "model", "", "the model, for keys with public weights")
	c.Flags().StringVar(&calibration, "calibration", "", "the calibration, for keys with public weights")
	m.register(c)
	return c
}

// verifyError sorts out why a proof was not accepted: files that are no proof
// at all are malformed input, everything else is a rejection.
func (a *app) verifyError(path string, err error) error {
	check := zkml.FailedCheck(err)
	switch {
	case check == zkml.CheckFormat:
		return inputError("proof %s: %w", path, cause(err))
	case errors.Is(err, zkml.ErrRejected):
		return a.reject(rejected("proof %s: rejected: %w", path, reason{check, err}), check)
	}
	return inputError("proof %s: %w", path, err)
}

// cause is what a rejection says beyond the name of the check.
func cause(err error) error {
	var r *zkml.Rejection
	if errors.As(err, &r) && r.Err != nil {
		return r.Err
	}
	return err
}

// reason prints a rejection as "check (cause)".
type reason struct {
	check string
	err   error
}

func (r reason) Error() string {
	if c := cause(r.err); c != r.err { //nolint:errorlint // the very value: has it a cause at all?
		return r.check + " (" + c.Error() + ")"
	}
	return r.check
}

func (r reason) Unwrap() error { return r.err }

// reject reports a rejection under --json as the object that verify promises.
func (a *app) reject(err error, check string) error {
	if a.json && exitCode(err) == ExitRejected {
		if printErr := a.printJSON(map[string]any{"verified": false, "check": check, "reason": oneLine(err.Error())}); printErr != nil {
			return printErr
		}
	}
	return err
}
