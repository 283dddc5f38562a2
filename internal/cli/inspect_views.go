package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// viewAnswer shows what an answer file says. Whether it is true takes a proof,
// and whether its fields agree takes the key.
func viewAnswer(path string, data []byte) (*view, error) {
	f := struct {
		output  [][]int32
		kind    string
		values  []float64
		answer  *int
		label   string
		answers []int
		outputs []zkmlfile.Output
	}{}
	if err := zkmlfile.DecodeObject(data, map[string]any{"output_data": &f.output, "kind": &f.kind, "values": &f.values, "answer": &f.answer, "label": &f.label,
		"answers": &f.answers, "outputs": &f.outputs}); err != nil {
		return nil, inputError("file %s: a JSON object, but no answer: %w", path, err)
	}
	if len(f.output) == 0 || len(f.output) > 1 && len(f.outputs) != len(f.output) {
		return nil, inputError("file %s: output_data has %d entries, outputs %d", path, len(f.output), len(f.outputs))
	}
	v := &view{Kind: "answer"}
	if f.answer != nil {
		v.fact("answer", *f.answer)
	}
	if f.label != "" {
		v.fact("label", f.label)
	}
	if len(f.answers) > 0 {
		v.fact("answers", fewText(f.answers, "%d"))
	}
	if f.kind != "" {
		v.fact("values are", f.kind)
	}
	v.fact("to believe it", "zkwarp verify, with key, input and proof")
	for i, output := range f.output {
		name, values := "output", f.values
		if len(f.output) > 1 {
			name, values = f.outputs[i].Name, f.outputs[i].Values
			v.fact(numbered("output", i, len(f.output)), name+" "+tensorio.ShapeText(f.outputs[i].Shape))
		}
		t := table{Name: name, Columns: []string{"element", "integer"}}
		derived := len(values) == len(output)
		if derived {
			t.Columns = append(t.Columns, "value")
		}
		for i, y := range output {
			row := []any{i, int(y)}
			if derived {
				row = append(row, values[i])
			}
			t.Rows = append(t.Rows, row)
		}
		v.Tables = append(v.Tables, t)
	}
	return v, nil
}

// seenAs says how verifiers see a tensor.
func seenAs(committed bool) string {
	if committed {
		return "committed"
	}
	return "public"
}

func viewKey(kind string, vk *zkml.VerifyingKey) *view {
	v := &view{Kind: kind}
	p, digest, weights, security := vk.Program(), vk.Digest(), vk.WeightsDigest(), zkml.Security(vk)
	v.fact("program", p.Name)
	v.fact("digest", hexText(digest[:]))
	v.fact("weights", vk.Mode().String())
	v.fact("weights digest", hexText(weights[:]))
	for i, id := range p.Inputs {
		in := p.Tensor(id)
		v.fact(numbered("input", i, len(p.Inputs)), fmt.Sprintf("%s %s, %d to %d, times %g, %s", in.Name, tensorio.ShapeText(in.Shape), in.Lo, in.Hi, in.Scale, seenAs(slices.Contains(vk.Commits().Inputs, i))))
	}
	for i, id := range p.Outputs {
		out := p.Tensor(id)
		v.fact(numbered("output", i, len(p.Outputs)), fmt.Sprintf("%s %s, %d to %d, times %g, then %s, %s", out.Name, tensorio.ShapeText(out.Shape), out.Lo, out.Hi, out.Scale, p.Post.Kind, seenAs(slices.Contains(vk.Commits().Outputs, i))))
	}
	list := vk.Committed()
	for i := range list {
		v.fact(numbered("format", i, len(list)), fmt.Sprintf("%s, of commitments to %s", hexText(list[i].Format[:]), tensorText(&list[i])))
	}
	v.fact("proof of weights", fmt.Sprintf("%d bytes", len(vk.WeightsProof())))
	v.fact("security", fmt.Sprintf("%.2f bits in sum, weakest step %.2f (%s)", security.Sum, security.Min, security.MinTerm))
	v.addCost(p, zkml.CostOfKey(vk))
	v.addProgram(p)
	return v
}

// addProgram lists a program's operations with what they cost.
func (v *view) addProgram(p *graph.Program) {
	ops := table{Name: "operations", Columns: []string{"number", "operation", "output", "shape", "bounds", "parameters", "multiply-adds", "look-ups", "committed"}}
	for i, op := range p.Ops {
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
		if _, ok := graph.TableOf(op); ok {
			cost = 0
		}
		ops.Rows = append(ops.Rows, []any{i, op.Kind().String(), out.Name, tensorio.ShapeText(out.Shape),
			fmt.Sprintf("%d..%d", out.Lo, out.Hi), params, cost, lookups, committed})
		v.nodes = append(v.nodes, node{Name: out.Name, Op: op.Kind().String(), Shape: tensorio.ShapeText(out.Shape), From: from, Cost: cost + lookups, Params: params})
	}
	tables := table{Name: "tables", Columns: []string{"table", "rows", "values"}}
	for i := range p.Tables {
		t := &p.Tables[i]
		tables.Rows = append(tables.Rows, []any{t.Name, t.Rows(), fmt.Sprintf("%d..%d", t.YLo, t.YHi)})
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
	for i := range h.Roots {
		of := ""
		if vk != nil { // for which DecodeProof has found as many roots as there are
			of = ", of " + tensorText(&vk.Committed()[i])
		}
		v.fact(numbered("commitment", i, len(h.Roots)), commitmentRoot(h.Roots[i])+of)
	}
	v.fact("body", fmt.Sprintf("%d bytes", len(body)))
	v.fact("complete", whole)
	return v, nil
}

func viewCalibration(c *quant.Calibration) *view {
	v := &view{Kind: "calibration"}
	v.fact("model", hexText(c.Model[:]))
	v.fact("samples", c.Samples)
	if !c.Choices.Equal(new(onnx.Choices)) {
		v.fact("choices", oneLine(c.Choices.String()))
	}
	for i, in := range c.Inputs {
		v.fact(numbered("input", i, len(c.Inputs)), fmt.Sprintf("%s, %d to %d, times %g", in.Name, in.Lo, in.Hi, in.Scale))
	}
	if len(c.Labels) > 0 {
		v.fact("labels", strings.Join(c.Labels, ", "))
	}
	v.fact("weights", fmt.Sprintf("%d bits", c.Settings.WeightBits))
	t := table{Name: "stages", Columns: []string{"tensor", "shift", "table", "weight scales", "before table", "scale", "lowest", "highest"}}
	for _, s := range c.Stages {
		scales := quant.TensorScales
		if s.Channels {
			scales = quant.ChannelScales
		}
		t.Rows = append(t.Rows, []any{s.Name, int(s.Shift), int(s.TableBits), string(scales), s.QScale, s.Scale, s.Lo, s.Hi})
	}
	v.Tables = append(v.Tables, t)
	return v
}

// numbered names one of several things of a kind.
func numbered(what string, i, n int) string {
	if n == 1 {
		return what
	}
	return fmt.Sprintf("%s %d", what, i)
}

// operation names a primitive operation and the operator that it comes from.
func operation(n *onnx.Node) string {
	op := n.Op.String()
	if n.Op == onnx.OpUnary {
		op = n.Attr.Func.String()
	}
	if strings.EqualFold(op, n.Origin) {
		return n.Origin
	}
	return n.Origin + " (" + op + ")"
}

// codes counts the integers of a quantised model that nodes read.
func codes(m *onnx.Model) int {
	n := 0
	for i := range m.Values {
		if v := &m.Values[i]; v.Const != nil && v.Int {
			n += v.Const.Len()
		}
	}
	return n
}

func viewModel(m *onnx.Model) *view {
	v := &view{Kind: "ONNX model"}
	v.fact("name", m.Name)
	v.fact("producer", m.Producer)
	v.fact("operator set", m.Opset)
	describe := func(i int) string {
		return m.Values[i].Name + " " + tensorio.ShapeText(m.Values[i].Shape)
	}
	for i, id := range m.Inputs {
		v.fact(numbered("input", i, len(m.Inputs)), describe(id))
	}
	for i, id := range m.Outputs {
		v.fact(numbered("output", i, len(m.Outputs)), describe(id))
	}
	v.fact("weights", m.Weights()+codes(m))
	if n := len(m.Dropped); n > 0 {
		v.fact("left out", fmt.Sprintf("%d nodes that no output depends on, the first is %s", n, m.Dropped[0]))
	}
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
		if n.Op == onnx.OpEinsum {
			work = m.Work(&n)
		}
		op := operation(&n)
		t.Rows = append(t.Rows, []any{n.Name, op, out.Name, tensorio.ShapeText(out.Shape), weights, work})
		v.nodes = append(v.nodes, node{Name: out.Name, Op: op, Shape: tensorio.ShapeText(out.Shape), From: from,
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
