package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"html/template"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/zkml/onnx"
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
	c.Flags().IntVar(&f.o.ActivationBits, "activation-bits", d.ActivationBits, "bits of inner tensors, sign included (0: the least that are good enough)")
	c.Flags().IntVar(&f.o.WeightBits, "weight-bits", d.WeightBits, "bits of weights, sign included; fewer where sums would overflow")
	c.Flags().StringVar((*string)(&f.o.WeightScales), "weight-scales", "", "scales of a product's weights: tensor (one) or channel (one each where that gains); below 12 bits, channel unless said otherwise")
	c.Flags().IntVar(&f.o.OutputBits, "output-bits", d.OutputBits, "bits of the output over the values seen, sign included")
	c.Flags().IntVar(&f.o.ResidualBits, "residual-bits", d.ResidualBits, "bits of tensors that sums run through, up to 16 (0: as norms need; -1: never more than others)")
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
		data, check []string
		out, html   string
		after       string
		gate        quant.Gate
		agreement   float64
		f           calibrationFlags
		m           modelFlags
	)
	c := &cobra.Command{
		Use:   "calibrate MODEL --data PATH -o FILE.zkcal",
		Short: "Choose the integer program of a model, and report its accuracy",
		Long: "MODEL is an ONNX file, or a folder with config.json and safetensors files of a decoder. Of a decoder, several --layers are calibrated\n" +
			"one after the other, each on what the integer program before it gives, into a folder FILE.zkcal with a file for each.\n" +
			"Runs the model on samples of its input and decides how its numbers become integers. The report compares the\n" +
			"integer program with the model, tensor by tensor. --data is a file of samples or a folder of such files. A model with\n" +
			"several inputs takes JSON or .npz files with an entry for each, or --data NAME=PATH for each. With --check the report is\n" +
			"about other samples than the integers were chosen by. If the program is not as good as --min-agreement, --min-cosine\n" +
			"and --min-snr ask for, nothing is written.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(data) == 0 || out == "" {
				return usageError("pass --data PATH and -o FILE.zkcal")
			}
			if !(agreement >= 0 && agreement <= 100 && gate.Cosine >= 0 && gate.Cosine <= 1 && gate.SNR >= 0) {
				return usageError("--min-agreement %g, --min-cosine %g, --min-snr %g: expected 0 to 100, 0 to 1, and 0 or more", agreement, gate.Cosine, gate.SNR)
			}
			gate.Agreement = agreement / 100
			paths := []string{out}
			if html != "" {
				paths = append(paths, html)
			}
			list, err := parseLayers(m.layers)
			switch {
			case err != nil:
				return err
			case len(list) > 0 && !isFolder(args[0]):
				return usageError("calibrate --layers is for folders with a decoder; an ONNX model is calibrated whole, and setup --layers takes a piece of it")
			case len(list) > 1 && (len(check) > 0 || gate != quant.Gate{}):
				return usageError("--check, --min-agreement, --min-cosine and --min-snr go with one piece, --layers names %d", len(list))
			case len(list) > 1:
				return a.calibrateInParts(args[0], out, html, after, list, data, m, &f)
			}
			if err := a.checkOutputs(paths...); err != nil {
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
			others := samples
			if len(check) > 0 {
				if others, err = a.loadSamples(check, modelInputs(model)); err != nil {
					return err
				}
			}
			o := f.options()
			if after != "" {
				if o.Given, err = a.formatAfter(after, modelInputs(model)); err != nil {
					return err
				}
			}
			p := a.startProgress("calibrate", 1)
			p.begin(fmt.Sprintf("%d samples", len(samples)))
			cal, report, err := quant.Calibrate(model, samples, o)
			if err == nil && len(check) > 0 {
				report, err = quant.Compare(model, cal, others)
			}
			p.end()
			if err != nil {
				return modelError(args[0], err)
			}
			if err := report.Check(gate); err != nil {
				if err := a.wrote(out, map[string]any{"report": report}, "%s", strings.TrimSuffix(reportText(report), "\n")); err != nil {
					return err
				}
				return rejected("model %s: %w", args[0], err)
			}
			encoded, err := cal.Encode()
			if err != nil {
				return err
			}
			files := []output{{path: out, data: encoded}}
			if html != "" {
				page, err := reportPage(args[0], encoded, report)
				if err != nil {
					return err
				}
				files = append(files, output{path: html, data: page})
			}
			if err := a.write(files...); err != nil {
				return err
			}
			return a.wrote(out, map[string]any{"file": out, "report": report}, "%s%s written", reportText(report), out)
		},
	}
	c.Flags().StringArrayVar(&data, "data", nil, "samples of the input: a JSON, .npy, .npz or PNG file, or a folder of them; or NAME=PATH for each input")
	c.Flags().StringVarP(&out, "output", "o", "", "the calibration to write")
	layersFlag(c, &m.layers)
	c.Flags().StringVar(&after, "after", "", "for a piece of a decoder: the verifiers' key of the piece before, whose output's integers it is to take")
	c.Flags().StringVar(&html, "html", "", "also write the report as a page, with the signal-to-noise ratio of each tensor as a bar")
	c.Flags().StringArrayVar(&check, "check", nil, "samples that the report is about, instead of those of --data; in the same forms")
	c.Flags().Float64Var(&agreement, "min-agreement", 0, "write nothing if the largest score is the model's in fewer rows, in percent")
	c.Flags().Float64Var(&gate.Cosine, "min-cosine", 0, "write nothing if the cosine between the outputs and the model's is less in any sample")
	c.Flags().Float64Var(&gate.SNR, "min-snr", 0, "write nothing if the outputs have less signal over noise, in decibels")
	m.register(c)
	f.register(c)
	return c
}

// calibrateInParts is calibrate for pieces of a decoder that make up a chain.
func (a *app) calibrateInParts(model, dir, html, after string, list []layers, data []string, m modelFlags, f *calibrationFlags) error {
	switch {
	case html != "" || after != "":
		return usageError("--html and --after go with one piece, --layers names %d", len(list))
	case dir == "-":
		return usageError("the calibrations of several pieces make a folder, not standard output")
	case list[0].from != 0:
		return usageError("--layers %s: the first of several pieces must begin at 0", m.layers)
	}
	var paths []string
	for k := range list {
		if path := partFile(dir, k, ".zkcal"); isFolder(dir) {
			paths = append(paths, path)
		}
	}
	if err := a.checkOutputs(paths...); err != nil {
		return err
	}
	samples := func(piece *onnx.Model) ([][]float64, error) { return a.loadSamples(data, modelInputs(piece)) }
	reports, err := a.calibrateLayers(model, dir, list, m, samples, f.options())
	if err != nil {
		return err
	}
	var text strings.Builder
	for k, r := range reports {
		fmt.Fprintf(&text, "layers %s: the largest value agrees in %.1f %% of %d rows; mean error %.3g, largest %.3g\n", list[k], 100*r.Agreement, r.Rows, r.MeanError, r.MaxError)
	}
	return a.wrote(dir, map[string]any{"folder": dir, "parts": len(reports), "reports": reports}, "%s%s written", text.String(), dir)
}

// reportText is the accuracy report as a table.
func reportText(r *quant.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s %-8s %9s %6s %6s %7s %7s %12s %10s %9s %9s\n", "tensor", "node", "elements", "shift", "table", "weights", "scales", "mean error", "max error", "SNR, dB", "clamped")
	for _, l := range r.Layers {
		weights := "-"
		if l.WeightBits > 0 {
			weights = fmt.Sprintf("%d bit", l.WeightBits)
		}
		fmt.Fprintf(&b, "%-20s %-8s %9d %6d %6s %7s %7s %12.3g %10.3g %9s %8.2f%%\n", clip(l.Name, 20), clip(l.Op, 8), l.Elements, l.Shift,
			fmt.Sprintf("2^%d", l.TableBits), weights, scales(&l), l.MeanError, l.MaxError, decibels(l.SNR), 100*l.Saturated)
	}
	if products, channels := byChannel(r.Layers); channels > 0 {
		fmt.Fprintf(&b, "the channels of %d of %d tensors with weights have scales of their own\n", channels, products)
	}
	fmt.Fprintf(&b, "on %d samples the integer program's largest score is the model's in %.1f %% of %d rows; the outputs' mean error is %.3g, the largest %.3g\n",
		r.Samples, 100*r.Agreement, r.Rows, r.MeanError, r.MaxError)
	fmt.Fprintf(&b, "signal over noise of the outputs: %s; cosine between them and the model's: %.4f on average, %.4f at least\n", ratio(r.SNR), r.Cosine, r.MinCosine)
	if r.Ranking != 0 {
		fmt.Fprintf(&b, "similarities between samples are ranked alike to %.4f (Spearman)\n", r.Ranking)
	}
	if r.Dynamic > 0 {
		fmt.Fprintf(&b, "%d scales that the model computes from its input are fixed\n", r.Dynamic)
	}
	if r.Advice != "" {
		fmt.Fprintf(&b, "advice: %s\n", oneLine(r.Advice))
	}
	return b.String()
}

// scales says how many scales a tensor's weights have: none, one, or by channel from the sum's to a multiple of it.
func scales(l *quant.Layer) string {
	switch {
	case l.WeightBits == 0:
		return "-"
	case l.ChannelScales == 0:
		return "1"
	}
	return fmt.Sprintf("1..%d", l.ChannelScales)
}

// byChannel counts the tensors that have weights, and those of them whose channels have scales of their own.
func byChannel(layers []quant.Layer) (products, channels int) {
	for i := range layers {
		if layers[i].WeightBits > 0 {
			products++
		}
		if layers[i].ChannelScales > 0 {
			channels++
		}
	}
	return products, channels
}

// noError is the ratio that a report gives to tensors without any error.
const noError = 999

// ratio is a ratio with its unit.
func ratio(snr float64) string {
	if snr >= noError {
		return decibels(snr)
	}
	return decibels(snr) + " dB"
}

func decibels(snr float64) string {
	if snr >= noError {
		return "exact"
	}
	return fmt.Sprintf("%.1f", snr)
}

// reportPage is the report as one self-contained page.
func reportPage(model string, calibration []byte, r *quant.Report) ([]byte, error) {
	digest := sha256.Sum256(calibration)
	v := &view{Kind: "accuracy report", File: model, SHA256: hexText(digest[:]), Bytes: len(calibration)}
	v.fact("samples", r.Samples)
	v.fact("largest score agrees", fmt.Sprintf("in %.1f %% of %d rows", 100*r.Agreement, r.Rows))
	v.fact("outputs' signal over noise", ratio(r.SNR))
	v.fact("cosine of outputs", fmt.Sprintf("%.4f on average, %.4f at least", r.Cosine, r.MinCosine))
	if r.Ranking != 0 {
		v.fact("ranking of similarities", fmt.Sprintf("%.4f (Spearman)", r.Ranking))
	}
	v.fact("outputs' error", fmt.Sprintf("%.3g on average, %.3g at most", r.MeanError, r.MaxError))
	if r.Dynamic > 0 {
		v.fact("scales fixed", fmt.Sprintf("%d that the model computes from its input", r.Dynamic))
	}
	if products, channels := byChannel(r.Layers); channels > 0 {
		v.fact("scales by channels", fmt.Sprintf("of the weights of %d of %d tensors with weights", channels, products))
	}
	if r.Advice != "" {
		v.fact("advice", oneLine(r.Advice))
	}
	layers := table{Name: "tensors", Columns: []string{"tensor", "node", "operator", "elements", "shift", "table", "weights, bits", "scales", "mean error", "max error", "SNR, dB", "clamped, %"}}
	for i := range r.Layers {
		l := &r.Layers[i]
		layers.Rows = append(layers.Rows, []any{oneLine(l.Name), oneLine(l.Node), l.Op, l.Elements, l.Shift, fmt.Sprintf("2^%d", l.TableBits), l.WeightBits, scales(l),
			fmt.Sprintf("%.3g", l.MeanError), fmt.Sprintf("%.3g", l.MaxError), decibels(l.SNR), fmt.Sprintf("%.2f", 100*l.Saturated)})
	}
	v.Tables = append(v.Tables, layers)
	var page bytes.Buffer
	err := inspectTemplate.Execute(&page, struct {
		*view
		Graph             template.HTML
		Heading, Subtitle string
	}{v, ratioPicture(r.Layers), "Signal and noise", "Bars are how much larger a tensor's values are than their errors, in decibels; below 20, an error of a tenth, they are red."})
	if err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	return page.Bytes(), nil
}

// ratioPicture draws a bar for each tensor.
func ratioPicture(layers []quant.Layer) template.HTML {
	const high, name, most = 20, 300, 80.0 // decibels of the longest bar
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 900 %[1]d" width="900" height="%[1]d" role="img" aria-label="signal-to-noise ratios">`, high*len(layers)+10)
	for i := range layers {
		l := &layers[i]
		colour := "#3056d3"
		if l.SNR < 20 {
			colour = "#c0392b"
		}
		length := 450 * min(max(l.SNR, 0), most) / most
		fmt.Fprintf(&b, `<text x="0" y="%d">%s</text><rect x="%d" y="%d" width="%.1f" height="12" fill="%s" fill-opacity="0.5"/><text x="%.1f" y="%d">%s</text>`,
			i*high+15, escape(clip(l.Name, 40)), name, i*high+5, length, colour, float64(name+6)+length, i*high+15, decibels(l.SNR))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // names in it were escaped above
}

// clip cuts a name for a table, and makes it safe to print.
func clip(name string, n int) string {
	name = oneLine(name)
	if r := []rune(name); len(r) > n {
		name = string(r[:n-1]) + "\u2026"
	}
	return name
}
