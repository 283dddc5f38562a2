package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
)

func (a *app) proveCommand() *cobra.Command {
	var (
		key, out, context string
		input             []string
	)
	c := &cobra.Command{
		Use:   "prove --key FILE.pk --input FILE -o FILE.proof",
		Short: "Run a model on an input and prove its answer",
		Long:  "Writes the proof, and beside it the answer: x.proof and x.out.json.\nThe proof is binding, not zero-knowledge.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if key == "" || len(input) == 0 || out == "" {
				return usageError("pass --key FILE.pk, --input FILE and -o FILE.proof")
			}
			answerPath := answerName(out)
			if err := a.checkOutputs(out, answerPath); err != nil {
				return err
			}
			pk, err := a.loadProvingKey(key)
			if err != nil {
				return err
			}
			program := pk.VerifyingKey().Program()
			x, err := a.loadInput(input, program)
			if err != nil {
				return err
			}
			r, err := a.proveOnce(cmd.Context(), a.device, pk, x, []byte(context))
			if err != nil {
				return err
			}
			answer, err := newAnswer(program, r.Y)
			if err != nil {
				return err
			}
			text, err := answer.encode()
			if err != nil {
				return err
			}
			if err := a.write(output{path: out, data: r.Proof}, output{path: answerPath, data: text}); err != nil {
				return err
			}
			digest := sha256.Sum256(r.Proof)
			return a.wrote(out, map[string]any{
				"proof": out, "output": answerPath, "device": r.device.Name(), "answer": answer,
				"prove_ms": milliseconds(r.time), "stages_ms": stageObject(r.Timings), "proof_bytes": len(r.Proof),
				"proof_sha256": hexText(digest[:]), "work": countsObject(r),
			}, "answer   %s\nprove    %s  total %s\nwritten  %s (%s), %s", answer.text(), stageText(r.Timings), durationText(r.time),
				out, sizeText(int64(len(r.Proof))), answerPath)
		},
	}
	c.Flags().StringVar(&key, "key", "", "the prover's key")
	inputFlag(c, &input)
	c.Flags().StringVarP(&out, "output", "o", "", "the proof to write")
	c.Flags().StringVar(&context, "context", "", "text to tie the proof to, such as a nonce of the verifier's")
	return c
}

// answerName is where the answer of a proof goes: x.proof and x.out.json.
func answerName(proof string) string {
	if proof == "-" {
		return "out.json"
	}
	return strings.TrimSuffix(proof, ".proof") + ".out.json"
}

func hexText(b []byte) string { return hex.EncodeToString(b) }

func stageText(timings []zkprover.Timing) string {
	var parts []string
	for _, t := range timings {
		parts = append(parts, fmt.Sprintf("%s %s", t.Stage, durationText(t.Time)))
	}
	return strings.Join(parts, "  ")
}

func stageObject(timings []zkprover.Timing) map[string]float64 {
	out := map[string]float64{}
	for _, t := range timings {
		out[string(t.Stage)] += milliseconds(t.Time)
	}
	return out
}

// countsObject says what the device did: how long the key took to load, and of
// the proof launches in all and by kernel, times that the host waited, bytes
// copied.
func countsObject(r *proved) map[string]any {
	s := r.stats
	return map[string]any{"load_ms": milliseconds(r.load), "launches": s.Launches, "launches_by_kernel": r.kernels, "syncs": s.Syncs, "bytes_in": s.BytesIn, "bytes_out": s.BytesOut}
}
