package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/zkml/chunks"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

func (a *app) proveCommand() *cobra.Command {
	var (
		key, out, context, chain string
		input                    []string
		keep                     bool
		multi                    multiFlags
	)
	c := &cobra.Command{
		Use:   "prove --key FILE.pk --input FILE -o FILE.proof",
		Short: "Run a model on an input and prove its answer",
		Long: "Writes the proof, and beside it the answer: x.proof and x.out.json.\nThe proof is binding, not zero-knowledge.\n" +
			"The key of a model in parts is a folder. Its parts are proved on all devices of --device; each is written into x.proof.parts as\n" +
			"soon as it is made, and the same command goes on from there after an interruption.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if key == "" || len(input) == 0 || out == "" {
				return usageError("pass --key FILE.pk, --input FILE and -o FILE.proof")
			}
			answerPath := answerName(out)
			if err := a.checkOutputs(out, answerPath); err != nil {
				return err
			}
			name, err := multi.device(a, cmd)
			if err != nil {
				return err
			}
			if isFolder(key) {
				if chain != "" {
					return usageError("--chain goes with the key of one piece, %s is a folder with all of them", key)
				}
				return a.proveWithChain(cmd.Context(), key, name, out, input, []byte(context), keep)
			}
			if keep {
				return usageError("--keep-parts goes with the key of a model in parts, which is a folder")
			}
			if name, err = a.oneDevice(name); err != nil {
				return err
			}
			pk, err := a.loadProvingKey(key)
			if err != nil {
				return err
			}
			if list := pk.VerifyingKey().Committed(); len(list) > 0 {
				return usageError("key %s has committed %s; prove and verify take keys for which everything is public", key, tensorsText(list))
			}
			program, tie := pk.VerifyingKey().Program(), []byte(context)
			part := -1
			var linked *chunks.Chain
			if chain != "" {
				if linked, err = a.loadChain(chain); err != nil {
					return err
				}
				if part, err = partOf(linked, pk); err != nil {
					return inputError("key %s, chain %s: %w", key, chain, err)
				}
				tie = linked.Context(part, tie)
			}
			x, err := a.loadInput(input, program)
			if err != nil {
				return err
			}
			r, err := a.proveOnce(cmd.Context(), name, pk, x, tie)
			if err != nil {
				return err
			}
			answer, err := zkmlfile.NewAnswer(program, r.Y)
			if err != nil {
				return err
			}
			text, err := answer.Encode()
			if err != nil {
				return err
			}
			file, what := r.Proof, ""
			object := map[string]any{}
			if linked != nil {
				file = (&chunks.PartProof{Chain: linked.Digest(), Part: part, Y: r.Y, Proof: r.Proof}).Encode()
				what = ", " + linked.PartName(part)
				object["part"], object["name"] = part+1, linked.PartName(part)
			}
			if err := a.write(output{path: out, data: file}, output{path: answerPath, data: text}); err != nil {
				return err
			}
			digest := sha256.Sum256(file)
			maps.Copy(object, map[string]any{
				"proof": out, "output": answerPath, "device": r.device.Name(), "answer": answer,
				"prove_ms": milliseconds(r.time), "stages_ms": stageObject(r.Timings), "proof_bytes": len(file),
				"proof_sha256": hexText(digest[:]), "work": countsObject(r),
			})
			return a.wrote(out, object, "answer   %s\nprove    %s  total %s\nwritten  %s (%s%s), %s", answerText(answer), stageText(r.Timings), durationText(r.time),
				out, sizeText(int64(len(file))), what, answerPath)
		},
	}
	c.Flags().StringVar(&key, "key", "", "the prover's key")
	inputFlag(c, &input)
	c.Flags().StringVarP(&out, "output", "o", "", "the proof to write")
	c.Flags().StringVar(&chain, "chain", "", "for the key of a piece: the chain that it is linked in; the proof is of that part, for verify with the chain's key")
	c.Flags().BoolVar(&keep, "keep-parts", false, "for a model in parts: keep the proofs of parts as files, too")
	multi.register(c)
	c.Flags().StringVar(&context, "context", "", "text to tie the proof to, such as a nonce of the verifier's")
	return c
}

// answerName is where the answer of a proof goes: x.proof and x.out.json.
func answerName(proof string) string {
	if proof == "-" {
		return "out.json"
	}
	return strings.TrimSuffix(strings.TrimSuffix(proof, ".proof"), partSuffix) + ".out.json"
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
