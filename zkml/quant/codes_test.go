package quant

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// kernelSoftmax is what onnxruntime's QLinearSoftmax computes of a row: exponentials from a table of float32, far above 1 so that small ones
// keep their digits, and a sum of float32 in the order of the row.
func kernelSoftmax(row []int64, scale, inverse float32) []float64 {
	top := row[0]
	for _, v := range row {
		top = max(top, v)
	}
	up := max(0, math.Log(float64(float32(math.MaxFloat32)/float32(len(row))))-5) / float64(scale)
	e := make([]float32, len(row))
	sum := float32(0)
	for i, v := range row {
		e[i] = float32(math.Exp((float64(v-top) + up) * float64(scale)))
		sum += e[i]
	}
	y := make([]float64, len(row))
	for i := range row {
		y[i] = math.RoundToEven(float64(float32(float32(e[i]*inverse) / sum)))
	}
	return y
}

// quotients is round(c e / S), halves to the even integer, of e = round(2^28 exp(-scale d)), by fractions of whole numbers.
func quotients(row []int64, scale float32, inverse float64) []int64 {
	top := row[0]
	for _, v := range row {
		top = max(top, v)
	}
	exp := func(v int64, c float64) *big.Int {
		x := newFloat().Mul(number(math.Ldexp(c, expBits)), exponential(newFloat().Neg(number(float64(top-v)*float64(scale)))))
		return big.NewInt(nearest(x, 1, 0, 1<<40))
	}
	sum := new(big.Int)
	for _, v := range row {
		sum.Add(sum, exp(v, 1))
	}
	y := make([]int64, len(row))
	for i, v := range row {
		n := new(big.Int).Mul(exp(v, 1), big.NewInt(int64(inverse)))
		if inverse != math.Trunc(inverse) {
			n = exp(v, inverse)
		}
		q, r := new(big.Int).QuoRem(n, sum, new(big.Int))
		y[i] = q.Int64()
		if c := r.Lsh(r, 1).Cmp(sum); c > 0 || c == 0 && y[i]%2 == 1 {
			y[i]++
		}
	}
	return y
}

// TestSoftmaxOfCodes compares programs of softmaxes between codes with their definition, on rows of every length that matters, among them
// rows of equal and of very unequal codes, whose quotients are halves; and with what onnxruntime computes.
func TestSoftmaxOfCodes(t *testing.T) {
	for _, c := range []struct {
		rows, length int
		scale, out   float32
		lo, zero     int64
		axis         int
	}{
		{256, 2, 0.05, 1.0 / 256, 0, 0, 1}, {256, 2, 0.02, 1.0 / 255, 0, 0, 1}, {256, 2, 0.11, 1.0 / 127, -128, 0, 1}, {100, 3, 0.3, 1.0 / 256, -128, -128, 1},
		{64, 12, 0.0625, 0.0039139, 0, 3, 1}, {40, 77, 0.2, 0.0041, -128, -10, 1}, {6, codedRow - 1, 0.004, 1.0 / 256, -128, -128, 1}, {6, codedRow, 0.004, 1.0 / 256, 0, 0, 1},
		{3, 700, 0.03, 1.0 / 255, 0, 0, 1}, {31, 5, 0.1, 1.0 / 256, 0, 0, 0}, {3, 1, 1, 1.0 / 256, 0, 0, 1},
	} {
		t.Run(fmt.Sprintf("%d rows of %d by %g", c.rows, c.length, c.out), func(t *testing.T) {
			n := newNet(9)
			shape := []int{c.rows, c.length}
			if c.axis == 0 {
				shape = []int{c.length, c.rows}
			}
			x := n.intInput(c.lo, c.lo+255, shape...)
			v := n.op(onnx.OpDequantise, onnx.Attr{Scale: []float32{c.scale}, Zero: []int64{c.lo + 5}}, shape, x)
			s := n.softmax(v, c.axis)
			y := n.intOp(onnx.OpQuantise, onnx.Attr{Scale: []float32{c.out}, Zero: []int64{c.zero}, Lo: c.lo, Hi: c.lo + 255}, c.lo, c.lo+255, shape, s)
			n.output(y)
			rng := rand.New(rand.NewPCG(5, uint64(c.length)))
			at := func(r, k int) int {
				if c.axis == 0 {
					return k*c.rows + r
				}
				return r*c.length + k
			}
			sample := make([]float64, c.rows*c.length)
			rows := make([][]int64, c.rows)
			for r := range rows {
				spread := []int64{256, 8, 1, 40}[rng.IntN(4)]
				for k := range c.length {
					v := c.lo + 255 - rng.Int64N(spread)
					if rng.IntN(4) == 0 {
						v = c.lo + rng.Int64N(256)
					}
					if c.length == 2 { // every distance
						v = c.lo + 255*int64(k) - int64(r%256)*int64(2*k-1)*int64(k)
					}
					rows[r] = append(rows[r], v)
					sample[at(r, k)] = float64(v)
				}
			}
			cal, _, err := Calibrate(n.m, [][]float64{sample}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			p, w, err := Build(n.m, cal)
			if err != nil {
				t.Fatal(err)
			}
			q, err := QuantizeInput(p, sample)
			if err != nil {
				t.Fatal(err)
			}
			got, err := graph.Run(p, w, q)
			if err != nil {
				t.Fatal(err)
			}
			inverse := 1 / float64(c.out)
			if near := math.Round(inverse); math.Abs(inverse-near) < 1e-4 {
				inverse = near
			}
			different := 0
			for r, row := range rows {
				kernel := kernelSoftmax(row, c.scale, float32(inverse))
				for k, want := range quotients(row, c.scale, inverse) {
					y := int64(got[p.Outputs[0]][at(r, k)])
					if e := min(max(want+c.zero, c.lo), c.lo+255); y != e {
						t.Fatalf("row %d, element %d of %v: code %d, expected %d", r, k, row, y, e)
					}
					if c.length == 1 {
						continue // the kernel's product overflows there
					}
					if e := min(max(int64(kernel[k])+c.zero, c.lo), c.lo+255); y != e {
						different++
					}
				}
			}
			if different > 0 {
				t.Errorf("%d of %d codes are not onnxruntime's", different, len(sample))
			}
		})
	}
}

// TestSoftmaxOrder is why codes can differ from onnxruntime's by one: there they depend on the order of the row, in which float32 numbers are
// added, where a quotient is almost a half.
func TestSoftmaxOrder(t *testing.T) {
	first := make([]int64, 790)
	last := make([]int64, len(first))
	for i := range first {
		first[i], last[i] = 109, 109
	}
	for i := range 4 {
		first[i], last[len(last)-1-i] = 255, 255
	}
	if a, b := kernelSoftmax(first, 0.05, 256)[0], kernelSoftmax(last, 0.05, 256)[789]; a != 56 || b != 57 {
		t.Errorf("codes %g and %g, expected 56 and 57 as onnxruntime has them", a, b)
	}
	if a, b := quotients(first, 0.05, 256)[0], quotients(last, 0.05, 256)[789]; a != b {
		t.Errorf("quotients %d and %d", a, b)
	}
}
