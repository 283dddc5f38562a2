package bench

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
)

// restrictCases are restrictions, evaluations and tables of eq by themselves.
func restrictCases() []Case {
	cases := []Case{}
	for _, size := range [][2]int{{80, 272}, {5120, 17408}} {
		for _, side := range []mleprover.Side{mleprover.Rows, mleprover.Columns} {
			name, large := [...]string{"rows", "cols"}[side], size[0] > 1000
			cases = append(cases,
				Case{Suite: "m31", Name: fmt.Sprintf("restrict-%s-int8-%dx%d", name, size[0], size[1]), About: "sums of a matrix's " + name + " weighted by eq, signed bytes", Large: large,
					Run: func(e *Env) ([]Measurement, error) { return restrictCase[int8](e, size[0], size[1], side) }},
				Case{Suite: "m31", Name: fmt.Sprintf("restrict-%s-m31-%dx%d", name, size[0], size[1]), About: "sums of a matrix's " + name + " weighted by eq, words", Large: large,
					Run: func(e *Env) ([]Measurement, error) { return restrictCase[m31.Element](e, size[0], size[1], side) }})
		}
	}
	for _, vars := range []int{10, 25} {
		add := func(name, about string, run func(*Env, int) ([]Measurement, error)) {
			cases = append(cases, Case{Suite: "m31", Name: fmt.Sprintf("%s-2^%d", name, vars), About: about, Large: vars > 20,
				Run: func(e *Env) ([]Measurement, error) { return run(e, vars) }})
		}
		add("evaluate-m31", "the extension of a table of M31 words at a point", evaluateCase)
		add("lagrange", "the table of eq at a point", lagrangeCase)
		add("fold-m31", "bind one variable: table and challenge in M31, in place", foldWords)
	}
	return cases
}

// restrictCase restricts as many matrices in turn as caches do not hold.
func restrictCase[T int8 | m31.Element](e *Env, rows, cols int, side mleprover.Side) ([]Measurement, error) {
	q, size := e.Queue, rows*cols
	count := 1
	if e.Queue.Device().Kind() == device.CUDA {
		count = max(1, 1<<29/(size*entrySize[T]()))
	}
	all, err := device.Alloc[T](q, count*size)
	if err != nil {
		return nil, err
	}
	defer all.Free()
	seed := e.Rand.Uint64()
	if err := fillSequence(q, all, seed); err != nil {
		return nil, err
	}
	results, combined := cols, rows
	if side == mleprover.Columns {
		results, combined = rows, cols
	}
	point := e.extensions(mle.Log(combined))
	z, err := device.Upload(q, point)
	if err != nil {
		return nil, err
	}
	defer z.Free()
	out, err := device.Alloc[m31.QM31](q, results)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	turn := 0
	restrict := func(i int) error {
		r := mleprover.Restriction{Rows: rows, Cols: cols, Side: side, Point: z, Out: out}
		switch b := any(all.Slice(i*size, (i+1)*size)).(type) {
		case device.Buffer[int8]:
			r.Bytes = b
		case device.Buffer[m31.Element]:
			r.Words = b
		}
		return mleprover.Restrict(q, []mleprover.Restriction{r})
	}
	m, err := e.Time("ms", foldRepeat(e), nil, func() error {
		turn++
		return restrict(turn % count)
	})
	if err != nil {
		return nil, err
	}
	last := count - 1
	if err := restrict(last); err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	weights := mle.EqTable(point)
	want := make([]m31.QM31, results)
	row := make([]m31.Element, cols)
	for i := range rows {
		sequence[T](row, seed, last*size+i*cols)
		if side == mleprover.Rows {
			m31.MulAddBase(want, row, weights[i])
		} else {
			want[i] = m31.DotBase(row, weights[:cols])
		}
	}
	for i := range want {
		if got[i] != want[i] {
			return nil, fmt.Errorf("result %d is %v, want %v", i, got[i], want[i])
		}
	}
	return readRows(e, m, float64(size)*float64(entrySize[T]()))
}

// readRows adds the share of the rate at which this device reads, measured in
// the same breath.
func readRows(e *Env, m Measurement, bytes float64) ([]Measurement, error) {
	read, err := cardRead(e)
	if err != nil {
		return nil, err
	}
	share := rate(m, "read-fraction", "of read rate", bytes/1e12, Median(read[0].Samples))
	share.Note = fmt.Sprintf("read rate %s TB/s", number3(Median(read[0].Samples)))
	return []Measurement{m, share}, nil
}

func evaluateCase(e *Env, vars int) ([]Measurement, error) {
	q := e.Queue
	values, point := e.elements(1<<vars), e.extensions(vars)
	table, err := device.Upload(q, values)
	if err != nil {
		return nil, err
	}
	defer table.Free()
	z, err := device.Upload(q, append([]m31.QM31{{}}, point...))
	if err != nil {
		return nil, err
	}
	defer z.Free()
	out, z := z.Slice(0, 1), z.Slice(1, 1+vars)
	m, err := e.Time("ms", foldRepeat(e), nil, func() error { return mleprover.Evaluate(q, out, table, z) })
	if err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	if want := mle.EvaluateBase(values, point); got[0] != want {
		return nil, fmt.Errorf("got %v, want %v", got[0], want)
	}
	return readRows(e, m, float64(int(4)<<vars))
}

func lagrangeCase(e *Env, vars int) ([]Measurement, error) {
	q, point := e.Queue, e.extensions(vars)
	z, err := device.Upload(q, point)
	if err != nil {
		return nil, err
	}
	defer z.Free()
	out, err := device.Alloc[m31.QM31](q, 1<<vars)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	m, err := e.Time("ms", foldRepeat(e), nil, func() error { return mleprover.Eq(q, out, z, device.Buffer[m31.QM31]{}) })
	if err != nil {
		return nil, err
	}
	for range 16 {
		at := e.Rand.IntN(1 << vars)
		got, err := out.Slice(at, at+1).Read(q)
		if err != nil {
			return nil, err
		}
		if want := mle.EqIndex(point, uint64(at)); got[0] != want {
			return nil, fmt.Errorf("entry %d is %v, want %v", at, got[0], want)
		}
	}
	return foldRows(e, m, float64(int(16)<<vars))
}

// foldWords binds the first variable of a table of M31 words to a challenge of
// M31, in place. What is timed folds the same memory again and again; the check
// is apart.
func foldWords(e *Env, vars int) ([]Measurement, error) {
	q, n := e.Queue, 1<<vars
	table := e.elements(n)
	buffer, err := device.Upload(q, table)
	if err != nil {
		return nil, err
	}
	defer buffer.Free()
	challenge := e.elements(1)
	r, err := device.Upload(q, challenge)
	if err != nil {
		return nil, err
	}
	defer r.Free()
	fold := func() error { return mleprover.FoldM31(q, buffer.Slice(0, n/2), buffer, r) }
	m, err := e.Time("ms", foldRepeat(e), nil, fold)
	if err != nil {
		return nil, err
	}
	if err := buffer.CopyFrom(q, table); err != nil {
		return nil, err
	}
	if err := fold(); err != nil {
		return nil, err
	}
	got, err := buffer.Slice(0, n/2).Read(q)
	if err != nil {
		return nil, err
	}
	for i := range got {
		if want := table[i].Add(challenge[0].Mul(table[n/2+i].Sub(table[i]))); got[i] != want {
			return nil, fmt.Errorf("entry %d is %v, want %v", i, got[i], want)
		}
	}
	return foldRows(e, m, float64(n)*4+float64(n/2)*4)
}
