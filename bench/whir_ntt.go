package bench

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/ntt"
	nttprover "github.com/zkwarp/zkwarp/ntt/prover"
)

// nttCases transform columns from one place in memory to another.
func nttCases() []Case {
	cases := []Case{
		nttCase(nttprover.BabyBear, ntt.BabyBear{}, babybear.P, 64, 19),
		nttCase(nttprover.BabyBear, ntt.BabyBear{}, babybear.P, 3, 10),
		nttCase(nttprover.CM31, ntt.CM31{}, m31.P, 1, 12),
		nttCase(nttprover.CM31, ntt.CM31{}, m31.P, 1, 24),
	}
	for _, n := range []int{12, 20, 22, 24, 26} {
		cases = append(cases, nttCase(nttprover.BabyBear, ntt.BabyBear{}, babybear.P, 1, n))
	}
	return cases
}

func nttCase[T field.Element[T]](f nttprover.Field, t ntt.Transform[T], p uint32, columns, n int) Case {
	name := fmt.Sprintf("ntt-%v-%dx2^%d", f, columns, n)
	if columns == 1 {
		name = fmt.Sprintf("ntt-%v-2^%d", f, n)
	}
	return Case{
		Suite: "whir", Name: name, About: "transform, order of rows free; padded-ms with half of the coefficients", Large: columns<<n > 1<<20,
		Run: func(e *Env) ([]Measurement, error) { return nttRun(e, f, t, p, columns, n) },
	}
}

// nttRun times transforms of data that has left the caches since it was last used.
func nttRun[T field.Element[T]](e *Env, f nttprover.Field, t ntt.Transform[T], p uint32, columns, n int) ([]Measurement, error) {
	var zero T
	copies, repeat := 1, 1
	if e.Queue.Device().Kind() == device.CUDA {
		repeat = 8 // so that the wait at the end does not count
		copies = max(1, 1<<26/(4*zero.Degree()*columns<<n))
	}
	size := columns << n
	data := make([]T, size)
	words := make([]uint32, zero.Degree())
	for i := range data {
		for k := range words {
			words[k] = e.Rand.Uint32N(p)
		}
		var err error
		if data[i], err = zero.SetWords(words); err != nil {
			return nil, err
		}
	}
	src, err := device.Alloc[T](e.Queue, copies*size)
	if err != nil {
		return nil, err
	}
	defer src.Free()
	dst, err := device.Alloc[T](e.Queue, copies*size)
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	for k := range copies {
		if err := src.Slice(k*size, (k+1)*size).CopyFrom(e.Queue, data); err != nil {
			return nil, err
		}
	}
	var out []Measurement
	for _, way := range []struct {
		metric  string
		padding int
	}{{"padded-ms", 1}, {"ms", 0}} {
		k := -1
		m, err := e.Time(way.metric, max(copies, repeat), nil, func() error {
			k = (k + 1) % copies
			from := src.Slice(k*size, k*size+size>>way.padding)
			return nttprover.Encode(e.Queue, f, dst.Slice(k*size, (k+1)*size), from, columns, n, n-way.padding)
		})
		if err != nil {
			return nil, err
		}
		out = append(out, m)
		if err := nttCheck(e, t, data[:size>>way.padding], dst.Slice(0, size), columns, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// nttCheck evaluates one column at some points, one coefficient after the other.
func nttCheck[T field.Element[T]](e *Env, t ntt.Transform[T], coefficients []T, values device.Buffer[T], columns, n int) error {
	column := e.Rand.IntN(columns)
	live := len(coefficients) / columns
	for range 2 {
		j := e.Rand.IntN(1 << n)
		x := t.Root(n).Exp(uint64(j))
		var want T
		for i := live - 1; i >= 0; i-- {
			want = want.Mul(x).Add(coefficients[column*live+i])
		}
		at := column<<n + ntt.Reverse(j, n)
		got, err := values.Slice(at, at+1).Read(e.Queue)
		if err != nil {
			return err
		}
		if got[0] != want {
			return fmt.Errorf("value %d of column %d is %v, want %v", j, column, got[0], want)
		}
	}
	return nil
}
