package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/llm"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// decoderError gives an error about a folder with a decoder the right exit code.
func decoderError(path string, err error) error {
	if err == nil {
		return nil
	}
	code := ExitInput
	if errors.Is(err, llm.ErrUnsupported) || errors.Is(err, onnx.ErrUnsupported) {
		code = ExitUnsupported
	}
	return withCode(code, fmt.Errorf("model %s: %w", path, err))
}

// loadDecoder reads a decoder, or some of its layers, from a folder with config.json and safetensors files.
func (a *app) loadDecoder(path string, f modelFlags) (*onnx.Model, error) {
	switch {
	case len(f.dims) > 0 || f.batch > 1 || len(f.consts) > 0 || len(f.ranges) > 0 || len(f.outputs) > 0:
		return nil, usageError("--dim, --batch, --const, --range and --select are for ONNX files; model %s is a folder, which takes --tokens, --layers and --last-token", path)
	case f.tokens < 1:
		return nil, usageError("model %s is a folder with a decoder: pass --tokens N, the length of the text", path)
	}
	c, err := llm.Open(path)
	if err != nil {
		return nil, decoderError(path, err)
	}
	defer func() { _ = c.Close() }() // it was only read
	o := llm.Options{Tokens: f.tokens, LastToken: f.last, To: c.Config().Layers}
	list, err := parseLayers(f.layers)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		o.From, o.To = list[0].from, list[len(list)-1].to
		if o.To > c.Config().Layers {
			return nil, usageError("--layers %s: model %s has the layers 0:%d", f.layers, path, c.Config().Layers)
		}
	}
	o.LastToken = f.last && o.To == c.Config().Layers
	m, err := llm.Build(c.Config(), c, o)
	return m, decoderError(path, err)
}

// decoderLayers are the layers that a calibration is of, nil if it is not one of a decoder.
func decoderLayers(c *quant.Calibration) *layers {
	o, ok := llm.OptionsOf(c.Dims)
	if !ok {
		return nil
	}
	return &layers{o.From, o.To}
}

// setupPlan is what setup has to make keys of: one program, or parts.
type setupPlan struct {
	program *graph.Program
	weights *graph.Weights
	commits zkml.Commits // of a piece: its boundaries, if they are to be committed
	parts   *partsOf
}

// planSetup builds what the files say and cuts it as the flags do.
func (a *app) planSetup(model, calibration string, m modelFlags, cut *cutFlags, dev string, o zkprover.SetupOptions) (*setupPlan, error) {
	if isFolder(calibration) {
		if cut.layers != "" || cut.parts != 0 || cut.given {
			return nil, usageError("calibration %s is a folder, with a file for each part: --layers, --parts and --chunk-budget-gb have no say", calibration)
		}
		parts, err := a.calibratedParts(model, calibration, m)
		if err == nil {
			parts.commits = func(k int, p *graph.Program) (zkml.Commits, error) { return cut.commits.inLine(k, parts.n, p) }
		}
		return &setupPlan{parts: parts}, err
	}
	p, w, decoder, err := a.loadProgramLayers(model, calibration, m)
	if err != nil {
		return nil, err
	}
	return a.cutProgram(p, w, decoder, cut, dev, o)
}

// cutProgram cuts a program as the flags say.
func (a *app) cutProgram(p *graph.Program, w *graph.Weights, decoder *layers, cut *cutFlags, dev string, o zkprover.SetupOptions) (*setupPlan, error) {
	f := *cut
	if _, err := f.commits.of(p); err != nil && f.layers == "" { // before there is a search for where to cut; a piece has ends of its own
		return nil, err
	}
	if f.layers == "" && f.parts == 0 && !f.given && (dev == "cuda:all" || strings.Contains(dev, ",")) {
		all, err := a.devicesOf(dev)
		if err != nil {
			return nil, err
		}
		f.parts = len(all) // one for each
	}
	n, err := numberLayers(p, decoder)
	if err != nil {
		return nil, withCode(ExitUnsupported, err)
	}
	s, err := f.split(p, w, n, o.Mode, o.Commitment)
	if err != nil {
		return nil, err
	}
	if s.over > 0 {
		a.log.Warn("parts cannot be as small as --chunk-budget-gb asks for", "GB", f.budget, "a part needs", sizeText(s.over), "parts", len(s.before)+1)
	}
	switch {
	case s.piece != nil:
		return pieceOf(p, w, s.piece, &f.commits)
	case len(s.before) == 0 && f.commits.boundaries:
		return nil, usageError("--commit-boundaries: the model is in one part; --parts, --chunk-budget-gb or several --layers cut it")
	case len(s.before) == 0:
		return &setupPlan{program: p, weights: w}, nil
	}
	parts, err := cutParts(p, w, s.before, &f.commits)
	return &setupPlan{parts: parts}, err
}

// calibrationFiles are the files in a folder of calibrations, in order.
func calibrationFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, inputError("reading calibrations %s: %w", dir, plainFS(err))
	}
	var files []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "part-") && strings.HasSuffix(e.Name(), ".zkcal") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(files)
	for k, f := range files {
		if want := partFile(dir, k, ".zkcal"); f != want {
			return nil, inputError("calibrations %s: %s is missing", dir, want)
		}
	}
	if len(files) == 0 {
		return nil, inputError("calibrations %s: no files part-0001.zkcal and so on in this folder", dir)
	}
	return files, nil
}

// calibratedParts are parts of which each has a calibration of its own. No more than one for each device is in memory at a time.
func (a *app) calibratedParts(model, dir string, m modelFlags) (*partsOf, error) {
	files, err := calibrationFiles(dir)
	if err != nil {
		return nil, err
	}
	return &partsOf{
		n: len(files),
		part: func(k int) (*graph.Program, *graph.Weights, error) {
			p, w, err := a.loadProgram(model, files[k], m)
			return p, w, err
		},
		chain: func(keys []*zkml.VerifyingKey) (*chunks.Chain, error) { return chunks.Link(keys) },
	}, nil
}

// calibrateLayers calibrates a decoder piece by piece: each on what the integer program of the one before gives, whose codes it takes as they are. No
// more than one piece is in memory at a time. Files of pieces that are there already and fit are kept.
func (a *app) calibrateLayers(model, dir string, list []layers, m modelFlags, samples func(*onnx.Model) ([][]float64, error), o quant.Options) ([]*quant.Report, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, inputError("writing %s: %w", dir, plainFS(err))
	}
	p := a.startProgress("calibrate", len(list))
	defer p.end()
	var floats [][]float64
	var codes [][]int32
	var given []quant.Format
	var reports []*quant.Report
	for k, l := range list {
		p.begin("layers " + l.String())
		m.layers = l.String()
		piece, err := a.loadModel(model, m)
		if err != nil {
			return nil, err
		}
		if err := a.enough("layers "+l.String()+" of model "+model, modelBytes(piece)); err != nil {
			return nil, err
		}
		if k == 0 {
			if floats, err = samples(piece); err != nil {
				return nil, err
			}
		}
		fail := func(err error) ([]*quant.Report, error) {
			return nil, modelError(model, fmt.Errorf("layers %s: %w", l, err))
		}
		o.Given = given
		c, report, err := quant.Calibrate(piece, floats, o)
		if err != nil {
			return fail(err)
		}
		reports = append(reports, report)
		program, weights, err := quant.Build(piece, c)
		if err != nil {
			return fail(err)
		}
		data, err := c.Encode()
		if err != nil {
			return fail(err)
		}
		path := partFile(dir, k, ".zkcal")
		if err := a.write(output{path: path, data: data}); err != nil {
			return nil, err
		}
		if k == len(list)-1 {
			break
		}
		out := program.Tensor(program.Outputs[0])
		given = []quant.Format{{Lo: out.Lo, Hi: out.Hi, Scale: out.Scale}}
		next := make([][]float64, len(floats))
		for i := range floats {
			var x []int32
			if k == 0 {
				if x, err = quant.QuantizeInput(program, floats[i]); err != nil {
					return fail(err)
				}
				codes = append(codes, nil)
			} else {
				x = codes[i]
			}
			values, err := graph.Run(program, weights, x)
			if err != nil {
				return fail(err)
			}
			codes[i] = program.OutputOf(values)
			next[i] = graph.Dequantise(codes[i], out.Scale)
		}
		floats = next
	}
	return reports, nil
}

// formatAfter is the format of the output that a piece takes, from the key of the piece before it.
func (a *app) formatAfter(path string, inputs []tensorio.Input) ([]quant.Format, error) {
	vk, err := a.loadVerifyingKey(path)
	if err != nil {
		return nil, err
	}
	p := vk.Program()
	given := make([]quant.Format, len(inputs))
	found := false
	for i, in := range inputs {
		for _, id := range p.Outputs {
			if t := p.Tensor(id); t.Name == in.Name {
				given[i], found = quant.Format{Lo: t.Lo, Hi: t.Hi, Scale: t.Scale}, true
			}
		}
	}
	if !found {
		return nil, inputError("key %s: none of its outputs is an input of the piece: %s", path, tensorio.InputsText(inputs))
	}
	return given, nil
}

// weightFiles are what of a decoder's folder inspect tells about.
func weightFiles(path string) (count int, bytes int64, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".safetensors") {
			info, err := os.Stat(filepath.Join(path, e.Name()))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return 0, 0, err
			}
			count, bytes = count+1, bytes+info.Size()
		}
	}
	return count, bytes, nil
}
