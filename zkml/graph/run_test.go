package graph

import (
	"slices"
	"testing"
)

// TestRunSample recomputes the sample program directly.
func TestRunSample(t *testing.T) {
	p, w, x := sample(t)
	values, err := Run(p, w, x)
	if err != nil {
		t.Fatal(err)
	}
	weight, bias := w.Of(1).Ints(), w.Of(2).Ints()
	for n := range 2 {
		for j := range 7 {
			acc := int64(11) - 3*int64(bias[j])
			for k := range 15 {
				acc += int64(x[n*15+k]) * int64(weight[j*15+k])
			}
			q := floorDiv(acc+128, 256)
			s := int32(q * q >> 11)
			want := min(max(-s, -300), 100)
			if got := values[p.Outputs[0]][n*7+j]; got != want {
				t.Fatalf("output %d,%d is %d, expected %d", n, j, got, want)
			}
		}
	}
	answer, err := p.Answer(values[p.Outputs[0]])
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(answer.Shape, []int{2}) || len(answer.Values) != 2 {
		t.Fatalf("argmax has shape %v, values %v", answer.Shape, answer.Values)
	}
	for n, class := range answer.Values {
		row := values[p.Outputs[0]][n*7 : n*7+7]
		if row[int(class)] != slices.Max(row) || slices.Index(row, slices.Max(row)) != int(class) {
			t.Fatalf("row %v has argmax %v", row, class)
		}
	}
}

// floorDiv rounds towards minus infinity.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// TestLookupIsUnique checks the requantisation identity and rounding at every input of a small window.
func TestLookupIsUnique(t *testing.T) {
	for shift := range uint8(6) {
		b := NewBuilder("requant")
		x := b.Input("x", []int{401}, -200, 200, 1)
		bits := uint8(LookupBits(-200, 200, shift))
		y := b.Lookup("y", x, shift, b.Table("identity", bits, clampTable(bits, -1<<17, 1<<17)), 1)
		p, w, err := b.Build(y, NoPost, nil)
		if err != nil {
			t.Fatal(err)
		}
		in := make([]int32, 401)
		for i := range in {
			in[i] = int32(i - 200)
		}
		values, err := Run(p, w, in)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range in {
			q := int64(values[y][i])
			if want := floorDiv(2*int64(v)+1<<shift, 2<<shift); q != want && shift > 0 || shift == 0 && q != int64(v) {
				t.Fatalf("%d >> %d gave %d, expected %d", v, shift, q, want)
			}
			if shift > 0 {
				if r := int64(values[p.Ops[0].(Lookup).Rem][i]); q<<shift+r != int64(v)+p.Ops[0].(Lookup).Half() || r < 0 || r >= 1<<shift {
					t.Fatalf("%d = %d * 2^%d + %d does not hold", v, q, shift, r)
				}
			}
		}
	}
}

func TestRunRejectsInput(t *testing.T) {
	p, w, x := sample(t)
	if _, err := Run(p, w, x[1:]); err == nil {
		t.Error("short input accepted")
	}
	x[4] = 128
	if _, err := Run(p, w, x); err == nil {
		t.Error("input above its bound accepted")
	}
}

// TestBroadcast adds parameters of several shapes.
func TestBroadcast(t *testing.T) {
	for _, shape := range [][]int{{}, {1}, {5}, {3, 1}, {3, 5}, {2, 1, 1}, {2, 1, 5}, {1, 3, 5}, {2, 3, 5}} {
		b := NewBuilder("broadcast")
		x := b.Input("x", []int{2, 3, 5}, -50, 50, 1)
		param := b.Param("p", shape, randomValues(newRand(5), Elements(shape), -99, 99), 1)
		out := b.Linear("y", []Term{{2, x}, {-3, param}}, 7, 1)
		p, w, err := b.Build(out, NoPost, nil)
		if err != nil {
			t.Fatal(shape, err)
		}
		in := randomValues(newRand(6), 30, -50, 50)
		values, err := RunPadded(p, w, in)
		if err != nil {
			t.Fatal(err)
		}
		got := Unpad([]int{2, 3, 5}, values[out])
		full := append(slices.Repeat([]int{1}, 3-len(shape)), shape...)
		for i := range got {
			at := []int{i / 15, i / 5 % 3, i % 5}
			index := 0
			for a := range at {
				index = index*full[a] + at[a]%full[a]
			}
			if want := 2*in[i] - 3*w.Of(param).At(index) + 7; got[i] != want {
				t.Fatalf("%v: element %d is %d, expected %d", shape, i, got[i], want)
			}
		}
	}
}

func TestAnswerSoftmax(t *testing.T) {
	v := []float64{0, 1, 2, 3, 0, 0}
	Softmax(v, []int{1, 3, 2}, 1, 1)
	if s := v[0] + v[2] + v[4]; s < 0.999999 || s > 1.000001 || v[0] != v[4] || v[2] < v[0] {
		t.Fatal(v)
	}
	v = []float64{0, 1, 2, 3, 0, 0}
	Softmax(v, []int{1, 3, 2}, 1, 2)
	if v[3] < 0.6 || v[3] > 0.7 {
		t.Fatal(v)
	}
	if got := ArgMax([]int32{1, 5, 5, 0}, []int{4}, 0, false); got[0] != 1 {
		t.Fatal(got)
	}
	if got := ArgMax([]int32{1, 5, 5, 0}, []int{4}, 0, true); got[0] != 2 {
		t.Fatal(got)
	}
}
