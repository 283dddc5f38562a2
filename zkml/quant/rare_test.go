package quant

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// TestRareChannels: which channels are taken out, and that nothing gets lost.
func TestRareChannels(t *testing.T) {
	weights := func(channels int, peaks map[int]float32) *onnx.Tensor {
		w := &onnx.Tensor{Shape: []int{2, channels, 3}, Real: make([]float32, 6*channels)}
		for i := range w.Real {
			w.Real[i] = float32(i%7-3) / 3
		}
		for c, v := range peaks {
			w.Real[(channels+c)*3+1] = v
		}
		return w
	}
	for _, c := range []struct {
		channels int
		peaks    map[int]float32
		want     []int
	}{
		{64, nil, nil},
		{64, map[int]float32{5: -9}, []int{5}},
		{64, map[int]float32{5: -9, 2: 1.9}, []int{2, 5}},
		{64, map[int]float32{5: 3.9}, nil}, // less than four times the others
		{64, map[int]float32{5: -9, 2: 8, 33: 7}, []int{1, 2, 5, 33}},
		{64, map[int]float32{1: 9, 2: 9, 3: 9, 4: 9, 5: 9}, nil}, // more than a sixteenth
		{15, map[int]float32{5: 90}, nil},
		{256, map[int]float32{255: 90, 0: 80}, []int{0, 255}},
	} {
		w := weights(c.channels, c.peaks)
		got := rareChannels(w, 1)
		if len(got) != len(c.want) || c.want != nil && len(c.peaks) == len(c.want) && !slices.Equal(got, c.want) {
			t.Errorf("%d channels with %v: %v, expected %v", c.channels, c.peaks, got, c.want)
		}
		for p, v := range c.peaks {
			if got != nil && math.Abs(float64(v)) > 2 && !slices.Contains(got, p) {
				t.Errorf("%d channels with %v: %v lacks %d", c.channels, c.peaks, got, p)
			}
		}
		if got == nil {
			continue
		}
		before := slices.Clone(w.Real)
		rest, few := withoutChannels(w, 1, got)
		if !slices.Equal(w.Real, before) {
			t.Error("the weights changed")
		}
		for i, v := range w.Real {
			a, ch, b := i/(3*c.channels), i/3%c.channels, i%3
			want := rest.Real[i]
			if k := slices.Index(got, ch); k >= 0 {
				if want != 0 {
					t.Fatalf("channel %d is still there", ch)
				}
				want = few.Real[(a*len(got)+k)*3+b]
			}
			if v != want {
				t.Fatalf("element %d is %g, of the parts %g", i, v, want)
			}
		}
	}
}

// TestUnequalWeights: one channel's weights, 200 times as large as the others', cost the others nothing.
func TestUnequalWeights(t *testing.T) {
	for name, absorb := range map[string]bool{"plain": false, "behind a gain": true} {
		t.Run(name, func(t *testing.T) {
			n := newNet(31)
			x := n.norm(n.input(5, 64), true, 1)
			if absorb {
				x = n.affine(x)
			}
			w := n.random(0.1, 64, 24)
			for j := range 24 {
				n.m.Values[w].Const.Real[17*24+j] = 0
			}
			n.m.Values[w].Const.Real[17*24+3] = 80
			y := n.pair(onnx.OpAdd, n.einsum("tc,cd->td", x, w), n.random(0.1, 24))
			// Column 3 is left out: it would hide what became of the others.
			keep := n.mapped(y, 1, 0, []int{20}, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
			n.output(n.fn(onnx.FuncTanh, keep))
			_, _, p := n.check(t, Options{ActivationBits: 12, OutputBits: 12}, 25)
			main, few := 0, 0
			for _, id := range p.Params() {
				switch s := p.Tensor(id).Shape; {
				case slices.Equal(s, []int{64, 24}):
					main++
				case strings.HasSuffix(p.Tensor(id).Name, ".rare") && s[0] <= 4 && s[1] == 24:
					few++
				}
			}
			if main != 1 || few != 1 {
				t.Errorf("%d parameters of most channels, %d of few", main, few)
			}
		})
	}
}

// TestSmallRows: rows that are small beside one that is hundreds of times as large come out of a norm as exact as they are, because sums get the
// width that they need.
func TestSmallRows(t *testing.T) {
	large := func(ratio float64) *net {
		n := newNet(32)
		x := n.input(6, 48)
		y := n.pair(onnx.OpAdd, n.einsum("tc,cd->td", x, n.random(0.15, 48, 48)), x)
		scale := n.constant([]int{6, 1}, func(i int) float64 { return []float64{1, ratio, 1, 2, 0.7, 1}[i] })
		z := n.pair(onnx.OpAdd, n.pair(onnx.OpMul, y, scale), n.random(0.05, 48))
		n.output(n.mapped(n.norm(z, true, 1), 0, 0, []int{5}, 0, 2, 3, 4, 5))
		return n
	}
	for _, c := range []struct {
		ratio    float64
		option   int
		want     [2]int // least and most bits
		decibels float64
	}{{1, 0, [2]int{0, 0}, 30}, {300, 0, [2]int{14, 16}, 22}, {300, 15, [2]int{15, 15}, 22}, {300, AsRead, [2]int{0, 0}, 0}} {
		n := large(c.ratio)
		cal, _, _ := n.check(t, Options{ResidualBits: c.option, ActivationBits: 10, OutputBits: 12}, c.decibels)
		if got := cal.Settings.ResidualBits; got < c.want[0] || got > c.want[1] {
			t.Errorf("ratio %g, residual bits %d: %d, expected %v", c.ratio, c.option, got, c.want)
		}
	}
}

// TestChosenWidths: activations get the least width that is good enough.
func TestChosenWidths(t *testing.T) {
	n := newNet(33)
	n.output(n.dense(n.input(4, 16), 8))
	c, report, _ := n.check(t, Options{}, GoodSNR)
	if c.Settings.ActivationBits != widths[0] || c.Settings.WeightBits != 12 {
		t.Errorf("one layer has activations of %d and weights of %d bits", c.Settings.ActivationBits, c.Settings.WeightBits)
	}
	if report.SNR < GoodSNR || report.Cosine < 0.999 || report.MinCosine > report.Cosine || report.MinCosine < 0.99 {
		t.Errorf("signal to noise %.1f dB, cosine %.5f, at least %.5f", report.SNR, report.Cosine, report.MinCosine)
	}
	// Products of many factors: each has a small share of its range.
	n = newNet(34)
	x := n.input(4, 16)
	for range 5 {
		x = n.pair(onnx.OpMul, n.dense(x, 16), x)
	}
	n.output(x)
	samples := n.samples(8)
	var best float64
	for _, bits := range widths {
		_, r, err := Calibrate(n.m, samples, Options{ActivationBits: bits})
		if err != nil {
			t.Fatal(err)
		}
		if bits == widths[0] && r.SNR >= GoodSNR {
			t.Fatalf("8 bits are enough: %.1f dB", r.SNR)
		}
		if best = max(best, r.SNR); best >= GoodSNR {
			break
		}
	}
	c, r, err := Calibrate(n.m, samples, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Settings.ActivationBits <= widths[0] || r.SNR != best {
		t.Errorf("%d bits and %.1f dB, expected %.1f", c.Settings.ActivationBits, r.SNR, best)
	}
}

// TestTiedWidth: wide codes are narrowed rather than giving the logits a table of their own.
func TestTiedWidth(t *testing.T) {
	n := newNet(35)
	const words, width = 60, 700
	table := n.random(0.5, words, width)
	x := n.op(onnx.OpEmbed, onnx.Attr{}, []int{5, width}, n.intInput(0, words-1, 5), table)
	x = n.norm(n.pair(onnx.OpAdd, x, n.random(0.2, 5, width)), true, 1)
	n.output(n.einsum("td,vd->tv", x, table))
	_, _, p := n.check(t, Options{ActivationBits: 12}, 25)
	tables := 0
	for _, id := range p.Params() {
		if p.Tensor(id).Len() == words*width {
			tables++
		}
	}
	if tables != 1 {
		t.Errorf("%d parameters of the size of the table", tables)
	}
}

// TestGate: what each gate compares, and what its error names.
func TestGate(t *testing.T) {
	r := &Report{Samples: 3, Rows: 6, Agreement: 0.95, Cosine: 0.999, MinCosine: 0.99, SNR: 24, Layers: []Layer{{Name: "a", SNR: 60}, {Name: "b", Op: "Mul", SNR: 30}, {Name: "c", SNR: 24}}}
	for _, g := range []Gate{{}, {Agreement: 0.95}, {Cosine: 0.99}, {SNR: 24}, {0.9, 0.9, 20}} {
		if err := r.Check(g); err != nil {
			t.Errorf("%v: %v", g, err)
		}
	}
	for _, c := range []struct {
		g    Gate
		want string
	}{
		{Gate{Agreement: 0.96}, "95.00 % of 6 rows, expected 96.00 %"},
		{Gate{Cosine: 0.995}, "0.9900 in 3 samples, expected 0.9950"},
		{Gate{SNR: 25}, "24.0 dB of signal over noise, expected 25.0 dB"},
	} {
		err := r.Check(c.g)
		if !errors.Is(err, ErrGate) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `most is lost at tensor "b" (Mul), which has 30.0 dB`) {
			t.Errorf("%v: %v", c.g, err)
		}
	}
	r.Advice = "wider"
	if err := r.Check(Gate{SNR: 25}); err == nil || !strings.HasSuffix(err.Error(), "; wider") {
		t.Errorf("with advice: %v", err)
	}
}
