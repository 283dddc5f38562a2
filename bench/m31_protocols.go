package bench

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/mle"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/transcript"
	transprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// elements are n random field elements.
func (e *Env) elements(n int) []m31.Element {
	out := make([]m31.Element, n)
	for i := range out {
		out[i] = m31.New(uint64(e.Rand.Uint32()))
	}
	return out
}

// extension is one random element of the extension.
func (e *Env) extension() m31.QM31 {
	w := e.elements(4)
	return m31.FromWords([4]m31.Element(w))
}

// sumcheckCase proves, verifies, and checks the final evaluations of a sum of
// products of so many base tables.
func sumcheckCase(factors int) func(*Env, int) ([]Measurement, error) {
	return func(e *Env, vars int) ([]Measurement, error) {
		q := e.Queue
		tables := make([][]m31.Element, factors)
		in := sumprover.Instance{Shape: sumcheck.Product(vars, factors)}
		for i := range tables {
			tables[i] = e.elements(1 << vars)
			b, err := device.Upload(q, tables[i])
			if err != nil {
				return nil, err
			}
			defer b.Free()
			in.Tables = append(in.Tables, sumprover.Base(b))
		}
		total := m31.Sum(tables[0])
		if factors == 2 {
			total = m31.Dot(tables[0], tables[1])
		}
		values := []m31.QM31{m31.Lift(total)}
		var proof *sumcheck.Proof
		m, err := e.Time("ms", 1, nil, func() error {
			tr, err := transprover.New(q, transcript.TagSumcheck)
			if err != nil {
				return err
			}
			defer tr.Free()
			proof, _, err = sumprover.Prove(q, tr, []sumprover.Instance{in}, values)
			return err
		})
		if err != nil {
			return nil, err
		}
		r, err := sumcheck.Verify(transcript.New(transcript.TagSumcheck), []sumcheck.Claim{{Shape: in.Shape, Value: values[0]}}, proof)
		if err != nil {
			return nil, err
		}
		for i, t := range tables {
			if got := mle.EvaluateBase(t, r.PointOf(vars)); got != r.Evals[0][i] {
				return nil, fmt.Errorf("factor %d evaluates to %v, the proof says %v", i, got, r.Evals[0][i])
			}
		}
		return []Measurement{m}, nil
	}
}

// logupCase proves one tree of 2^vars fractions: look-ups of random entries of
// a table of 2^16 values (fewer where the tree is small) and the table's rows.
func logupCase(e *Env, vars int) ([]Measurement, error) {
	q, n, rows := e.Queue, 1<<vars, 1<<min(16, vars-2)
	alpha := e.extension()
	num, den := make([]m31.Element, n), make([]m31.QM31, n)
	for i := range n - rows {
		v := e.Rand.IntN(rows)
		num[i] = m31.One()
		den[i] = alpha.Sub(m31.Lift(m31.New(uint64(v))))
		num[n-rows+v] = num[n-rows+v].Sub(m31.One())
	}
	for v := range rows {
		den[n-rows+v] = alpha.Sub(m31.Lift(m31.New(uint64(v))))
	}
	numerators, err := device.Upload(q, num)
	if err != nil {
		return nil, err
	}
	defer numerators.Free()
	denominators, err := device.Upload(q, den)
	if err != nil {
		return nil, err
	}
	defer denominators.Free()
	leaves := logupprover.Leaves{Base: numerators, Den: denominators}
	var proof *logup.Proof
	m, err := e.Time("ms", 1, nil, func() error {
		tr, err := transprover.New(q, transcript.TagLogUp)
		if err != nil {
			return err
		}
		defer tr.Free()
		proof, _, err = logupprover.Prove(q, tr, vars, leaves)
		return err
	})
	if err != nil {
		return nil, err
	}
	claim, err := logup.Verify(transcript.New(transcript.TagLogUp), vars, proof)
	if err != nil {
		return nil, err
	}
	if mle.EvaluateBase(num, claim.Point) != claim.P || mle.Evaluate(den, claim.Point) != claim.Q {
		return nil, fmt.Errorf("the claim about the leaves is false")
	}
	m.Note = fmt.Sprintf("%d fractions, the table's %d rows among them", n, rows)
	return []Measurement{m}, nil
}

// foldBase binds the first variable of a base table.
func foldBase(e *Env, vars int) ([]Measurement, error) {
	q, n := e.Queue, 1<<vars
	table := e.elements(n)
	in, err := device.Upload(q, table)
	if err != nil {
		return nil, err
	}
	defer in.Free()
	out, err := device.Alloc[m31.QM31](q, n/2)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	challenge := e.extension()
	r, err := device.Upload(q, []m31.QM31{challenge})
	if err != nil {
		return nil, err
	}
	defer r.Free()
	m, err := e.Time("ms", foldRepeat(e), nil, func() error { return mleprover.Fold(q, out, in, r) })
	if err != nil {
		return nil, err
	}
	for _, at := range []int{0, n/2 - 1} {
		got, err := out.Slice(at, at+1).Read(q)
		if err != nil {
			return nil, err
		}
		if want := m31.Lift(table[at]).Add(challenge.MulBase(table[n/2+at].Sub(table[at]))); got[0] != want {
			return nil, fmt.Errorf("entry %d is %v, want %v", at, got[0], want)
		}
	}
	return foldRows(e, m, float64(n)*4+float64(n/2)*16)
}

// foldExtension binds the first variable of an extension table in place. What
// is timed is folding the same memory again and again; the check is apart.
func foldExtension(e *Env, vars int) ([]Measurement, error) {
	q, n := e.Queue, 1<<vars
	table := make([]m31.QM31, n)
	words := m31.Words(table)
	for i := range words {
		words[i] = m31.New(uint64(e.Rand.Uint32()))
	}
	buffer, err := device.Upload(q, table)
	if err != nil {
		return nil, err
	}
	defer buffer.Free()
	challenge := e.extension()
	r, err := device.Upload(q, []m31.QM31{challenge})
	if err != nil {
		return nil, err
	}
	defer r.Free()
	fold := func() error { return mleprover.Fold(q, buffer.Slice(0, n/2), buffer, r) }
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
	for _, at := range []int{0, n/2 - 1} {
		got, err := buffer.Slice(at, at+1).Read(q)
		if err != nil {
			return nil, err
		}
		if want := table[at].Add(challenge.Mul(table[n/2+at].Sub(table[at]))); got[0] != want {
			return nil, fmt.Errorf("entry %d is %v, want %v", at, got[0], want)
		}
	}
	return foldRows(e, m, float64(n)*16+float64(n/2)*16)
}

// foldRepeat is how many folds one sample takes: enough to hide the wait.
func foldRepeat(e *Env) int {
	if e.Queue.Device().Kind() == device.CUDA {
		return 10
	}
	return 1
}

// foldRows adds the bytes that a fold moves, and its share of the rate at
// which this device copies, measured in the same breath.
func foldRows(e *Env, m Measurement, bytes float64) ([]Measurement, error) {
	copied, err := cardCopy(e)
	if err != nil {
		return nil, err
	}
	moved := Measurement{Metric: "bytes", Unit: "bytes"}
	for range m.Samples {
		moved.Samples = append(moved.Samples, bytes)
	}
	share := rate(m, "copy-fraction", "of copy rate", bytes/1e12, Median(copied[0].Samples))
	share.Note = fmt.Sprintf("copy rate %s TB/s", number3(Median(copied[0].Samples)))
	return []Measurement{m, moved, share}, nil
}
