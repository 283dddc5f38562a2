package onnx

import "slices"

// shapeTable holds operators that only move elements.
var shapeTable = map[string]operator{
	"Flatten":   {1, 1, 1, (*translation).flatten},
	"Reshape":   {2, 2, 1, (*translation).reshapeTo},
	"Squeeze":   {1, 2, 1, (*translation).squeeze},
	"Unsqueeze": {1, 2, 1, (*translation).unsqueeze},
	"Expand":    {2, 2, 1, (*translation).expandTo},
	"Transpose": {1, 1, 1, (*translation).transposed},
	"Concat":    {1, -1, 1, (*translation).join},
	"Split":     {1, 2, -1, (*translation).split},
	"Slice":     {1, 5, 1, (*translation).slice},
	"Tile":      {2, 2, 1, (*translation).tile},
	"Gather":    {2, 2, 1, (*translation).gather},

	"GatherND":       {2, 2, 1, (*translation).gatherND},
	"GatherElements": {2, 2, 1, (*translation).gatherElements},
}

func (t *translation) flatten() error {
	v := t.value(0)
	axis, err := t.axis(1, len(v.Shape)+1, t.opset() >= 11)
	if err != nil {
		return err
	}
	return t.result(0, t.reshape(t.inputs[0], []int{elements(v.Shape[:axis]), elements(v.Shape[axis:])}))
}

func (t *translation) reshapeTo() error {
	allowZero := false
	if t.opset() >= 14 {
		allowZero = t.attrs.flag("allowzero", false)
	}
	target, err := t.constInts(1)
	if err != nil {
		return err
	}
	v := t.value(0)
	dims := slices.Clone(target)
	known, infer := int64(1), -1
	for i, d := range dims {
		switch {
		case d == 0 && !allowZero && i < len(v.Shape):
			dims[i] = int64(v.Shape[i])
		case d == 0 && elements(v.Shape) > 0:
			return t.malformed("shape %v: axis %d would be empty or has nothing to copy from %v", target, i, v.Shape)
		case d == -1 && infer < 0:
			infer = i
			continue
		case d < 0 || d > maxElements:
			return t.malformed("shape %v is not possible", target)
		}
		if known *= dims[i]; known > maxElements {
			return t.malformed("shape %v does not fit %v", target, v.Shape)
		}
	}
	if infer >= 0 {
		if known == 0 {
			return t.malformed("shape %v leaves axis %d open", target, infer)
		}
		dims[infer] = int64(elements(v.Shape)) / known
		known *= dims[infer]
	}
	if known != int64(elements(v.Shape)) {
		return t.malformed("shape %v does not fit %v", target, v.Shape)
	}
	shape, err := checkShape(dims, t.label+": the new shape")
	if err != nil {
		return err
	}
	return t.result(0, t.reshape(t.inputs[0], shape))
}

// axesList reads axes that were an attribute before operator set 13 and are input k since; nil if they are absent.
func (t *translation) axesList(k int) ([]int64, error) {
	if t.opset() < 13 {
		if len(t.inputs) > k {
			return nil, t.malformed("axes as an input exist from operator set 13 on")
		}
		return t.attrs.ints("axes"), nil
	}
	if !t.present(k) {
		return nil, nil
	}
	axes, err := t.constInts(k)
	if axes == nil {
		axes = []int64{}
	}
	return axes, err
}

func (t *translation) squeeze() error {
	list, err := t.axesList(1)
	if err != nil {
		return err
	}
	in := t.value(0).Shape
	axes, err := t.onAxes("axes", list, len(in))
	if err != nil {
		return err
	}
	shape := []int{}
	for i, d := range in {
		switch {
		case list == nil && d == 1:
		case list != nil && slices.Contains(axes, i):
			if d != 1 {
				return t.malformed("axis %d of shape %v is dropped, its length is not 1", i, in)
			}
		default:
			shape = append(shape, d)
		}
	}
	return t.result(0, t.reshape(t.inputs[0], shape))
}

func (t *translation) unsqueeze() error {
	list, err := t.axesList(1)
	if err != nil {
		return err
	}
	if list == nil {
		return t.malformed("the axes are missing")
	}
	in := t.value(0).Shape
	if len(in)+len(list) > maxRank {
		return t.unsupported("a tensor of rank %d, expected at most %d", len(in)+len(list), maxRank)
	}
	axes, err := t.onAxes("axes", list, len(in)+len(list))
	if err != nil {
		return err
	}
	shape := slices.Clone(in)
	for _, a := range axes {
		shape = slices.Insert(shape, a, 1)
	}
	return t.result(0, t.reshape(t.inputs[0], shape))
}

func (t *translation) expandTo() error {
	dims, err := t.constInts(1)
	if err != nil {
		return err
	}
	target, err := checkShape(dims, t.label+": the new shape")
	if err != nil {
		return err
	}
	return t.result(0, t.expand(t.inputs[0], target))
}

func (t *translation) transposed() error {
	perm, err := t.order(t.attrs.ints("perm"), len(t.value(0).Shape))
	if err != nil {
		return err
	}
	return t.result(0, t.transpose(t.inputs[0], perm))
}

// order wants a permutation of the axes of a tensor; without one they are reversed.
func (t *translation) order(perm []int64, rank int) ([]int, error) {
	out := make([]int, rank)
	for i := range out {
		out[i] = rank - 1 - i
	}
	if perm == nil {
		return out, nil
	}
	if len(perm) != rank {
		return nil, t.malformed("attribute %q is %v for rank %d", "perm", perm, rank)
	}
	for i, p := range perm {
		if p < 0 || p >= int64(rank) || slices.Contains(perm[:i], p) {
			return nil, t.malformed("attribute %q is %v for rank %d", "perm", perm, rank)
		}
		out[i] = int(p)
	}
	return out, nil
}

func (t *translation) join() error {
	if !t.attrs.has("axis") {
		return t.malformed("attribute %q is missing", "axis")
	}
	axis, err := t.onAxis("attribute \"axis\"", t.attrs.int("axis", 0), len(t.value(0).Shape))
	if err != nil {
		return err
	}
	var parts []int
	for k, id := range t.inputs {
		if id < 0 {
			return t.malformed("input %d is missing", k)
		}
		// Empty pieces stand for nothing, as they do while shapes are put together.
		if s := t.im.m.Values[id].Shape; len(t.inputs) > 1 && len(s) == len(t.value(0).Shape) && s[axis] == 0 && t.im.m.Values[id].Const != nil {
			continue
		}
		parts = append(parts, id)
	}
	if len(parts) == 0 {
		parts = t.inputs[:1]
	}
	return t.result(0, t.concat(axis, parts...))
}

// split cuts an axis into pieces: of lengths that are given (an attribute before operator set 13, an input since), or as equal as
// possible.
func (t *translation) split() error {
	shape := t.value(0).Shape
	axis, err := t.onAxis("attribute \"axis\"", t.attrs.int("axis", 0), len(shape))
	if err != nil {
		return err
	}
	pieces := len(t.proto.Output)
	var lengths []int64
	switch {
	case t.opset() < 13:
		lengths = t.attrs.ints("split")
	case t.present(1):
		if lengths, err = t.constInts(1); err != nil {
			return err
		}
	}
	if t.opset() >= 18 && t.attrs.has("num_outputs") {
		if n := t.attrs.int("num_outputs", 0); n != int64(pieces) || lengths != nil {
			return t.malformed("attribute \"num_outputs\" is %d for %d outputs, and lengths are given as well or differ", n, pieces)
		}
	}
	total := int64(shape[axis])
	if lengths == nil {
		each := (total + int64(pieces) - 1) / int64(pieces)
		for at := int64(0); len(lengths) < pieces; at += each {
			lengths = append(lengths, max(min(each, total-at), 0))
		}
		if t.opset() < 18 && total%int64(pieces) != 0 {
			return t.malformed("axis %d of shape %v does not split into %d equal pieces", axis, shape, pieces)
		}
	}
	if len(lengths) != pieces {
		return t.malformed("%d lengths for %d outputs", len(lengths), pieces)
	}
	at := int64(0)
	for k, n := range lengths {
		if n < 0 || n > total-at {
			return t.malformed("lengths %v do not fit axis %d of shape %v", lengths, axis, shape)
		}
		if t.proto.Output[k] != "" {
			if err := t.result(k, t.pick(t.inputs[0], axis, steps(at, 1, int(n)), 0)); err != nil {
				return err
			}
		}
		at += n
	}
	if at != total {
		return t.malformed("lengths %v do not fit axis %d of shape %v", lengths, axis, shape)
	}
	return t.err
}

// steps lists n indices from a first one on.
func steps(first, step int64, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(first + int64(i)*step)
	}
	return out
}

// slice takes ranges of axes: attributes before operator set 10, inputs since.
func (t *translation) slice() error {
	in := t.value(0).Shape
	var lists [4][]int64 // starts, ends, axes, steps
	if t.opset() < 10 {
		if len(t.inputs) > 1 {
			return t.malformed("ranges as inputs exist from operator set 10 on")
		}
		lists[0], lists[1], lists[2] = t.attrs.ints("starts"), t.attrs.ints("ends"), t.attrs.ints("axes")
	} else {
		for k := range lists {
			if !t.present(k + 1) {
				continue
			}
			var err error
			if lists[k], err = t.constInts(k + 1); err != nil {
				return err
			}
		}
	}
	starts, ends, axes, by := lists[0], lists[1], lists[2], lists[3]
	n := len(starts)
	if n == 0 || len(ends) != n || axes != nil && len(axes) != n || by != nil && len(by) != n || axes == nil && n > len(in) {
		return t.malformed("starts %v, ends %v, axes %v and steps %v do not fit each other", starts, ends, axes, by)
	}
	maps := keep(in)
	for i := range n {
		axis, step := int64(i), int64(1)
		if axes != nil {
			axis = axes[i]
		}
		if by != nil {
			step = by[i]
		}
		a, err := t.onAxis("an axis", axis, len(in))
		if err != nil {
			return err
		}
		if step == 0 || maps[a].Index != nil {
			return t.malformed("axis %d has step %d or two ranges", a, step)
		}
		first, count := sliceRange(starts[i], ends[i], step, int64(in[a]))
		maps[a] = AxisMap{Axis: a, Shape: []int{count}, Index: steps(first, step, count)}
	}
	return t.result(0, t.rearrange(t.inputs[0], maps, nil, 0))
}

// sliceRange resolves a range on an axis of length n: negative positions count from the end, what lies outside is cut off.
func sliceRange(start, end, step, n int64) (first int64, count int) {
	clamp := func(v, lo, hi int64) int64 {
		if v < 0 {
			v = max(v+n, lo) // cannot overflow: the operands have different signs
		}
		return min(max(v, lo), hi)
	}
	if step > 0 {
		start, end = clamp(start, 0, n), clamp(end, 0, n)
		if start >= end {
			return 0, 0
		}
		return start, int((end-start-1)/step + 1)
	}
	start = clamp(start, 0, n-1)
	if end < -n {
		end = -1
	} else {
		end = clamp(end, -1, n-1)
	}
	if start <= end {
		return 0, 0
	}
	return start, int((start-end-1)/-max(step, -n-1) + 1)
}

func (t *translation) tile() error {
	repeats, err := t.constInts(1)
	if err != nil {
		return err
	}
	in := t.value(0).Shape
	if len(repeats) != len(in) {
		return t.malformed("repeats %v for shape %v", repeats, in)
	}
	maps := keep(in)
	for i, r := range repeats {
		if r < 0 || r*int64(max(in[i], 1)) > maxElements || r > maxElements {
			return t.malformed("repeats %v are not possible for shape %v", repeats, in)
		}
		if r == 1 {
			continue
		}
		index := make([]int32, 0, int(r)*in[i])
		for range r {
			index = append(index, steps(0, 1, in[i])...)
		}
		maps[i] = AxisMap{Axis: i, Shape: []int{len(index)}, Index: index}
	}
	return t.result(0, t.rearrange(t.inputs[0], maps, nil, 0))
}

// gather picks indices of an axis. They are constant, or an input of the model that picks rows of a constant table.
func (t *translation) gather() error {
	data, ids := t.value(0), t.value(1)
	axis, err := t.onAxis("attribute \"axis\"", t.attrs.int("axis", 0), len(data.Shape))
	if err != nil {
		return err
	}
	if !ids.Int {
		return t.malformed("the indices %s are no integers", t.inputName(1))
	}
	if ids.Const == nil {
		if data.Const == nil {
			return t.unsupported("indices %s and data %s are both computed", t.inputName(1), t.inputName(0))
		}
		return t.result(0, t.lookUp(t.inputs[0], t.inputs[1], axis))
	}
	index := make([]int32, len(ids.Const.Ints))
	n := int64(data.Shape[axis])
	for i, v := range ids.Const.Ints {
		if v < -n || v >= n {
			return t.malformed("index %d at place %d, axis %d of shape %v", v, i, axis, data.Shape)
		}
		if v < 0 {
			v += n
		}
		index[i] = int32(v)
	}
	maps := keep(data.Shape)
	maps[axis] = AxisMap{Axis: axis, Shape: ids.Shape, Index: index}
	return t.result(0, t.rearrange(t.inputs[0], maps, nil, 0))
}

// lookUp takes rows of a constant table by computed indices: the axis comes first, the others become one.
func (t *translation) lookUp(table, ids, axis int) int {
	shape := t.shape(table)
	perm := []int{axis}
	rest := []int{}
	for a, d := range shape {
		if a != axis {
			perm = append(perm, a)
			rest = append(rest, d)
		}
	}
	w := t.reshape(t.transpose(table, perm), []int{shape[axis], elements(rest)})
	out := slices.Clone(t.shape(ids))
	y := t.reshape(t.embed(ids, w), append(out, rest...))
	if axis == 0 || t.err != nil {
		return y
	}
	// The indices' axes belong where the table's axis was.
	n := len(out)
	perm = nil
	for a := range axis {
		perm = append(perm, n+a)
	}
	for a := range n {
		perm = append(perm, a)
	}
	for a := axis; a < len(rest); a++ {
		perm = append(perm, n+a)
	}
	return t.transpose(y, perm)
}

// embed takes rows of a constant matrix. Where the indices are an input under another shape or order, the rows are taken first.
func (t *translation) embed(ids, w int) int {
	if t.err != nil || ids < 0 || w < 0 {
		return -1
	}
	m := t.im.m
	if slices.Contains(m.Inputs, ids) {
		v := &m.Values[ids]
		if v.Hi >= boundLimit || v.Hi >= int64(t.shape(w)[0]) && wide(v.Type) {
			v.Hi = int64(t.shape(w)[0] - 1) // rows of the smallest table that is read
		}
		return t.emit(OpEmbed, Attr{}, ids, w)
	}
	for i := len(m.Nodes) - 1; i >= 0; i-- {
		n := m.Nodes[i]
		if n.Output != ids {
			continue
		}
		switch n.Op {
		case OpReshape:
			return t.reshape(t.embed(n.Inputs[0], w), append(slices.Clone(n.Attr.Shape), t.shape(w)[1]))
		case OpRearrange:
			from, width := m.Values[n.Inputs[0]].Shape, t.shape(w)[1]
			maps := append(slices.Clone(n.Attr.Maps), AxisMap{Axis: len(from), Shape: []int{width}})
			perm := n.Attr.Perm
			if perm != nil {
				perm = append(slices.Clone(perm), len(perm))
			}
			if isFilled(n.Attr.Maps) {
				break
			}
			return t.rearrange(t.embed(n.Inputs[0], w), maps, perm, 0)
		}
		return t.fail(t.unsupported("the indices %s are computed, expected an input of the model", Quote(m.Values[ids].Name)))
	}
	return t.fail(t.unsupported("the indices %s are no input of the model", Quote(m.Values[ids].Name)))
}

func isFilled(maps []AxisMap) bool {
	for _, m := range maps {
		if slices.ContainsFunc(m.Index, func(i int32) bool { return i < 0 }) {
			return true
		}
	}
	return false
}

// wide reports whether an integer type has more than 16 bits, so that its range is no bound worth having.
func wide(kind int32) bool {
	b, ok := intRange(kind)
	return ok && b.hi > 1<<16
}
