package onnx

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// operator says how many inputs and outputs an operator takes and how it is translated.
type operator struct {
	minIn, maxIn, maxOut int // a maximum below 0 is none
	translate            func(*translation) error
}

// operatorTables holds the operators of every file, by name; those of other domains with the domain and a point before it.
var operatorTables = []map[string]operator{linearTable, elementwiseTable, logicTable, shapeTable, constantTable, normTable, otherTable,
	convTable, reduceTable, movingTable, activationTable, recurrentTable, quantTable, microsoftTable}

// operators is filled from operatorTables; it cannot be initialised from them, because branches translate nodes themselves.
var operators = map[string]operator{}

func init() {
	for _, table := range operatorTables {
		for name, op := range table {
			operators[name] = op
		}
	}
}

// translation is the state while one node is read.
type translation struct {
	im       *importer
	proto    *onnxpb.NodeProto
	position int    // of the node in the file
	label    string // for errors
	inputs   []int  // indices into Values; -1 for an absent optional input
	attrs    *attributes
	first    int          // values from here on were made by this node
	named    map[int]bool // those that have their final name
	err      error        // the first error of an emission
}

// node translates the node at a position of the file.
func (im *importer) node(i int) error {
	n, label := im.graph.Node[i], im.nodeLabel(i)
	key := n.OpType
	if !standardDomain(n.Domain) {
		key = n.Domain + "." + key
	}
	op, known := operators[key]
	switch {
	case !known && !standardDomain(n.Domain):
		return unsupported("%s: unknown operator of domain %s", label, Quote(n.Domain))
	case !known:
		return unsupported("%s: %s", label, refusal(n.OpType))
	case n.Overload != "":
		return unsupported("%s: operator overload %s", label, Quote(n.Overload))
	case len(n.DeviceConfigurations) > 0:
		return unsupported("%s: it has a device configuration", label)
	case len(n.Input) < op.minIn || op.maxIn >= 0 && len(n.Input) > op.maxIn:
		return malformed("%s: %d inputs, expected %s", label, len(n.Input), count(op.minIn, op.maxIn))
	case len(n.Output) < 1 || op.maxOut >= 0 && len(n.Output) > op.maxOut:
		return malformed("%s: %d outputs, expected %s", label, len(n.Output), count(1, op.maxOut))
	}
	t := &translation{im: im, proto: n, position: i, label: label, first: len(im.m.Values), named: map[int]bool{}}
	for k, name := range n.Input {
		id := -1
		if name != "" {
			var ok bool
			if id, ok = im.ids[name]; !ok {
				return unsupported("%s: input %s is the mask of %s; masks exist only in training", label, Quote(name), im.masks[name])
			}
		} else if k < op.minIn {
			return malformed("%s: input %d is missing", label, k)
		}
		t.inputs = append(t.inputs, id)
	}
	var err error
	if t.attrs, err = newAttributes(label, n.Attribute); err != nil {
		return err
	}
	if err := t.checkDynamic(); err != nil {
		return err
	}
	if err := op.translate(t); err != nil {
		return err
	}
	if t.err != nil {
		return t.err
	}
	if err := t.attrs.done(n.Attribute); err != nil {
		return err
	}
	for _, name := range n.Output {
		if _, made := im.ids[name]; name != "" && !made && im.masks[name] == "" {
			return unsupported("%s: output %s is not computed", label, Quote(name))
		}
	}
	return nil
}

// count says how many are expected.
func count(least, most int) string {
	switch {
	case most < 0:
		return fmt.Sprintf("at least %d", least)
	case least == most:
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// refusal explains why some well-known operators cannot be translated.
func refusal(op string) string {
	switch op {
	case "Loop", "Scan", "SequenceMap":
		return "the number of steps of a loop is not known before the data is"
	case "Unique", "NonMaxSuppression", "Compress":
		return "the shape of its result depends on the data"
	case "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial":
		return "its result is random"
	}
	return "unknown operator"
}

func (t *translation) value(k int) *Value { return &t.im.m.Values[t.inputs[k]] }
func (t *translation) present(k int) bool { return k < len(t.inputs) && t.inputs[k] >= 0 }
func (t *translation) opset() int         { return t.im.m.Opset }
func (t *translation) unsupported(format string, args ...any) error {
	return unsupported("%s: %w", t.label, fmt.Errorf(format, args...))
}
func (t *translation) malformed(format string, args ...any) error {
	return malformed("%s: %w", t.label, fmt.Errorf(format, args...))
}
func (t *translation) inputName(k int) string { return Quote(t.proto.Input[k]) }

// real checks that input k holds real numbers.
func (t *translation) real(k int) error {
	if t.value(k).Int {
		return t.unsupported("input %s has integer elements, expected a float type", t.inputName(k))
	}
	return nil
}

// constInts returns the integers of a constant input, which must have rank 0 or 1.
func (t *translation) constInts(k int) ([]int64, error) {
	v := t.value(k)
	if v.Const == nil {
		return nil, t.unsupported("input %s is computed, expected a constant", t.inputName(k))
	}
	if !v.Int || len(v.Shape) > 1 {
		return nil, t.malformed("input %s has shape %v, expected a list of integers", t.inputName(k), v.Shape)
	}
	return v.Const.Ints, nil
}

// constReal returns the one real number of a constant input.
func (t *translation) constReal(k int) (float64, error) {
	v := t.value(k)
	if v.Const == nil || v.Int || v.Const.Len() != 1 {
		return 0, t.unsupported("input %s is not a constant real number", t.inputName(k))
	}
	return float64(v.Const.Real[0]), nil
}

// alias makes the output another name of input 0.
func (t *translation) alias() error { return t.result(0, t.inputs[0]) }

// finite refuses attributes that are NaN or infinite.
func (t *translation) finite(name string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return t.unsupported("attribute %q is %g", name, v)
	}
	return nil
}

// onAxis turns an axis of a tensor of that rank into a position.
func (t *translation) onAxis(what string, axis int64, rank int) (int, error) {
	if axis < -int64(rank) || axis >= int64(rank) {
		return 0, t.malformed("%s is %d, the input has rank %d", what, axis, rank)
	}
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), nil
}

// onAxes turns a list of axes into increasing positions.
func (t *translation) onAxes(what string, axes []int64, rank int) ([]int, error) {
	seen := make([]bool, rank)
	for _, a := range axes {
		i, err := t.onAxis(what, a, rank)
		if err != nil {
			return nil, err
		}
		if seen[i] {
			return nil, t.malformed("%s names axis %d twice", what, i)
		}
		seen[i] = true
	}
	out := []int{}
	for i, s := range seen {
		if s {
			out = append(out, i)
		}
	}
	return out, nil
}

// axis reads an axis attribute; limit is one more than the largest allowed value, negative values count from the rank.
func (t *translation) axis(otherwise int64, limit int, negative bool) (int, error) {
	axis, rank := t.attrs.int("axis", otherwise), int64(len(t.value(0).Shape))
	given := axis
	if axis < 0 && negative {
		axis += rank
	}
	if axis < 0 || axis >= int64(limit) {
		return 0, malformed("%s: attribute %q is %d, the input has rank %d", t.label, "axis", given, rank)
	}
	return int(axis), nil
}
