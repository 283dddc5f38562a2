package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

func (a *app) proveModelCommand() *cobra.Command {
	var (
		model, out  string
		input, data []string
		gpu, multi  bool
		chunk       float64
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
			name, err := a.gpuFlags(cmd, gpu, multi, chunk)
			if err != nil {
				return err
			}
			var names []string
			if out != "" {
				names = []string{out + ".vk", out + ".pk", out + ".proof", out + ".out.json"}
				if err := a.checkOutputs(names...); err != nil {
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
			vk, pk, setup, err := a.setupKeys(cmd.Context(), name, program, weights, zkprover.SetupOptions{})
			if err != nil {
				return err
			}
			r, err := a.proveOnce(cmd.Context(), name, pk, x, nil)
			if err != nil {
				return err
			}
			start := time.Now()
			if err := zkml.Verify(vk, x, r.Y, r.Proof, nil); err != nil {
				return rejected("verifying the proof that was just made: %w", err)
			}
			verify := time.Since(start)
			answer, err := newAnswer(program, r.Y)
			if err != nil {
				return err
			}
			if out != "" {
				text, err := answer.encode()
				if err != nil {
					return err
				}
				keys, err := keyFiles(vk, pk, names[0], names[1])
				if err != nil {
					return err
				}
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
				answer.text(), durationText(setup), stageText(r.Timings), durationText(r.time),
				sizeText(int64(len(r.Proof))), security.Sum, durationText(verify), kept)
		},
	}
	c.Flags().StringVar(&model, "model", "", "the ONNX model")
	inputFlag(c, &input)
	c.Flags().StringArrayVar(&data, "data", nil, "samples for calibration, as calibrate takes them (default: the input alone)")
	c.Flags().StringVarP(&out, "output", "o", "", "name for NAME.vk, NAME.pk, NAME.proof and NAME.out.json (default: keep nothing)")
	c.Flags().BoolVar(&gpu, "gpu", false, "same as --device cuda:0")
	c.Flags().BoolVar(&multi, "multi-gpu", false, "same as --device cuda:all; one proof uses the first GPU so far")
	c.Flags().Float64Var(&chunk, "chunk-budget-gb", 0, "device memory to use at most, in GB; same as --memory-budget")
	m.register(c)
	f.register(c)
	return c
}

// gpuFlags turns the short flags of prove-model into a device's name.
func (a *app) gpuFlags(cmd *cobra.Command, gpu, multi bool, chunk float64) (string, error) {
	if (gpu || multi) && cmd.Flags().Changed("device") || gpu && multi {
		return "", usageError("pass only one of --device, --gpu and --multi-gpu")
	}
	if cmd.Flags().Changed("chunk-budget-gb") {
		if !(chunk > 0) || chunk > 1e6 {
			return "", usageError("--chunk-budget-gb %v: want a positive number", chunk)
		}
		a.memory = byteSize(chunk * 1e9)
	}
	switch {
	case gpu:
		return "cuda:0", nil
	case multi:
		all, err := device.OpenList("cuda:all")
		if err != nil {
			return "", withCode(ExitDevice, err)
		}
		if len(all) > 1 {
			a.log.Warn("one proof uses one GPU so far", "gpus", len(all), "using", all[0].Name())
		}
		return all[0].Name(), nil
	}
	return a.device, nil
}
