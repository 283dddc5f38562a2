package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matrix"
	matrixprover "github.com/zkwarp/zkwarp/matrix/prover"
)

// matrixCases are products of matrices and what else a forward pass does, and
// multiplication in a large field beside it.
func matrixCases() []Case {
	var cases []Case
	for _, n := range []int{64, 1024, 8192} {
		cases = append(cases, Case{Suite: "m31", Name: fmt.Sprint("gemm-", n), Large: n > 1000,
			About: "product of square matrices, full range, against integer multiply-adds",
			Run:   func(e *Env) ([]Measurement, error) { return gemmCase(e, n) }})
	}
	for _, log := range []int{16, 28} {
		large := log > 20
		cases = append(cases,
			Case{Suite: "m31", Name: fmt.Sprintf("gemv-2^%d", log), About: "a row times a matrix of so many entries", Large: large,
				Run: func(e *Env) ([]Measurement, error) { return gemvCase[m31.Element](e, log) }},
			Case{Suite: "m31", Name: fmt.Sprintf("gemv-int8-2^%d", log), About: "a row times a matrix of so many signed bytes", Large: large,
				Run: func(e *Env) ([]Measurement, error) { return gemvCase[int8](e, log) }},
			Case{Suite: "m31", Name: fmt.Sprintf("each-2^%d", log), About: "sums, products and ReLU, entry by entry", Large: large,
				Run: func(e *Env) ([]Measurement, error) { return eachCase(e, log) }})
	}
	return append(cases, Case{Suite: "m31", Name: "field-mul-bn254", About: "Montgomery multiplications of 254 bits, no memory traffic", GPU: true,
		Kernels: []string{"bench_bn254_mul"}, Run: bn254Mul})
}

// operands uploads n random entries and returns both copies.
func operands[T matrix.Entry](e *Env, n int) ([]T, device.Buffer[T], error) {
	v := make([]T, n)
	switch v := any(v).(type) {
	case []m31.Element:
		for i := range v {
			v[i] = m31.New(uint64(e.Rand.Uint32()))
		}
	case []int8:
		for i := range v {
			v[i] = int8(e.Rand.Uint32())
		}
	}
	b, err := device.Upload(e.Queue, v)
	return v, b, err
}

func gemmCase(e *Env, n int) ([]Measurement, error) {
	q, s := e.Queue, matrix.Shape{M: n, K: n, N: n}
	a, left, err := operands[m31.Element](e, n*n)
	if err != nil {
		return nil, err
	}
	defer left.Free()
	b, right, err := operands[m31.Element](e, n*n)
	if err != nil {
		return nil, err
	}
	defer right.Free()
	out, err := device.Alloc[m31.Element](q, n*n)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	check := func() error {
		c, err := out.Read(q)
		if err != nil {
			return err
		}
		return isProduct(e.Rand, c, a, b, n)
	}
	m, err := e.Time("ms", 1, func() error { return out.Fill(q, 1) }, func() error { return matrixprover.Mul(q, out, left, right, s) })
	if err != nil {
		return nil, err
	}
	if err := check(); err != nil {
		return nil, err
	}
	plain, err := e.Time("plain-ms", 1, func() error { return out.Fill(q, 1) }, func() error { return matrixprover.MulPlain(q, out, left, right, s) })
	if err != nil {
		return nil, err
	}
	if err := check(); err != nil {
		return nil, fmt.Errorf("integer multiply-adds: %w", err)
	}
	m.Note = fmt.Sprintf("%.3g MiB of planes", float64(matrixprover.Memory[m31.Element](s))/(1<<20))
	speedup := Measurement{Metric: "speedup", Unit: "times", Note: "over integer multiply-adds"}
	for _, ms := range m.Samples {
		speedup.Samples = append(speedup.Samples, Median(plain.Samples)/ms)
	}
	return []Measurement{m, plain, speedup}, nil
}

// isProduct checks that c = a b: both sides times a random vector, which a false
// c passes with a chance of 2^-31, and some entries.
func isProduct(rng *rand.Rand, c, a, b []m31.Element, n int) error {
	v := make([]m31.Element, n)
	for i := range v {
		v[i] = m31.New(uint64(rng.Uint32()))
	}
	column := matrix.Shape{M: n, K: n, N: 1}
	bv, left, right := make([]m31.Element, n), make([]m31.Element, n), make([]m31.Element, n)
	for _, x := range []struct{ out, m, v []m31.Element }{{bv, b, v}, {left, a, bv}, {right, c, v}} {
		if err := matrix.Mul(x.out, x.m, x.v, column); err != nil {
			return err
		}
	}
	for i := range left {
		if left[i] != right[i] {
			return fmt.Errorf("row %d of the product is wrong", i)
		}
	}
	for range 16 {
		i, j := rng.IntN(n), rng.IntN(n)
		for k := range bv {
			bv[k] = b[k*n+j]
		}
		if want := m31.Dot(a[i*n:(i+1)*n], bv); c[i*n+j] != want {
			return fmt.Errorf("entry (%d, %d) is %v, want %v", i, j, c[i*n+j], want)
		}
	}
	return nil
}

// share turns times into a share of the rate, in TB/s, of a limit of the card
// measured in the same breath.
func share(e *Env, m Measurement, metric string, bytes float64, limit func(*Env) ([]Measurement, error)) (Measurement, error) {
	card, err := limit(e)
	if err != nil {
		return m, err
	}
	tb := Median(card[0].Samples)
	out := rate(m, metric, "of the card's rate", bytes/1e12, tb)
	out.Note = fmt.Sprintf("%s of %s TB/s", number3(bytes/1e9/Median(m.Samples)), number3(tb))
	return out, nil
}

// gemvCase multiplies a row of 2^(log/2) entries by a matrix.
func gemvCase[T matrix.Entry](e *Env, log int) ([]Measurement, error) {
	q, k := e.Queue, 1<<(log/2)
	n := 1 << log / k
	x, row, err := operands[m31.Element](e, k)
	if err != nil {
		return nil, err
	}
	defer row.Free()
	b, right, err := operands[T](e, k*n)
	if err != nil {
		return nil, err
	}
	defer right.Free()
	out, err := device.Alloc[m31.Element](q, n)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	s := matrix.Shape{M: 1, K: k, N: n}
	m, err := e.Time("ms", foldRepeat(e), nil, func() error { return matrixprover.Mul(q, out, row, right, s) })
	if err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	for _, j := range []int{0, e.Rand.IntN(n), n - 1} {
		var want m31.Element
		for i, v := range x {
			want = want.Add(v.Mul(m31.FromInt(int64(b[i*n+j]))))
		}
		if got[j] != want {
			return nil, fmt.Errorf("entry %d is %v, want %v", j, got[j], want)
		}
	}
	bytes := 4 * k * n
	if _, ok := any(b).([]int8); ok {
		bytes = k * n
	}
	fraction, err := share(e, m, "read-fraction", float64(bytes), cardRead)
	return []Measurement{m, fraction}, err
}

func eachCase(e *Env, log int) ([]Measurement, error) {
	q, n := e.Queue, 1<<log
	a, x, err := operands[m31.Element](e, n)
	if err != nil {
		return nil, err
	}
	defer x.Free()
	b, y, err := operands[m31.Element](e, n)
	if err != nil {
		return nil, err
	}
	defer y.Free()
	out, err := device.Alloc[m31.Element](q, n)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	var rows []Measurement
	for _, op := range []struct {
		name  string
		moved int // words an entry
		run   func() error
		want  func(i int) m31.Element
	}{
		{"add", 3, func() error { return matrixprover.Add(q, out, x, y) }, func(i int) m31.Element { return a[i].Add(b[i]) }},
		{"mul", 3, func() error { return matrixprover.Multiply(q, out, x, y) }, func(i int) m31.Element { return a[i].Mul(b[i]) }},
		{"relu", 2, func() error { return matrixprover.ReLU(q, out, x) }, func(i int) m31.Element { return m31.FromInt(max(0, a[i].Int())) }},
	} {
		m, err := e.Time(op.name+"-ms", foldRepeat(e), nil, op.run)
		if err != nil {
			return nil, err
		}
		got, err := out.Read(q)
		if err != nil {
			return nil, err
		}
		for i, v := range got {
			if want := op.want(i); v != want {
				return nil, fmt.Errorf("%s: entry %d is %v, want %v", op.name, i, v, want)
			}
		}
		fraction, err := share(e, m, op.name+"-copy-fraction", 4*float64(op.moved)*float64(n), cardCopy)
		if err != nil {
			return nil, err
		}
		rows = append(rows, m, fraction)
	}
	return rows, nil
}
