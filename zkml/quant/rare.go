package quant

import (
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// A few of the channels that a product sums over often have weights many times as large as all others: they would take the others' bits. Such
// weights are a product of their own, with few channels, so that the scale of the sum follows the others.

// rareLengths are the numbers of channels that are taken out: powers of two, as they are padded to one.
var rareLengths = []int{1, 2, 4, 8, 16}

// Channels are taken out if the greatest weight of the others is at most 1/rareGain of the greatest, as few as leave no more than rareRest
// times what the most would leave, and at most one of rareShare.
const (
	rareGain  = 4
	rareRest  = 1.25
	rareShare = 16
)

// parted is a product with weights as one term or two.
func (l *lowering) parted(t term) []term {
	axis, ok := contraction(&t)
	if !ok || l.Err() != nil || t.w.Real == nil {
		return []term{t}
	}
	rare := rareChannels(t.w, axis)
	if len(rare) == 0 {
		return []term{t}
	}
	main, few := t, t
	main.w, few.w = withoutChannels(t.w, axis, rare)
	few.rare = true
	few.name = suffixed(t.name, ".rare", 0)
	index := make([]int32, len(rare))
	for i, k := range rare {
		index[i] = int32(k)
	}
	at := slices.Index(t.labels[0], t.labels[1][axis])
	few.x.id = l.mapAxis(suffixed(t.name, ".channels", 0), t.x.id, at, []int{len(rare)}, index)
	return []term{main, few}
}

// contraction returns the weights' axis that a product sums over, if it is one.
func contraction(t *term) (axis int, ok bool) {
	axis = -1
	for i, lb := range t.labels[1] {
		if slices.Contains(t.labels[2], lb) {
			continue
		}
		if axis >= 0 || !slices.Contains(t.labels[0], lb) {
			return 0, false
		}
		axis = i
	}
	return axis, axis >= 0
}

// rareChannels returns the channels along an axis, in order, whose weights are far greater than those of the others.
func rareChannels(w *onnx.Tensor, axis int) []int {
	n := w.Shape[axis]
	most := 0
	for _, r := range rareLengths {
		if r*rareShare <= n {
			most = r
		}
	}
	if most == 0 {
		return nil
	}
	peaks := channelPeaks(w, axis)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case peaks[a] > peaks[b]:
			return -1
		case peaks[a] < peaks[b]:
			return 1
		}
		return a - b
	})
	rest := peaks[order[most]]
	if rest == 0 || float64(peaks[order[0]]) < rareGain*float64(rest) {
		return nil
	}
	for _, r := range rareLengths {
		if float64(peaks[order[r]]) <= rareRest*float64(rest) {
			most = r
			break
		}
	}
	rare := slices.Clone(order[:most])
	slices.Sort(rare)
	return rare
}

// strips calls f with every run of elements that share their position along an axis.
func strips(w *onnx.Tensor, axis int, f func(channel int, run []float32)) {
	inner := 1
	for _, d := range w.Shape[axis+1:] {
		inner *= d
	}
	n := w.Shape[axis]
	for at := 0; at < len(w.Real); at += inner {
		f(at/inner%n, w.Real[at:at+inner])
	}
}

// channelPeaks returns the greatest absolute weight at each position along an axis.
func channelPeaks(w *onnx.Tensor, axis int) []float32 {
	peaks := make([]float32, w.Shape[axis])
	strips(w, axis, func(c int, run []float32) {
		for _, v := range run {
			if v < 0 {
				v = -v
			}
			peaks[c] = max(peaks[c], v)
		}
	})
	return peaks
}

// withoutChannels returns the weights with zeros at positions along an axis, and what was there.
func withoutChannels(w *onnx.Tensor, axis int, channels []int) (rest, few *onnx.Tensor) {
	rest = &onnx.Tensor{Shape: w.Shape, Real: slices.Clone(w.Real)}
	few = &onnx.Tensor{Shape: slices.Clone(w.Shape)}
	few.Shape[axis] = len(channels)
	strips(rest, axis, func(c int, run []float32) {
		if slices.Contains(channels, c) {
			few.Real = append(few.Real, run...)
			clear(run)
		}
	})
	return rest, few
}
