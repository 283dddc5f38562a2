package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

func (a *app) proveModelCommand() *cobra.Command {
	var (
		model, out  string
		input, data []string
		cut         cutFlags
		multi       multiFlags
		m           modelFlags
		f           calibrationFlags
	)
	c := &cobra.Command{
		Use:   "prove-model --model FILE.onnx --input FILE",
		Short: "Calibrate, set up, prove and verify in one go, with defaults",
		Long: "A first try of a model. Without --data the input itself is the only calibration sample, which says little about\n" +
			"accuracy on others; for real use run calibrate, setup and prove.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if model == "" || len(input) == 0 {
				return usageError("pass --model FILE.onnx and --input FILE")
			}
			if err := cut.check(cmd); err != nil {
				return err
			}
			name, err := multi.device(a, cmd)
			if err != nil {
				return err
			}
			var names []string
			if out != "" {
				names = []string{out + ".vk", out + ".pk", out + ".proof", out + ".out.json"}
				if err := a.checkOutputs(names[0], names[2], names[3]); err != nil {
					return err
				}
			}
			onnxModel, err := a.loadModel(model, m)
			if err != nil {
				return err
			}
			if err := a.enough("model "+model, modelBytes(onnxModel)); err != nil {
				return err
			}
			inputs := modelInputs(onnxModel)
			values, err := a.loadValues(input, inputs)
			if err != nil {
				return err
			}
			samples := [][]float64{values}
			if len(data) > 0 {
				if samples, err = a.loadSamples(data, inputs); err != nil {
					return err
				}
			}
			p := a.startProgress("calibrate", 1)
			p.begin(fmt.Sprintf("%d samples", len(samples)))
			cal, report, err := quant.Calibrate(onnxModel, samples, f.options())
			p.end()
			if err != nil {
				return modelError(model, err)
			}
			program, weights, err := quant.Build(onnxModel, cal)
			if err != nil {
				return modelError(model, err)
			}
			x, err := quantiseInput(input, program, values)
			if err != nil {
				return err
			}
			plan, err := a.cutProgram(program, weights, decoderLayers(cal), &cut, name, zkprover.SetupOptions{})
			if err != nil {
				return err
			}
			if plan.parts != nil {
				return a.proveModelInParts(cmd.Context(), name, model, plan.parts, x, weights.Count(), report, names)
			}
			if plan.program != program {
				return usageError("--layers %s is a piece of the model, which prove-model proves whole: use setup and prove", cut.layers)
			}
			if out != "" {
				if err := a.checkOutputs(names[1]); err != nil {
					return err
				}
			}
			if name, err = a.oneDevice(name); err != nil {
				return err
			}
			vk, pk, setup, err := a.setupKeys(cmd.Context(), name, program, weights, zkprover.SetupOptions{})
			if err != nil {
				return err
			}
			r, err := a.proveOnce(cmd.Context(), name, pk, x, nil, nil)
			if err != nil {
				return err
			}
			start := time.Now()
			if err := zkml.Verify(vk, x, r.Y, r.Proof, nil); err != nil {
				return rejected("verifying the proof that was just made: %w", err)
			}
			verify := time.Since(start)
			answer, err := zkmlfile.NewAnswer(program, r.Y)
			if err != nil {
				return err
			}
			if out != "" {
				text, err := answer.Encode()
				if err != nil {
					return err
				}
				keys := keyFiles(vk, pk, names[0], names[1])
				if err := a.write(append(keys, output{path: names[2], data: r.Proof}, output{path: names[3], data: text})...); err != nil {
					return err
				}
			}
			security := zkml.Security(vk)
			digest := vk.Digest()
			kept := ""
			if out != "" {
				kept = fmt.Sprintf("\nwritten  %s, %s, %s, %s", names[0], names[1], names[2], names[3])
			}
			return a.result(map[string]any{
				"device": r.device.Name(), "answer": answer, "verified": true, "weights": weights.Count(), "setup_ms": milliseconds(setup),
				"prove_ms": milliseconds(r.time), "verify_ms": milliseconds(verify), "stages_ms": stageObject(r.Timings), "proof_bytes": len(r.Proof),
				"security_bits": security.Sum, "security_bits_min_round": security.Min, "key_digest": hexText(digest[:]), "calibration": report, "files": names,
			}, "device   %s\nmodel    %s: %s weights; integers agree in %.1f %% of %d rows on %d samples\nanswer   %s\nsetup    %s\nprove    %s  total %s\nproof    %s, %.1f bits (union), binding, not zero-knowledge\nverify   accepted in %s%s",
				r.device.Info(), filepath.Base(model), grouped(int64(weights.Count())), 100*report.Agreement, report.Rows, report.Samples,
				answerText(answer), durationText(setup), stageText(r.Timings), durationText(r.time),
				sizeText(int64(len(r.Proof))), security.Sum, durationText(verify), kept)
		},
	}
	c.Flags().StringVar(&model, "model", "", "the model: an ONNX file, or a folder with a decoder")
	inputFlag(c, &input)
	c.Flags().StringArrayVar(&data, "data", nil, "samples for calibration, as calibrate takes them (default: the input alone)")
	c.Flags().StringVarP(&out, "output", "o", "", "name for NAME.vk, NAME.pk, NAME.proof and NAME.out.json (default: keep nothing)")
	m.register(c)
	f.register(c)
	cut.register(c)
	multi.register(c)
	return c
}

// proveModelInParts is the rest of prove-model for a model in parts.
func (a *app) proveModelInParts(ctx context.Context, name, model string, parts *partsOf, x []int32, weights int, report *quant.Report, names []string) error {
	dir, partsDir := "", ""
	if names != nil {
		dir, partsDir = names[1], names[2]+".parts"
	}
	start := time.Now()
	keys, setups, err := a.setupChain(ctx, name, parts, dir, zkprover.SetupOptions{})
	if err != nil {
		return err
	}
	setup := time.Since(start)
	r, err := a.proveChain(ctx, name, keys, x, nil, nil, partsDir)
	if err != nil {
		return err
	}
	start = time.Now()
	if err := chunks.Verify(keys.chain, x, r.Y, r.Proof, nil); err != nil {
		return rejected("verifying the proof that was just made: %w", err)
	}
	verify := time.Since(start)
	answer, err := zkmlfile.NewAnswer(zkmlfile.Face(keys.chain), r.Y)
	if err != nil {
		return err
	}
	kept := ""
	if names != nil {
		text, err := answer.Encode()
		if err != nil {
			return err
		}
		if _, err := a.writeChain(keys.chain, names[0], dir); err != nil {
			return err
		}
		if err := a.write(output{path: names[2], from: r.Proof.Write}, output{path: names[3], data: text}); err != nil {
			return err
		}
		a.removeParts(keys.chain, partsDir, false)
		kept = fmt.Sprintf("\nwritten  %s, %s, %s, %s", names[0], names[1], names[2], names[3])
	}
	bits, digest, proved := keys.chain.Security(), keys.chain.Digest(), newChainReport(keys.chain, r)
	return a.result(map[string]any{
		"answer": answer, "verified": true, "weights": weights, "setup_ms": milliseconds(setup), "setup_parts": setups, "prove_ms": milliseconds(r.time),
		"verify_ms": milliseconds(verify), "proof_bytes": r.size, "security_bits": bits, "key_digest": hexText(digest[:]), "calibration": report, "files": names,
		"parts": proved.Parts, "devices": proved.Devices, "stages_ms": proved.Stages, "parts_kept": proved.Kept, "warnings": proved.Warnings,
	}, "model    %s: %s weights; integers agree in %.1f %% of %d rows on %d samples\nanswer   %s\nsetup    %s in %s\nprove    %s\n%s\nproof    %s, %.1f bits (union), binding, not zero-knowledge\nverify   accepted in %s%s",
		filepath.Base(model), grouped(int64(weights)), 100*report.Agreement, report.Rows, report.Samples, answerText(answer), count(parts.n, "part"), durationText(setup),
		durationText(r.time), proved.text(), sizeText(int64(r.size)), bits, durationText(verify), kept)
}
