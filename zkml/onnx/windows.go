package onnx

import "fmt"

// window describes one spatial axis of a convolution or a pool.
type window struct {
	size, kernel, stride, dilation int
	before, after                  int // padding
	out                            int // number of positions
}

// reach is the number of elements between the first and the last one of a window, both included.
func (w window) reach() int { return (w.kernel-1)*w.dilation + 1 }

// place sets padding and the number of positions. auto is one of the values of attribute auto_pad; before and after count with NOTSET
// only. With ceil, a last window that does not fit counts unless it starts in the padding behind.
func (w *window) place(auto string, ceil bool) error {
	switch auto {
	case "NOTSET":
	case "VALID":
		w.before, w.after = 0, 0
	case "SAME_UPPER", "SAME_LOWER":
		w.out = (w.size + w.stride - 1) / w.stride
		total := max((w.out-1)*w.stride+w.reach()-w.size, 0)
		w.before = total / 2
		if auto == "SAME_LOWER" {
			w.before = total - total/2
		}
		w.after = total - w.before
		return w.fits()
	default:
		return fmt.Errorf("attribute \"auto_pad\" is %s, expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", Quote(auto))
	}
	room := w.size + w.before + w.after - w.reach()
	if room < 0 {
		return fmt.Errorf("a window of %d elements does not fit an axis of %d with padding %d and %d", w.reach(), w.size, w.before, w.after)
	}
	w.out = room/w.stride + 1
	if ceil && room%w.stride != 0 && w.out*w.stride < w.size+w.before {
		w.out++
	}
	return w.fits()
}

// maxAxis bounds the entries of one axis map, which a small file could otherwise make as large as it likes.
const maxAxis = 1 << 24

func (w window) fits() error {
	if w.out > maxAxis/w.kernel {
		return fmt.Errorf("%d windows of %d elements, expected at most 2^24 elements along one axis", w.out, w.kernel)
	}
	return nil
}

// read maps (position, place in the window) to the element read there; a kernel of one element gets no axis of its own.
func (w window) read() AxisMap {
	a := AxisMap{Shape: []int{w.out, w.kernel}, Index: make([]int32, 0, w.out*w.kernel)}
	if w.kernel == 1 {
		a.Shape = a.Shape[:1]
	}
	for o := range w.out {
		for k := range w.kernel {
			a.Index = append(a.Index, w.at(o*w.stride-w.before+k*w.dilation))
		}
	}
	return a
}

// scatter is read for a transposed convolution: the element that contributes to an output position through a place of the window.
func (w window) scatter() AxisMap {
	a := AxisMap{Shape: []int{w.out, w.kernel}, Index: make([]int32, 0, w.out*w.kernel)}
	if w.kernel == 1 {
		a.Shape = a.Shape[:1]
	}
	for o := range w.out {
		for k := range w.kernel {
			from := o + w.before - k*w.dilation
			if from < 0 || from%w.stride != 0 {
				a.Index = append(a.Index, -1)
				continue
			}
			a.Index = append(a.Index, w.at(from/w.stride))
		}
	}
	return a
}

func (w window) at(i int) int32 {
	if i < 0 || i >= w.size {
		return -1
	}
	return int32(i)
}

// filled is read with every place outside the axis replaced by another place of the same window, for functions (such as the maximum)
// that do not mind an element given twice. It fails where a window lies wholly outside.
func (w window) filled() (AxisMap, error) {
	a := w.read()
	for o := range w.out {
		places := a.Index[o*w.kernel : (o+1)*w.kernel]
		valid := int32(-1)
		for _, v := range places {
			if v >= 0 {
				valid = v
				break
			}
		}
		if valid < 0 {
			return a, fmt.Errorf("window %d lies in the padding altogether", o)
		}
		for k, v := range places {
			if v < 0 {
				places[k] = valid
			} else {
				valid = v
			}
		}
	}
	return a, nil
}

// counts returns how many places of each window an average divides by: those inside the axis or, with padding, those inside the padded
// axis; never what lies beyond that.
func (w window) counts(padding bool) []int {
	from, to := 0, w.size
	if padding {
		from, to = -w.before, w.size+w.after
	}
	n := make([]int, w.out)
	for o := range n {
		for k := range w.kernel {
			if i := o*w.stride - w.before + k*w.dilation; i >= from && i < to {
				n[o]++
			}
		}
	}
	return n
}

// padMap extends an axis by before and after elements (negative numbers remove some) in one of the modes of Pad.
func padMap(size, before, after int, mode string) (AxisMap, error) {
	out := size + before + after
	if out < 1 || out > maxAxis {
		return AxisMap{}, fmt.Errorf("padding %d and %d make an axis of %d from one of %d, expected 1 to 2^24", before, after, out, size)
	}
	a := AxisMap{Shape: []int{out}, Index: make([]int32, out)}
	for o := range a.Index {
		i := o - before
		switch {
		case i >= 0 && i < size:
		case mode == "constant":
			i = -1
		case mode == "edge":
			i = min(max(i, 0), size-1)
		case mode == "wrap":
			i = (i%size + size) % size
		case mode == "reflect":
			// The period of a reflected axis is twice its inner part: 0 1 2 3 2 1 | 0 1 ...
			period := max(2*(size-1), 1)
			if i = (i%period + period) % period; i >= size {
				i = period - i
			}
		default:
			return AxisMap{}, fmt.Errorf("attribute \"mode\" is %s, expected constant, edge, reflect or wrap", Quote(mode))
		}
		a.Index[o] = int32(i)
	}
	return a, nil
}

// splitMap gives an axis the lengths of several ones, their product being its own length.
func splitMap(shape ...int) AxisMap {
	a := AxisMap{Shape: shape, Index: make([]int32, elements(shape))}
	for i := range a.Index {
		a.Index[i] = int32(i)
	}
	return a
}
