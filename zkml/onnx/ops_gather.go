package onnx

import "slices"

// Gathers whose constant indices name single places: the axes that they go over become one, from which the places are picked.

// places returns the constant indices of input 1.
func (t *translation) places() (*Tensor, error) {
	ids := t.value(1)
	if ids.Const == nil {
		return nil, t.unsupported("the indices %s are computed, expected a constant", t.inputName(1))
	}
	if !ids.Int {
		return nil, t.malformed("the indices %s are no integers", t.inputName(1))
	}
	return ids.Const, nil
}

// on resolves one index on an axis of length n.
func (t *translation) on(v int64, n int) (int, error) {
	if v < -int64(n) || v >= int64(n) {
		return 0, t.malformed("index %d on an axis of length %d", v, n)
	}
	if v < 0 {
		v += int64(n)
	}
	return int(v), nil
}

// gatherND picks slices: the last axis of the indices holds their coordinates on the first axes.
func (t *translation) gatherND() error {
	ids, err := t.places()
	if err != nil {
		return err
	}
	data := t.value(0).Shape
	batch := int64(0)
	if t.opset() >= 12 {
		batch = t.attrs.int("batch_dims", 0)
	}
	if len(ids.Shape) == 0 || batch < 0 || batch >= int64(len(ids.Shape)) || batch > int64(len(data)) ||
		!slices.Equal(ids.Shape[:batch], data[:batch]) || int(batch)+ids.Shape[len(ids.Shape)-1] > len(data) {
		return t.malformed("data of shape %v, indices of shape %v, attribute \"batch_dims\" %d", data, ids.Shape, batch)
	}
	b, last := int(batch), len(ids.Shape)-1
	depth := ids.Shape[last]
	out := ids.Shape[:last]
	each := elements(out[b:])
	index := make([]int32, elements(out))
	for i := range index {
		at := 0
		if each > 0 {
			at = i / each // the place in the batch
		}
		for k := range depth {
			c, err := t.on(ids.Ints[i*depth+k], data[b+k])
			if err != nil {
				return err
			}
			at = at*data[b+k] + c
		}
		index[i] = int32(at)
	}
	return t.result(0, t.pickPlaces(b+depth, out, index))
}

// pickPlaces makes the first axes of input 0 one and replaces it by places of a shape.
func (t *translation) pickPlaces(axes int, shape []int, index []int32) int {
	data := t.value(0).Shape
	x := t.reshape(t.inputs[0], append([]int{elements(data[:axes])}, data[axes:]...))
	if t.err != nil {
		return -1
	}
	maps := keep(t.shape(x))
	maps[0] = AxisMap{Axis: 0, Shape: shape, Index: index}
	return t.rearrange(x, maps, nil, 0)
}

// gatherElements picks single elements: an index along one axis for every place of the result.
func (t *translation) gatherElements() error {
	ids, err := t.places()
	if err != nil {
		return err
	}
	data := t.value(0).Shape
	axis, err := t.onAxis("attribute \"axis\"", t.attrs.int("axis", 0), len(data))
	if err != nil {
		return err
	}
	if len(ids.Shape) != len(data) {
		return t.malformed("data of shape %v and indices of shape %v", data, ids.Shape)
	}
	for a, d := range ids.Shape {
		if a != axis && d > data[a] {
			return t.malformed("data of shape %v and indices of shape %v", data, ids.Shape)
		}
	}
	index := make([]int32, len(ids.Ints))
	for i := range index {
		at, step, rest := 0, 1, i
		for a := len(data) - 1; a >= 0; a-- {
			c := rest % ids.Shape[a]
			rest /= ids.Shape[a]
			if a == axis {
				if c, err = t.on(ids.Ints[i], data[a]); err != nil {
					return err
				}
			}
			at += c * step
			step *= data[a]
		}
		index[i] = int32(at)
	}
	return t.result(0, t.pickPlaces(len(data), ids.Shape, index))
}
