package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// view is what inspect found in a file: pairs for a summary, and tables.
type view struct {
	Kind   string  `json:"kind"`
	File   string  `json:"file"`
	Bytes  int     `json:"bytes"`
	SHA256 string  `json:"sha256"`
	Facts  []fact  `json:"facts"`
	Tables []table `json:"tables,omitempty"`
	nodes  []node  // of the graph, for pictures
}

type fact struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

type table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

func (v *view) fact(name string, value any) { v.Facts = append(v.Facts, fact{name, value}) }

func (a *app) inspectCommand() *cobra.Command {
	var (
		html, key string
		m         modelFlags
	)
	c := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Describe a model, calibration, key, proof, answer or results file",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if html != "" {
				if err := a.checkOutputs(html); err != nil {
					return err
				}
			}
			data, err := a.readFile("file", args[0])
			if err != nil {
				return err
			}
			var vk *zkml.VerifyingKey
			if key != "" {
				if artefact(data) != zkml.MagicProof {
					return usageError("--key goes with a proof, which %s is not", args[0])
				}
				if vk, err = a.loadVerifyingKey(key); err != nil {
					return err
				}
			}
			v, err := a.inspect(args[0], data, m, vk)
			if err != nil {
				return err
			}
			digest := sha256.Sum256(data)
			v.File, v.Bytes, v.SHA256 = args[0], len(data), hexText(digest[:])
			if html != "" {
				var page bytes.Buffer
				if err := inspectPage(&page, v); err != nil {
					return err
				}
				if err := a.write(output{path: html, data: page.Bytes()}); err != nil {
					return err
				}
				if html == "-" {
					return nil
				}
			}
			return a.result(v, "%s", v.text())
		},
	}
	c.Flags().StringVar(&html, "html", "", "also write a page with pictures: the graph, and the cost of each step")
	c.Flags().StringVar(&key, "key", "", "for a proof: the verifier's key, to tell whether the proof is whole")
	m.register(c)
	return c
}

// calibrationMagic begins calibration files (docs/onnx.md).
const calibrationMagic = "ZKWCAL1\n"

// inspect decodes a file by its first bytes; vk is for proofs and may be nil.
func (a *app) inspect(path string, data []byte, m modelFlags, vk *zkml.VerifyingKey) (*view, error) {
	fail := func(what string, err error) (*view, error) { return nil, inputError("%s %s: %w", what, path, err) }
	switch magic := artefact(data); {
	case magic == zkml.MagicVerifyingKey:
		vk, err := zkml.DecodeVerifyingKey(data)
		if err != nil {
			return fail("key", err)
		}
		return viewKey("verifier's key", vk), nil
	case magic == zkml.MagicProvingKey:
		vk, w, err := zkml.DecodeProvingKey(data)
		if err != nil {
			return fail("key", err)
		}
		v := viewKey("prover's key", vk)
		v.fact("weights held", w.Count())
		return v, nil
	case magic == zkml.MagicProof:
		return viewProof(path, data, vk)
	case magic == calibrationMagic:
		c, err := quant.Decode(data)
		if err != nil {
			return fail("calibration", err)
		}
		return viewCalibration(c), nil
	case bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("[")):
		rows, err := bench.Decode(data)
		if err != nil {
			return fail("results", err)
		}
		return viewResults(rows), nil
	case bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")):
		return viewAnswer(path, data)
	}
	parsed, err := a.loadModelData(path, data, m)
	if errors.Is(err, onnx.ErrMalformed) {
		return nil, inputError("%w; nor is it a file of zkwarp's", err)
	}
	if err != nil {
		return nil, err
	}
	return viewModel(parsed), nil
}

// viewAnswer shows what an answer file says. Whether it is true takes a proof,
// and whether its fields agree takes the key.
func viewAnswer(path string, data []byte) (*view, error) {
	f := struct {
		output [][]int32
		kind   string
		values []float64
		answer *int
		label  string
	}{}
	if err := decodeObject(data, map[string]any{"output_data": &f.output, "kind": &f.kind, "values": &f.values, "answer": &f.answer, "label": &f.label}); err != nil {
		return nil, inputError("file %s: a JSON object, but no answer: %w", path, err)
	}
	if len(f.output) != 1 {
		return nil, inputError("file %s: output_data has %d entries, want 1", path, len(f.output))
	}
	v := &view{Kind: "answer"}
	if f.answer != nil {
		v.fact("answer", *f.answer)
	}
	if f.label != "" {
		v.fact("label", f.label)
	}
	if f.kind != "" {
		v.fact("values are", f.kind)
	}
	v.fact("to believe it", "zkwarp verify, with key, input and proof")
	t := table{Name: "output", Columns: []string{"element", "integer"}}
	derived := len(f.values) == len(f.output[0])
	if derived {
		t.Columns = append(t.Columns, "value")
	}
	for i, y := range f.output[0] {
		row := []any{i, int(y)}
		if derived {
			row = append(row, f.values[i])
		}
		t.Rows = append(t.Rows, row)
	}
	v.Tables = append(v.Tables, t)
	return v, nil
}

func viewKey(kind string, vk *zkml.VerifyingKey) *view {
	v := &view{Kind: kind}
	p, digest, weights, security := vk.Program(), vk.Digest(), vk.WeightsDigest(), zkml.Security(vk)
	in, out := p.Tensor(p.Input), p.Tensor(p.Output)
	v.fact("program", p.Name)
	v.fact("digest", hexText(digest[:]))
	v.fact("weights", vk.Mode().String())
	v.fact("weights digest", hexText(weights[:]))
	v.fact("input", fmt.Sprintf("%s %s, %d to %d, times %g", in.Name, tensorio.ShapeText(in.Shape), in.Lo, in.Hi, in.Scale))
	v.fact("output", fmt.Sprintf("%s %s, %d to %d, times %g, then %s", out.Name, tensorio.ShapeText(out.Shape), out.Lo, out.Hi, out.Scale, p.Post.Kind))
	v.fact("proof of weights", fmt.Sprintf("%d bytes", len(vk.WeightsProof())))
	v.fact("security", fmt.Sprintf("%.2f bits in sum, weakest step %.2f (%s)", security.Sum, security.Min, security.MinTerm))
	v.addProgram(p)
	return v
}

// addProgram lists a program's operations with what they cost.
func (v *view) addProgram(p *graph.Program) {
	ops := table{Name: "operations", Columns: []string{"operation", "output", "shape", "bounds", "parameters", "multiply-adds", "look-ups", "committed"}}
	for _, op := range p.Ops {
		out := p.Tensor(op.Outputs()[0])
		params, lookups, committed := 0, 0, 0
		var from []string
		for _, id := range op.Inputs() {
			t := p.Tensor(id)
			if t.Kind == graph.Param {
				params += t.Len()
			} else {
				from = append(from, t.Name)
			}
		}
		for _, id := range op.Outputs() {
			if t := p.Tensor(id); t.Kind == graph.Column {
				committed += t.Len()
				lookups += t.Len()
			}
		}
		cost := opWork(p, op)
		if op.Kind() == graph.KindLookup {
			cost = 0
		}
		ops.Rows = append(ops.Rows, []any{op.Kind().String(), out.Name, tensorio.ShapeText(out.Shape),
			fmt.Sprintf("%d..%d", out.Lo, out.Hi), params, cost, lookups, committed})
		v.nodes = append(v.nodes, node{Name: out.Name, Op: op.Kind().String(), Shape: tensorio.ShapeText(out.Shape), From: from, Cost: cost + lookups, Params: params})
	}
	tables := table{Name: "tables", Columns: []string{"table", "rows", "values"}}
	for i := range p.Tables {
		t := &p.Tables[i]
		tables.Rows = append(tables.Rows, []any{t.Name, len(t.Y), fmt.Sprintf("%d..%d", t.YLo, t.YHi)})
	}
	v.Tables = append(v.Tables, ops, tables)
}

// viewProof shows what a proof claims. Its length follows from its key: only
// with that (vk, or nil) can a proof that was cut off always be told from a
// whole one.
func viewProof(path string, data []byte, vk *zkml.VerifyingKey) (*view, error) {
	if len(data) < proofHeader {
		return nil, inputError("proof %s: truncated: %d bytes", path, len(data))
	}
	h, body, err := zkml.DecodeProofHeader(data)
	if err != nil {
		return nil, inputError("proof %s: %w", path, err)
	}
	if len(body)%4 != 0 {
		return nil, inputError("proof %s: truncated, or something was added: %d bytes after the header, want whole 32-bit words", path, len(body))
	}
	whole := "cannot be told without the key; pass --key FILE.vk"
	if vk != nil {
		if _, err := zkml.DecodeProof(vk, data); err != nil {
			return nil, inputError("proof %s: %w", path, cause(err))
		}
		whole = "yes; whether it proves anything, zkwarp verify tells"
	}
	v := &view{Kind: "proof"}
	v.fact("version", zkml.Version)
	v.fact("key digest", hexText(h.Key[:]))
	v.fact("input digest", hexText(h.Input[:]))
	v.fact("output digest", hexText(h.Output[:]))
	v.fact("body", fmt.Sprintf("%d bytes", len(body)))
	v.fact("complete", whole)
	return v, nil
}

func viewCalibration(c *quant.Calibration) *view {
	v := &view{Kind: "calibration"}
	v.fact("model", hexText(c.Model[:]))
	v.fact("samples", c.Samples)
	v.fact("input", fmt.Sprintf("%s, %d to %d, times %g", c.Input.Name, c.Input.Lo, c.Input.Hi, c.Input.Scale))
	if len(c.Labels) > 0 {
		v.fact("labels", strings.Join(c.Labels, ", "))
	}
	t := table{Name: "stages", Columns: []string{"tensor", "shift", "before table", "scale", "lowest", "highest"}}
	for _, s := range c.Stages {
		t.Rows = append(t.Rows, []any{s.Name, int(s.Shift), s.QScale, s.Scale, s.Lo, s.Hi})
	}
	v.Tables = append(v.Tables, t)
	return v
}

func viewModel(m *onnx.Model) *view {
	v := &view{Kind: "ONNX model"}
	v.fact("name", m.Name)
	v.fact("producer", m.Producer)
	v.fact("operator set", m.Opset)
	describe := func(i int) string {
		return m.Values[i].Name + " " + tensorio.ShapeText(m.Values[i].Shape)
	}
	v.fact("input", describe(m.Input))
	v.fact("output", describe(m.Output))
	v.fact("weights", m.Weights())
	t := table{Name: "nodes", Columns: []string{"node", "operator", "output", "shape", "weights", "multiply-adds"}}
	for _, n := range m.Nodes {
		weights, work := 0, 0
		var from []string
		out := &m.Values[n.Output]
		for _, i := range n.Inputs {
			in := &m.Values[i]
			if in.Const == nil {
				from = append(from, in.Name)
				continue
			}
			weights += in.Const.Len()
		}
		if n.Op == "Gemm" || n.Op == "MatMul" {
			shape := m.Values[n.Inputs[0]].Shape
			depth := shape[len(shape)-1]
			if n.Attr.TransA {
				depth = shape[0]
			}
			work = tensorio.Elements(out.Shape) * depth
		}
		t.Rows = append(t.Rows, []any{n.Name, n.Op, out.Name, tensorio.ShapeText(out.Shape), weights, work})
		v.nodes = append(v.nodes, node{Name: out.Name, Op: n.Op, Shape: tensorio.ShapeText(out.Shape), From: from,
			Cost: max(work, tensorio.Elements(out.Shape)), Params: weights})
	}
	v.Tables = append(v.Tables, t)
	return v
}

func viewResults(rows []bench.Row) *view {
	v := &view{Kind: "results"}
	v.fact("rows", len(rows))
	t := table{Name: "results", Columns: []string{"device", "suite", "case", "metric", "median", "unit", "date"}}
	for _, r := range rows {
		t.Rows = append(t.Rows, []any{r.Device, r.Suite, r.Case, r.Metric, r.Value, r.Unit, r.Date})
	}
	v.Tables = append(v.Tables, t)
	return v
}

// text is the view for a terminal.
func (v *view) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-17s %s, %s\n", v.Kind, oneLine(v.File), sizeText(int64(v.Bytes)))
	for _, f := range v.Facts {
		fmt.Fprintf(&b, "%-17s %s\n", f.Name, oneLine(fmt.Sprint(f.Value)))
	}
	fmt.Fprintf(&b, "%-17s %s\n", "sha256", v.SHA256)
	for _, t := range v.Tables {
		if len(t.Rows) == 0 {
			continue
		}
		b.WriteString("\n" + t.text())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// text lays a table out in columns: names to the left, numbers to the right.
func (t *table) text() string {
	cells := [][]string{t.Columns}
	for _, row := range t.Rows {
		line := make([]string, len(row))
		for i, c := range row {
			switch n := c.(type) {
			case int:
				line[i] = grouped(int64(n))
			case float64:
				line[i] = fmt.Sprintf("%.4g", n)
			default:
				line[i] = clip(fmt.Sprint(c), 40)
			}
		}
		cells = append(cells, line)
	}
	width := make([]int, len(t.Columns))
	for _, line := range cells {
		for i, c := range line {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	var b strings.Builder
	for _, line := range cells {
		var text strings.Builder
		for i, c := range line {
			pad := strings.Repeat(" ", width[i]-len([]rune(c)))
			if t.numeric(i) {
				text.WriteString(pad + c + "  ")
			} else {
				text.WriteString(c + pad + "  ")
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	return b.String()
}

func (t *table) numeric(column int) bool {
	if len(t.Rows) == 0 {
		return false
	}
	switch t.Rows[0][column].(type) {
	case int, int64, float64:
		return true
	}
	return false
}
