package onnx

// normTable holds operators that normalise along axes.
var normTable = map[string]operator{
	"Softmax":                      {1, 1, 1, (*translation).softmaxOf},
	"LogSoftmax":                   {1, 1, 1, (*translation).logSoftmax},
	"LayerNormalization":           {2, 3, 3, (*translation).layerNorm},
	"RMSNormalization":             {2, 2, 1, (*translation).layerNorm},
	"SimplifiedLayerNormalization": {2, 2, 2, (*translation).layerNorm}, // what onnxruntime writes for RMSNormalization

	"com.microsoft.SimplifiedLayerNormalization":     {2, 2, 2, (*translation).layerNorm},
	"com.microsoft.SkipLayerNormalization":           {3, 5, 4, (*translation).skipNorm},
	"com.microsoft.SkipSimplifiedLayerNormalization": {3, 4, 4, (*translation).skipNorm},
}

// softmaxOf translates both meanings: along one axis since operator set 13, over all axes from one on before.
func (t *translation) softmaxOf() error {
	if err := t.real(0); err != nil {
		return err
	}
	axes, err := t.softmaxAxes()
	if err != nil {
		return err
	}
	return t.result(0, t.softmax(t.inputs[0], axes))
}

func (t *translation) softmaxAxes() ([]int, error) {
	rank := len(t.value(0).Shape)
	otherwise := int64(-1)
	if t.opset() < 13 {
		otherwise = 1
	}
	axis, err := t.axis(otherwise, rank, true) // also before set 11, as runtimes do
	if err != nil {
		return nil, err
	}
	axes := []int{axis}
	for a := axis + 1; a < rank && t.opset() < 13; a++ {
		axes = append(axes, a)
	}
	return axes, nil
}

// logSoftmax is x - max - log(sum(exp(x - max))).
func (t *translation) logSoftmax() error {
	if err := t.real(0); err != nil {
		return err
	}
	axes, err := t.softmaxAxes()
	if err != nil {
		return err
	}
	x := t.inputs[0]
	d := t.sub(x, t.reduce(OpReduceMax, x, axes, true))
	sum := t.reduce(OpReduceSum, t.unary(FuncExp, d), axes, true)
	return t.result(0, t.sub(d, t.unary(FuncLog, sum)))
}

// layerNorm normalises over the last axes and applies scale and shift.
func (t *translation) layerNorm() error {
	for k := range t.inputs {
		if t.present(k) {
			if err := t.real(k); err != nil {
				return err
			}
		}
	}
	op := t.proto.OpType
	switch {
	case op == "LayerNormalization" && t.opset() < 17:
		return t.unsupported("the operator exists from operator set 17 on")
	case op == "RMSNormalization" && t.opset() < 23:
		return t.unsupported("the operator exists from operator set 23 on")
	}
	if kind := t.attrs.int("stash_type", 1); kind != 1 {
		return t.unsupported("attribute %q is %d, expected 1 (float32)", "stash_type", kind)
	}
	rank := len(t.value(0).Shape)
	axis, err := t.onAxis("attribute \"axis\"", t.attrs.int("axis", -1), rank)
	if err != nil {
		return err
	}
	epsilon := t.attrs.float("epsilon", 1e-5)
	if err := t.statistics(axis, epsilon); err != nil {
		return err
	}
	y, err := t.normalised(t.inputs[0], axis, epsilon, op == "LayerNormalization")
	if err != nil {
		return err
	}
	y = t.mul(y, t.inputs[1])
	if t.present(2) {
		y = t.add(y, t.inputs[2])
	}
	return t.result(0, y)
}

// statistics computes the mean and the inverse deviation where they are asked for as further outputs; the normalised tensor does not use
// them.
func (t *translation) statistics(axis int, epsilon float64) error {
	wanted := func(k int) bool { return k < len(t.proto.Output) && t.proto.Output[k] != "" }
	if !wanted(1) && !wanted(2) {
		return nil
	}
	if t.proto.OpType != "LayerNormalization" {
		return t.unsupported("output %s (a statistic for training) is asked for", Quote(t.proto.Output[1]))
	}
	x := t.inputs[0]
	var axes []int
	for a := axis; a < len(t.shape(x)); a++ {
		axes = append(axes, a)
	}
	share := t.scalar(1 / float64(elements(t.shape(x)[axis:])))
	mean := t.mul(t.reduce(OpReduceSum, x, axes, true), share)
	if err := t.result(1, mean); err != nil {
		return err
	}
	if !wanted(2) {
		return nil
	}
	d := t.sub(x, mean)
	variance := t.mul(t.reduce(OpReduceSum, t.mul(d, d), axes, true), share)
	return t.result(2, t.unary(FuncRsqrt, t.add(variance, t.scalar(epsilon))))
}

func (t *translation) normalised(x, axis int, epsilon float64, centre bool) (int, error) {
	if !(epsilon >= 0 && epsilon < 1) {
		return 0, t.unsupported("attribute %q is %g, expected a small positive number", "epsilon", epsilon)
	}
	var axes []int
	for a := axis; a < len(t.shape(x)); a++ {
		axes = append(axes, a)
	}
	return t.norm(x, axes, epsilon, centre), t.err
}

// skipNorm is the fusion of onnxruntime: (input + skip + bias), normalised.
func (t *translation) skipNorm() error {
	centre := t.proto.OpType == "SkipLayerNormalization"
	bias, shift := 3, -1
	if centre {
		bias, shift = 4, 3
	}
	for k := 1; k < min(len(t.proto.Output), 3); k++ {
		if t.proto.Output[k] != "" {
			return t.unsupported("output %s (a statistic for training) is asked for", Quote(t.proto.Output[k]))
		}
	}
	x := t.add(t.inputs[0], t.inputs[1])
	if t.present(bias) {
		x = t.add(x, t.inputs[bias])
	}
	if t.err != nil {
		return t.err
	}
	if err := t.result(3, x); err != nil {
		return err
	}
	y, err := t.normalised(x, len(t.shape(x))-1, t.attrs.float("epsilon", 1e-12), centre)
	if err != nil {
		return err
	}
	y = t.mul(y, t.inputs[2])
	if shift >= 0 && t.present(shift) {
		y = t.add(y, t.inputs[shift])
	}
	return t.result(0, y)
}
