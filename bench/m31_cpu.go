package bench

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/transcript"
	transprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// m31CPUCases are about one core of the processor.
func m31CPUCases() []Case {
	return []Case{
		{Suite: "m31", Name: "field-vec-mul-m31", About: "products of slices in the first-level cache, one core", CPU: true, Run: vectorMul},
		{Suite: "m31", Name: "poseidon2-m31-w16-lanes", About: "permutations of eight states at a time, one core", CPU: true, Run: permuteLanes16},
		{Suite: "m31", Name: "poseidon2-m31-w24-lanes", About: "the same for the wide permutation, one core", CPU: true, Run: permuteLanes24},
		{Suite: "m31", Name: "cpu-sumcheck-2^20-ratio", About: "product sum-check on one core, and how much longer a plain Go loop takes", CPU: true, Run: sumcheckRatio},
	}
}

// vectorMul multiplies slices of 2048 words.
func vectorMul(e *Env) ([]Measurement, error) {
	const n, rounds = 2048, 4096
	a, b, dst := e.elements(n), e.elements(n), make([]m31.Element, n)
	m, err := e.Time("ms", 1, nil, func() error {
		for range rounds {
			m31.MulVec(dst, a, b)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range dst {
		if want := a[i].Mul(b[i]); dst[i] != want {
			return nil, fmt.Errorf("product %d is %d, want %d", i, dst[i], want)
		}
	}
	return []Measurement{rate(m, "gops", "Gops/s", n*rounds, 1e9)}, nil
}

const lanesRounds = 1 << 14

func permuteLanes16(e *Env) ([]Measurement, error) {
	var start, s [16][poseidon2.Lanes]m31.Element
	for k := range start {
		copy(start[k][:], e.elements(poseidon2.Lanes))
	}
	m, err := e.Time("ms", 1, nil, func() error {
		s = start
		for range lanesRounds {
			poseidon2.PermuteLanes16(&s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for j := range poseidon2.Lanes {
		var one, got [16]m31.Element
		for k := range one {
			one[k], got[k] = start[k][j], s[k][j]
		}
		for range lanesRounds {
			poseidon2.Permute16(&one)
		}
		if got != one {
			return nil, fmt.Errorf("state %d differs from the single permutation's", j)
		}
	}
	return []Measurement{rate(m, "mperm/s", "Mperm/s", lanesRounds*poseidon2.Lanes, 1e6)}, nil
}

func permuteLanes24(e *Env) ([]Measurement, error) {
	var start, s [24][poseidon2.Lanes]m31.Element
	for k := range start {
		copy(start[k][:], e.elements(poseidon2.Lanes))
	}
	m, err := e.Time("ms", 1, nil, func() error {
		s = start
		for range lanesRounds {
			poseidon2.PermuteLanes24(&s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for j := range poseidon2.Lanes {
		var one, got [24]m31.Element
		for k := range one {
			one[k], got[k] = start[k][j], s[k][j]
		}
		for range lanesRounds {
			poseidon2.Permute24(&one)
		}
		if got != one {
			return nil, fmt.Errorf("state %d differs from the single permutation's", j)
		}
	}
	return []Measurement{rate(m, "mperm/s", "Mperm/s", lanesRounds*poseidon2.Lanes, 1e6)}, nil
}

// sumcheckRatio proves a product of two base tables of 2^20 entries with one
// goroutine at a time running, and again the plain way.
func sumcheckRatio(e *Env) ([]Measurement, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return sumcheckAgainstLoop(e, 20)
}

func sumcheckAgainstLoop(e *Env, vars int) ([]Measurement, error) {
	a, b := e.elements(1<<vars), e.elements(1<<vars)
	in := sumprover.Instance{Shape: sumcheck.Product(vars, 2)}
	for _, t := range [][]m31.Element{a, b} {
		buf, err := device.Upload(e.Queue, t)
		if err != nil {
			return nil, err
		}
		defer buf.Free()
		in.Tables = append(in.Tables, sumprover.Base(buf))
	}
	value := m31.Lift(m31.Dot(a, b))
	var proof, plain *sumcheck.Proof
	fast, err := e.Time("ms", 1, nil, func() error {
		tr, err := transprover.New(e.Queue, transcript.TagSumcheck)
		if err != nil {
			return err
		}
		defer tr.Free()
		proof, _, err = sumprover.Prove(e.Queue, tr, []sumprover.Instance{in}, []m31.QM31{value})
		return err
	})
	if err != nil {
		return nil, err
	}
	slow, err := e.Time("loop-ms", 1, nil, func() error {
		plain = plainSumcheck(a, b, value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !slices.Equal(proof.Rounds, plain.Rounds) || !slices.Equal(proof.Evals, plain.Evals) {
		return nil, fmt.Errorf("the two proofs differ")
	}
	r, err := sumcheck.Verify(transcript.New(transcript.TagSumcheck), []sumcheck.Claim{{Shape: in.Shape, Value: value}}, proof)
	if err != nil {
		return nil, err
	}
	if mle.EvaluateBase(a, r.Point) != r.Evals[0][0] || mle.EvaluateBase(b, r.Point) != r.Evals[0][1] {
		return nil, fmt.Errorf("the final evaluations are false")
	}
	ratio := Measurement{Metric: "ratio", Unit: "x", Note: "time of a plain loop over elements, over the prover's; one core"}
	for i, ms := range slow.Samples {
		ratio.Samples = append(ratio.Samples, ms/fast.Samples[i])
	}
	return []Measurement{fast, slow, ratio}, nil
}

// plainSumcheck is the prover as one would write it down: element by element,
// all in the extension after the first round.
func plainSumcheck(a, b []m31.Element, value m31.QM31) *sumcheck.Proof {
	tr := transcript.New(transcript.TagSumcheck)
	tr.AbsorbExt([]m31.QM31{value})
	tr.Challenge() // the batch's, of which there is one claim
	proof := new(sumcheck.Proof)
	half := len(a) / 2
	var zero, two m31.Element
	for i := range half {
		zero = zero.Add(a[i].Mul(b[i]))
		two = two.Add(a[half+i].Double().Sub(a[i]).Mul(b[half+i].Double().Sub(b[i])))
	}
	send := func(zero, two m31.QM31) m31.QM31 {
		proof.Rounds = append(proof.Rounds, zero, two)
		tr.AbsorbExt([]m31.QM31{zero, two})
		return tr.Challenge()
	}
	r := send(m31.Lift(zero), m31.Lift(two))
	x, y := make([]m31.QM31, half), make([]m31.QM31, half)
	for i := range half {
		x[i] = m31.Lift(a[i]).Add(r.MulBase(a[half+i].Sub(a[i])))
		y[i] = m31.Lift(b[i]).Add(r.MulBase(b[half+i].Sub(b[i])))
	}
	for half /= 2; half > 0; half /= 2 {
		var zero, two m31.QM31
		for i := range half {
			zero = zero.Add(x[i].Mul(y[i]))
			two = two.Add(x[half+i].Double().Sub(x[i]).Mul(y[half+i].Double().Sub(y[i])))
		}
		r := send(zero, two)
		for i := range half {
			x[i] = x[i].Add(r.Mul(x[half+i].Sub(x[i])))
			y[i] = y[i].Add(r.Mul(y[half+i].Sub(y[i])))
		}
	}
	proof.Evals = []m31.QM31{x[0], y[0]}
	return proof
}
