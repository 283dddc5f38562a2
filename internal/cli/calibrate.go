package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/zkml/quant"
)

// calibrationFlags steer the choice of an integer program.
type calibrationFlags struct {
	o      quant.Options
	labels string
}

func (f *calibrationFlags) register(c *cobra.Command) {
	d := quant.DefaultOptions()
	c.Flags().IntVar(&f.o.InputBits, "input-bits", d.InputBits, "bits of the input's integers")
	c.Flags().IntVar(&f.o.ActivationBits, "activation-bits", d.ActivationBits, "bits of inner tensors, sign included")
	c.Flags().IntVar(&f.o.WeightBits, "weight-bits", d.WeightBits, "bits of weights, sign included; fewer where sums would overflow")
	c.Flags().IntVar(&f.o.OutputBits, "output-bits", d.OutputBits, "bits of the output over the values seen, sign included")
	c.Flags().IntVar(&f.o.ResidualBits, "residual-bits", d.ResidualBits, "bits of tensors that sums run through, up to 16 (0: what their readers need)")
	c.Flags().IntVar(&f.o.TableBits, "table-bits", d.TableBits, "log2 of the largest look-up table that is used without need, up to 18")
	c.Flags().BoolVar(&f.o.Entropy, "entropy", d.Entropy, "scales of narrow tensors that lose least information, instead of covering a share of values")
	c.Flags().Float64Var(&f.o.Percentile, "percentile", d.Percentile, "share of values, in percent, that must not be clamped")
	c.Flags().StringVar(&f.labels, "labels", "", "names of the output classes, separated by commas")
}

func (f *calibrationFlags) options() quant.Options {
	if f.labels != "" {
		f.o.Labels = strings.Split(f.labels, ",")
	}
	return f.o
}

func (a *app) calibrateCommand() *cobra.Command {
	var (
		data []string
		out  string
		f    calibrationFlags
		m    modelFlags
	)
	c := &cobra.Command{
		Use:   "calibrate MODEL --data PATH -o FILE.zkcal",
		Short: "Choose the integer program of a model, and report its accuracy",
		Long: "Runs the model on samples of its input and decides how its numbers become integers. The report compares the\n" +
			"integer program with the model, tensor by tensor. --data is a file of samples or a folder of such files. A model with\n" +
			"several inputs takes JSON or .npz files with an entry for each, or --data NAME=PATH for each.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(data) == 0 || out == "" {
				return usageError("pass --data PATH and -o FILE.zkcal")
			}
			if err := a.checkOutputs(out); err != nil {
				return err
			}
			model, err := a.loadModel(args[0], m)
			if err != nil {
				return err
			}
			if err := a.enough("model "+args[0], modelBytes(model)); err != nil {
				return err
			}
			samples, err := a.loadSamples(data, modelInputs(model))
			if err != nil {
				return err
			}
			p := a.startProgress("calibrate", 1)
			p.begin(fmt.Sprintf("%d samples", len(samples)))
			cal, report, err := quant.Calibrate(model, samples, f.options())
			p.end()
			if err != nil {
				return modelError(args[0], err)
			}
			encoded, err := cal.Encode()
			if err != nil {
				return err
			}
			if err := a.write(output{path: out, data: encoded}); err != nil {
				return err
			}
			return a.wrote(out, map[string]any{"file": out, "report": report}, "%s%s written", reportText(report), out)
		},
	}
	c.Flags().StringArrayVar(&data, "data", nil, "samples of the input: a JSON, .npy, .npz or PNG file, or a folder of them; or NAME=PATH for each input")
	c.Flags().StringVarP(&out, "output", "o", "", "the calibration to write")
	m.register(c)
	f.register(c)
	return c
}

// reportText is the accuracy report as a table.
func reportText(r *quant.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s %-8s %9s %6s %6s %7s %12s %10s %9s\n", "tensor", "node", "elements", "shift", "table", "weights", "mean error", "max error", "clamped")
	for _, l := range r.Layers {
		weights := "-"
		if l.WeightBits > 0 {
			weights = fmt.Sprintf("%d bit", l.WeightBits)
		}
		fmt.Fprintf(&b, "%-20s %-8s %9d %6d %6s %7s %12.3g %10.3g %8.2f%%\n", clip(l.Name, 20), clip(l.Op, 8), l.Elements, l.Shift,
			fmt.Sprintf("2^%d", l.TableBits), weights, l.MeanError, l.MaxError, 100*l.Saturated)
	}
	fmt.Fprintf(&b, "on %d samples the integer program's largest score is the model's in %.1f %% of %d rows; the outputs' mean error is %.3g, the largest %.3g\n",
		r.Samples, 100*r.Agreement, r.Rows, r.MeanError, r.MaxError)
	if r.Dynamic > 0 {
		fmt.Fprintf(&b, "%d scales that the model computes from its input are fixed\n", r.Dynamic)
	}
	if r.Advice != "" {
		fmt.Fprintf(&b, "advice: %s\n", oneLine(r.Advice))
	}
	return b.String()
}

// clip cuts a name for a table, and makes it safe to print.
func clip(name string, n int) string {
	name = oneLine(name)
	if r := []rune(name); len(r) > n {
		name = string(r[:n-1]) + "\u2026"
	}
	return name
}
