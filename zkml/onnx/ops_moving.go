package onnx

import (
	"math"
	"slices"
)

// movingTable holds operators that move elements.
var movingTable = map[string]operator{
	"Pad":          {1, 4, 1, (*translation).pad},
	"Resize":       {1, 4, 1, (*translation).resize},
	"Upsample":     {1, 2, 1, (*translation).resize},
	"DepthToSpace": {1, 1, 1, (*translation).depthToSpace},
	"SpaceToDepth": {1, 1, 1, (*translation).spaceToDepth},
	"Trilu":        {1, 2, 1, (*translation).trilu},
}

func (t *translation) pad() error {
	mode := t.attrs.str("mode", "constant")
	shape := t.value(0).Shape
	rank := len(shape)
	axes := make([]int, rank)
	for i := range axes {
		axes[i] = i
	}
	fill := 0.0
	var pads []int64
	if t.opset() < 11 {
		if len(t.inputs) > 1 {
			return malformed("%s: padding as an input exists from operator set 11 on", t.label)
		}
		pads, fill = t.attrs.ints("pads"), t.attrs.float("value", 0)
	} else {
		if !t.present(1) {
			return malformed("%s: the input with the padding is missing", t.label)
		}
		var err error
		if pads, err = t.constInts(1); err != nil {
			return err
		}
		if t.present(2) {
			c := t.value(2).Const
			if c == nil || c.Len() != 1 {
				return t.unsupported("the padding value %s is not a constant number", t.inputName(2))
			}
			fill = c.At(0)
		}
		if t.present(3) {
			if t.opset() < 18 {
				return malformed("%s: axes as an input exist from operator set 18 on", t.label)
			}
			given, err := t.constInts(3)
			if err != nil {
				return err
			}
			if _, err := t.sortedAxes(given, rank); err != nil {
				return err
			}
			axes = axes[:0]
			for _, a := range given {
				axes = append(axes, int((a+int64(rank))%int64(rank)))
			}
		}
	}
	if err := t.finite("value", fill); err != nil {
		return err
	}
	if mode == "wrap" && t.opset() < 19 {
		return malformed("%s: attribute \"mode\" is wrap, which exists from operator set 19 on", t.label)
	}
	if len(pads) != 2*len(axes) {
		return malformed("%s: padding of %d numbers, expected %d", t.label, len(pads), 2*len(axes))
	}
	maps := keep(shape)
	for i, a := range axes {
		before, after := pads[i], pads[len(axes)+i]
		for _, p := range []int64{before, after} {
			if p < -maxElements || p > maxElements {
				return t.unsupported("padding %d of axis %d", p, a)
			}
		}
		m, err := padMap(shape[a], int(before), int(after), mode)
		if err != nil {
			return t.unsupported("axis %d: %w", a, err)
		}
		m.Axis = a
		maps[a] = m
	}
	return t.result(0, t.rearrange(t.inputs[0], maps, nil, fill))
}

// depthToSpace spreads channels over blocks of positions.
func (t *translation) depthToSpace() error {
	b, shape, err := t.blocks()
	if err != nil {
		return err
	}
	if shape[1]%(b*b) != 0 {
		return malformed("%s: %d channels for blocks of %d x %d", t.label, shape[1], b, b)
	}
	c := shape[1] / (b * b)
	split, perm := splitMap(b, b, c), []int{0, 3, 4, 1, 5, 2}
	switch mode := t.attrs.str("mode", "DCR"); mode {
	case "DCR":
	case "CRD":
		split, perm = splitMap(c, b, b), []int{0, 1, 4, 2, 5, 3}
	default:
		return malformed("%s: attribute \"mode\" is %s, expected DCR or CRD", t.label, Quote(mode))
	}
	maps := keep(shape)
	split.Axis = 1
	maps[1] = split
	y := t.rearrange(t.inputs[0], maps, perm, 0)
	return t.result(0, t.reshape(y, []int{shape[0], c, shape[2] * b, shape[3] * b}))
}

// spaceToDepth gathers blocks of positions into channels.
func (t *translation) spaceToDepth() error {
	b, shape, err := t.blocks()
	if err != nil {
		return err
	}
	if shape[2]%b != 0 || shape[3]%b != 0 {
		return malformed("%s: blocks of %d x %d do not divide shape %v", t.label, b, b, shape)
	}
	maps := keep(shape)
	for i := 2; i < 4; i++ {
		m := splitMap(shape[i]/b, b)
		m.Axis = i
		maps[i] = m
	}
	y := t.rearrange(t.inputs[0], maps, []int{0, 3, 5, 1, 2, 4}, 0)
	return t.result(0, t.reshape(y, []int{shape[0], shape[1] * b * b, shape[2] / b, shape[3] / b}))
}

// blocks reads a block size and checks that the operand has four axes.
func (t *translation) blocks() (int, []int, error) {
	b, shape := t.attrs.int("blocksize", 0), t.value(0).Shape
	if len(shape) != 4 {
		return 0, nil, malformed("%s: an operand of shape %v, expected 4 axes", t.label, shape)
	}
	if b < 1 || b > 1<<12 {
		return 0, nil, malformed("%s: attribute \"blocksize\" is %d, expected 1 to 4096", t.label, b)
	}
	return int(b), shape, nil
}

// trilu keeps the elements on one side of a diagonal and makes the others zero.
func (t *translation) trilu() error {
	upper, shape := t.attrs.flag("upper", true), t.value(0).Shape
	if len(shape) < 2 {
		return malformed("%s: an operand of shape %v, expected at least 2 axes", t.label, shape)
	}
	k := int64(0)
	if t.present(1) {
		list, err := t.constInts(1)
		if err != nil {
			return err
		}
		if len(list) != 1 {
			return malformed("%s: the diagonal has %d elements, expected 1", t.label, len(list))
		}
		k = min(max(list[0], -maxElements), maxElements)
	}
	rows, cols := shape[len(shape)-2], shape[len(shape)-1]
	mask := &Tensor{Shape: []int{rows, cols}, Ints: make([]int64, rows*cols)}
	for i := range rows {
		for j := range cols {
			if d := int64(j - i); upper && d >= k || !upper && d <= k {
				mask.Ints[i*cols+j] = 1
			}
		}
	}
	zero := &Tensor{Shape: []int{}, Real: []float32{0}}
	if t.value(0).Int {
		zero = &Tensor{Shape: []int{}, Ints: []int64{0}}
	}
	return t.result(0, t.sel(t.inputs[0], t.constTensor(mask), t.constTensor(zero)))
}

// resizing is what a Resize or Upsample node asks for.
type resizing struct {
	axes                     []resizeAxis
	mode, transform, nearest string
	outside                  float64
}

func (t *translation) resize() error {
	r, err := t.resizing()
	if err != nil {
		return err
	}
	shape := t.value(0).Shape
	switch r.mode {
	case "nearest":
		maps := keep(shape)
		for i, a := range r.axes {
			m, err := a.nearest(r.transform, r.nearest)
			if err != nil {
				return t.unsupported("%w", err)
			}
			m.Axis = i
			maps[i] = m
		}
		return t.result(0, t.rearrange(t.inputs[0], maps, nil, r.outside))
	case "linear":
		return t.resizeLinear(r)
	}
	return t.unsupported("attribute \"mode\" is %s, expected nearest or linear", Quote(r.mode))
}

// resizeLinear interpolates one axis after the other: each is a product with a constant matrix.
func (t *translation) resizeLinear(r resizing) error {
	x := t.inputs[0]
	rank := len(r.axes)
	for i, a := range r.axes {
		if a.out == a.size && a.scale == 1 && r.transform != "tf_crop_and_resize" {
			continue
		}
		if a.out > maxAxis/a.size {
			return t.unsupported("interpolating an axis of %d to %d", a.size, a.out)
		}
		weights, outside, err := a.linear(r.transform)
		if err != nil {
			return t.unsupported("%w", err)
		}
		if slices.Contains(outside, true) {
			return t.unsupported("axis %d: a region beyond the tensor in mode linear", i)
		}
		from, to := make([]uint8, rank), make([]uint8, rank)
		for k := range from {
			from[k], to[k] = uint8(k), uint8(k)
		}
		to[i] = uint8(rank)
		x = t.einsum([][]uint8{from, {uint8(rank), uint8(i)}, to}, x, t.constReals([]int{a.out, a.size}, weights))
	}
	return t.result(0, x)
}

// resizing reads the forms of all operator sets: scales as an attribute or input, sizes, a region, axes.
func (t *translation) resizing() (resizing, error) {
	upsample := t.proto.OpType == "Upsample" || t.opset() < 11
	shape := t.value(0).Shape
	r := resizing{mode: t.attrs.str("mode", "nearest"), transform: "asymmetric", nearest: "floor", axes: make([]resizeAxis, len(shape))}
	for i, d := range shape {
		r.axes[i] = resizeAxis{size: d, out: d, scale: 1, length: float32(d), start: 0, end: 1}
	}
	if r.mode == "bilinear" && upsample {
		r.mode = "linear"
	}
	if upsample && t.opset() >= 10 && t.proto.OpType == "Upsample" {
		return r, t.unsupported("Upsample does not exist from operator set 10 on")
	}
	axes := make([]int, len(shape))
	for i := range axes {
		axes[i] = i
	}
	if upsample {
		scales, err := t.scales(1, axes)
		if err != nil {
			return r, err
		}
		return r, t.setScales(&r, axes, scales)
	}
	r.transform = t.attrs.str("coordinate_transformation_mode", "half_pixel")
	r.nearest = t.attrs.str("nearest_mode", "round_prefer_floor")
	r.outside = t.attrs.float("extrapolation_value", 0)
	t.attrs.float("cubic_coeff_a", -0.75)
	if t.attrs.flag("exclude_outside", false) && r.mode != "nearest" {
		return r, t.unsupported("attribute \"exclude_outside\" is 1")
	}
	policy := "stretch"
	if t.opset() >= 18 {
		if t.attrs.flag("antialias", false) {
			return r, t.unsupported("attribute \"antialias\" is 1")
		}
		policy = t.attrs.str("keep_aspect_ratio_policy", "stretch")
		if given := t.attrs.ints("axes"); given != nil {
			if _, err := t.sortedAxes(given, len(shape)); err != nil {
				return r, err
			}
			axes = axes[:0]
			for _, a := range given {
				axes = append(axes, int((a+int64(len(shape)))%int64(len(shape))))
			}
		}
	}
	if r.transform == "tf_crop_and_resize" {
		roi, err := t.constFloats(1)
		if err != nil {
			return r, err
		}
		if len(roi) != 2*len(axes) {
			return r, malformed("%s: a region of %d numbers, expected %d", t.label, len(roi), 2*len(axes))
		}
		for i, a := range axes {
			r.axes[a].start, r.axes[a].end = float32(roi[i]), float32(roi[len(axes)+i])
		}
	}
	scaled, sized := t.filled(2), t.filled(3)
	switch {
	case scaled && sized || !scaled && !sized:
		return r, malformed("%s: expected either scales or sizes", t.label)
	case scaled:
		scales, err := t.scales(2, axes)
		if err != nil {
			return r, err
		}
		return r, t.setScales(&r, axes, scales)
	}
	sizes, err := t.constInts(3)
	if err != nil {
		return r, err
	}
	return r, t.setSizes(&r, axes, sizes, policy)
}

// filled reports whether an optional input is there and has elements: older files give empty tensors for "absent".
func (t *translation) filled(k int) bool {
	return t.present(k) && elements(t.value(k).Shape) > 0
}

// constFloats returns a constant list of real numbers.
func (t *translation) constFloats(k int) ([]float64, error) {
	if !t.present(k) || t.value(k).Const == nil || t.value(k).Int {
		return nil, t.unsupported("input %d is not a constant list of real numbers", k)
	}
	return t.value(k).Const.Float64s(), nil
}

func (t *translation) scales(k int, axes []int) ([]float64, error) {
	scales, err := t.constFloats(k)
	if err == nil && len(scales) != len(axes) {
		err = malformed("%s: %d scales, expected %d", t.label, len(scales), len(axes))
	}
	return scales, err
}

func (t *translation) setScales(r *resizing, axes []int, scales []float64) error {
	for i, a := range axes {
		x := &r.axes[a]
		length := float64(x.size)
		if r.transform == "tf_crop_and_resize" {
			length *= float64(x.end - x.start)
		}
		if !(scales[i] > 0) || math.Floor(length*scales[i]) < 1 || math.Floor(length*scales[i]) > maxAxis {
			return t.unsupported("scale %g of axis %d of length %d", scales[i], a, x.size)
		}
		x.scale = float32(scales[i])
		x.length = float32(length) * x.scale
		x.out = int(math.Floor(float64(x.length)))
		if r.transform == "align_corners" && x.length != float32(x.out) {
			// ONNX's reference uses the fraction, onnxruntime the length.
			return t.unsupported("scale %g of axis %d of length %d makes a fraction, which \"align_corners\" leaves open; give sizes", scales[i], a, x.size)
		}
	}
	return nil
}

func (t *translation) setSizes(r *resizing, axes []int, sizes []int64, policy string) error {
	if len(sizes) != len(axes) {
		return malformed("%s: %d sizes, expected %d", t.label, len(sizes), len(axes))
	}
	common := 0.0
	for i, a := range axes {
		x := &r.axes[a]
		if sizes[i] < 1 || sizes[i] > maxAxis {
			return t.unsupported("size %d of axis %d", sizes[i], a)
		}
		x.out = int(sizes[i])
		x.length = float32(x.out)
		x.scale = x.length / float32(x.size)
		if s := float64(x.scale); i == 0 || policy == "not_larger" && s < common || policy == "not_smaller" && s > common {
			common = s
		}
	}
	switch policy {
	case "stretch":
		return nil
	case "not_larger", "not_smaller":
	default:
		return malformed("%s: attribute \"keep_aspect_ratio_policy\" is %s", t.label, Quote(policy))
	}
	for _, a := range axes {
		x := &r.axes[a]
		x.scale = float32(common)
		x.out = int(math.Floor(common*float64(x.size) + 0.5))
		x.length = float32(x.out)
		if x.out < 1 || x.out > maxAxis {
			return t.unsupported("size %d of axis %d", x.out, a)
		}
	}
	return nil
}
