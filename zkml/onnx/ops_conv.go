package onnx

import (
	"slices"
)

// convTable holds convolutions and pools.
var convTable = map[string]operator{
	"Conv":              {2, 3, 1, (*translation).conv},
	"ConvTranspose":     {2, 3, 1, (*translation).conv},
	"MaxPool":           {1, 1, 2, (*translation).maxPool},
	"AveragePool":       {1, 1, 1, (*translation).averagePool},
	"GlobalAveragePool": {1, 1, 1, (*translation).globalPool},
	"GlobalMaxPool":     {1, 1, 1, (*translation).globalPool},
}

// Labels of a convolution's Einsum: the first four axes, then position and place in the window of every spatial axis.
const (
	labelBatch, labelGroup, labelIn, labelOut = 0, 1, 2, 3
	labelSpatial                              = 4
)

// spatial reads the attributes that convolutions and pools share, for an operand of shape [N, C, axes...]. kernel is nil if the attribute
// kernel_shape decides.
func (t *translation) spatial(shape, kernel []int) ([]window, error) {
	rank := len(shape) - 2
	if rank < 1 {
		return nil, t.unsupported("an operand of shape %v, expected batch, channels and at least one more axis", shape)
	}
	list := func(name string, n int, otherwise, least int64) ([]int, error) {
		given := t.attrs.ints(name)
		out := make([]int, n)
		if given != nil && len(given) != n {
			return nil, malformed("%s: attribute %q has %d elements, expected %d", t.label, name, len(given), n)
		}
		for i := range out {
			v := otherwise
			if given != nil {
				v = given[i]
			}
			if v < least || v > maxElements {
				return nil, malformed("%s: attribute %q, element %d is %d, expected at least %d", t.label, name, i, v, least)
			}
			out[i] = int(v)
		}
		return out, nil
	}
	// A kernel shape is optional where an operand has it; 0 stands for "absent".
	kernels, err := list("kernel_shape", rank, 0, 0)
	if err != nil {
		return nil, err
	}
	strides, err := list("strides", rank, 1, 1)
	if err != nil {
		return nil, err
	}
	dilations, err := list("dilations", rank, 1, 1)
	if err != nil {
		return nil, err
	}
	pads, err := list("pads", 2*rank, 0, 0)
	if err != nil {
		return nil, err
	}
	wins := make([]window, rank)
	for i := range wins {
		if kernel != nil {
			if kernels[i] != 0 && kernels[i] != kernel[i] {
				return nil, malformed("%s: attribute \"kernel_shape\" is %v, the weights have %v", t.label, kernels, kernel)
			}
			kernels[i] = kernel[i]
		}
		wins[i] = window{size: shape[2+i], kernel: kernels[i], stride: strides[i], dilation: dilations[i], before: pads[i], after: pads[rank+i]}
		if kernels[i] < 1 {
			return nil, malformed("%s: attribute \"kernel_shape\" is missing or has an element 0", t.label)
		}
		if kernels[i] > maxElements/dilations[i] {
			return nil, t.unsupported("a window of %d elements with dilation %d", kernels[i], dilations[i])
		}
	}
	return wins, nil
}

// autoPad reads the attribute auto_pad; explicit padding excludes it.
func (t *translation) autoPad() (string, error) {
	auto := t.attrs.str("auto_pad", "NOTSET")
	if auto != "NOTSET" && slices.ContainsFunc(t.attrs.ints("pads"), func(v int64) bool { return v != 0 }) {
		return "", malformed("%s: attributes \"auto_pad\" = %s and \"pads\" exclude each other", t.label, Quote(auto))
	}
	return auto, nil
}

// place fixes padding and positions of all windows.
func (t *translation) place(wins []window, auto string, ceil bool) error {
	for i := range wins {
		if err := wins[i].place(auto, ceil); err != nil {
			return t.unsupported("spatial axis %d: %w", i, err)
		}
	}
	return nil
}

// conv translates Conv and ConvTranspose with an optional bias.
func (t *translation) conv() error {
	transposed := t.proto.OpType == "ConvTranspose"
	y, err := t.convolution(t.inputs[0], t.inputs[1], transposed)
	if err != nil {
		return err
	}
	if t.present(2) {
		y = t.addChannels(y, t.inputs[2])
	}
	return t.result(0, y)
}

// addChannels adds a vector along axis 1.
func (t *translation) addChannels(x, bias int) int {
	return t.add(x, t.perChannel(bias, len(t.shape(x))))
}

// perChannel gives a vector the shape [n, 1, 1...] that broadcasts along axis 1 of a tensor of that rank.
func (t *translation) perChannel(v, rank int) int {
	shape := t.shape(v)
	if len(shape) != 1 || rank < 2 {
		return v // broadcasting itself reports what does not fit
	}
	return t.reshape(v, append([]int{shape[0]}, slices.Repeat([]int{1}, rank-2)...))
}

// convolution makes the product of windows of x, [N, C, ...], with weights, [M, C/group, ...] or transposed [C, M/group, ...]. Both may
// hold integers.
func (t *translation) convolution(x, w int, transposed bool) (int, error) {
	xs, ws := t.shape(x), t.shape(w)
	if len(xs) != len(ws) || len(xs) < 3 {
		return 0, t.unsupported("operands of shape %v and %v, expected equal ranks of 3 or more", xs, ws)
	}
	groups := t.attrs.int("group", 1)
	if groups < 1 || groups > int64(xs[1]) || xs[1]%int(groups) != 0 || ws[0]%int(groups) != 0 {
		return 0, malformed("%s: attribute \"group\" is %d for operands of shape %v and %v", t.label, groups, xs, ws)
	}
	g := int(groups)
	in, out := xs[1]/g, ws[0]/g // channels of one group
	if transposed {
		out = ws[1]
		if ws[0] != xs[1] {
			return 0, malformed("%s: weights of shape %v for %d channels", t.label, ws, xs[1])
		}
	} else if ws[1] != in {
		return 0, malformed("%s: weights of shape %v for %d channels in %d groups", t.label, ws, xs[1], g)
	}
	wins, err := t.spatial(xs, ws[2:])
	if err != nil {
		return 0, err
	}
	if transposed {
		err = t.placeTransposed(wins)
	} else {
		var auto string
		if auto, err = t.autoPad(); err == nil {
			err = t.place(wins, auto, false)
		}
	}
	if err != nil {
		return 0, err
	}
	// Axes of length 1 that serve only to group channels are left out.
	grouped, inner, outer := g > 1, g == 1 || in > 1, g == 1 || out > 1
	maps := []AxisMap{{Axis: 0, Shape: xs[:1]}}
	labels := [][]uint8{{labelBatch}, nil, {labelBatch}}
	result := []int{xs[0]}
	var weights []int
	switch {
	case grouped && inner:
		m := splitMap(g, in)
		m.Axis = 1
		maps = append(maps, m)
		labels[0] = append(labels[0], labelGroup, labelIn)
	case grouped:
		maps = append(maps, AxisMap{Axis: 1, Shape: xs[1:2]})
		labels[0] = append(labels[0], labelGroup)
	default:
		maps = append(maps, AxisMap{Axis: 1, Shape: xs[1:2]})
		labels[0] = append(labels[0], labelIn)
	}
	channel := func(label uint8, use bool, n int) {
		if use {
			weights, labels[1] = append(weights, n), append(labels[1], label)
		}
	}
	channel(labelGroup, grouped, g)
	if transposed {
		channel(labelIn, inner, in)
		channel(labelOut, outer, out)
	} else {
		channel(labelOut, outer, out)
		channel(labelIn, inner, in)
	}
	if grouped {
		labels[2] = append(labels[2], labelGroup)
	}
	if outer {
		labels[2] = append(labels[2], labelOut)
	}
	result = append(result, g*out)
	for i, win := range wins {
		m := win.read()
		if transposed {
			m = win.scatter()
		}
		m.Axis = 2 + i
		maps = append(maps, m)
		position := uint8(labelSpatial + 2*i)
		labels[0], labels[2] = append(labels[0], position), append(labels[2], position)
		if win.kernel > 1 {
			weights = append(weights, win.kernel)
			labels[0], labels[1] = append(labels[0], position+1), append(labels[1], position+1)
		}
		result = append(result, win.out)
	}
	x = t.rearrange(x, maps, nil, 0)
	return t.reshape(t.einsum(labels, x, t.reshape(w, weights)), result), nil
}

// placeTransposed fixes the positions of a transposed convolution, where padding is removed from the result.
func (t *translation) placeTransposed(wins []window) error {
	auto, err := t.autoPad()
	if err != nil {
		return err
	}
	extra, given := t.attrs.ints("output_padding"), t.attrs.ints("output_shape")
	for i, list := range [][]int64{extra, given} {
		if list != nil && len(list) != len(wins) {
			return malformed("%s: attribute %q has %d elements, expected %d", t.label, []string{"output_padding", "output_shape"}[i], len(list), len(wins))
		}
	}
	for i := range wins {
		w := &wins[i]
		full := (w.size-1)*w.stride + w.reach()
		if extra != nil {
			if extra[i] < 0 || extra[i] >= int64(max(w.stride, w.dilation)) {
				return malformed("%s: attribute \"output_padding\", element %d is %d, expected 0 to %d", t.label, i, extra[i], max(w.stride, w.dilation)-1)
			}
			full += int(extra[i])
		}
		switch {
		case given != nil:
			w.out = int(min(max(given[i], 0), maxElements))
		case auto == "SAME_UPPER" || auto == "SAME_LOWER":
			w.out = w.size * w.stride
		case auto == "NOTSET" || auto == "VALID":
			w.out = full - w.before - w.after
		default:
			return malformed("%s: attribute \"auto_pad\" is %s", t.label, Quote(auto))
		}
		if w.out < 1 || w.out > maxElements {
			return t.unsupported("spatial axis %d: a result of %d elements", i, w.out)
		}
		if given != nil || auto == "SAME_UPPER" || auto == "SAME_LOWER" {
			total := max(full-w.out, 0)
			w.before = total - total/2
			if auto == "SAME_UPPER" {
				w.before = total / 2
			}
		}
		if err := w.fits(); err != nil {
			return t.unsupported("spatial axis %d: %w", i, err)
		}
	}
	return nil
}

// pool reads the attributes of a pool and fixes its windows.
func (t *translation) pool(x int) ([]window, error) {
	shape := t.shape(x)
	wins, err := t.spatial(shape, nil)
	if err != nil {
		return nil, err
	}
	auto, err := t.autoPad()
	if err != nil {
		return nil, err
	}
	return wins, t.place(wins, auto, t.attrs.flag("ceil_mode", false))
}

// windows arranges the windows of a tensor as further axes and returns where these are.
func (t *translation) windows(x int, wins []window, maps []AxisMap) (int, []int) {
	shape := t.shape(x)
	all := []AxisMap{{Axis: 0, Shape: shape[:1]}, {Axis: 1, Shape: shape[1:2]}}
	var axes []int
	at := 2
	for i, m := range maps {
		m.Axis = 2 + i
		all = append(all, m)
		if at++; wins[i].kernel > 1 {
			axes = append(axes, at)
			at++
		}
	}
	return t.rearrange(x, all, nil, 0), axes
}

func (t *translation) maxPool() error {
	if len(t.proto.Output) > 1 && t.proto.Output[1] != "" {
		return t.unsupported("its second output, the indices of the maxima")
	}
	if order := t.attrs.int("storage_order", 0); order != 0 {
		return t.unsupported("attribute \"storage_order\" is %d", order)
	}
	x := t.inputs[0]
	wins, err := t.pool(x)
	if err != nil {
		return err
	}
	maps := make([]AxisMap, len(wins))
	for i, w := range wins {
		if maps[i], err = w.filled(); err != nil {
			return t.unsupported("spatial axis %d: %w", i, err)
		}
	}
	y, axes := t.windows(x, wins, maps)
	return t.result(0, t.reduce(OpReduceMax, y, axes, false))
}

func (t *translation) averagePool() error {
	padding := t.attrs.flag("count_include_pad", false)
	x := t.inputs[0]
	wins, err := t.pool(x)
	if err != nil {
		return err
	}
	y, counts, err := t.windowSums(x, wins, padding)
	if err != nil {
		return err
	}
	share := make([]float64, len(counts.Ints))
	for i, n := range counts.Ints {
		share[i] = 1 / float64(n)
	}
	return t.result(0, t.mul(y, t.constReals(counts.Shape, share)))
}

// windowSums sums windows, and says how many elements each one counts: one number for all, or a tensor over the positions.
func (t *translation) windowSums(x int, wins []window, padding bool) (int, *Tensor, error) {
	maps := make([]AxisMap, len(wins))
	counts := &Tensor{Shape: []int{}, Ints: []int64{1}}
	for i, w := range wins {
		maps[i] = w.read()
		along := w.counts(padding)
		next := &Tensor{Shape: append(slices.Clone(counts.Shape), w.out)}
		for _, c := range counts.Ints {
			for _, n := range along {
				if n == 0 {
					return 0, nil, t.unsupported("spatial axis %d: a window lies in the padding altogether", i)
				}
				next.Ints = append(next.Ints, c*int64(n))
			}
		}
		counts = next
	}
	if !slices.ContainsFunc(counts.Ints, func(n int64) bool { return n != counts.Ints[0] }) {
		counts = &Tensor{Shape: []int{}, Ints: counts.Ints[:1]}
	}
	y, axes := t.windows(x, wins, maps)
	return t.reduce(OpReduceSum, y, axes, false), counts, nil
}

// constReals makes a constant of real numbers.
func (t *translation) constReals(shape []int, v []float64) int {
	c := &Tensor{Shape: shape, Real: make([]float32, len(v))}
	for i, x := range v {
		c.Real[i] = float32(x)
	}
	return t.constTensor(c)
}

func (t *translation) globalPool() error {
	x := t.inputs[0]
	shape := t.shape(x)
	if len(shape) < 3 {
		return t.unsupported("an operand of shape %v, expected batch, channels and at least one more axis", shape)
	}
	axes := make([]int, len(shape)-2)
	for i := range axes {
		axes[i] = 2 + i
	}
	if t.proto.OpType == "GlobalMaxPool" {
		return t.result(0, t.reduce(OpReduceMax, x, axes, true))
	}
	sum := t.reduce(OpReduceSum, x, axes, true)
	return t.result(0, t.mul(sum, t.scalar(1/float64(elements(shape[2:])))))
}
