package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/whir"
)

// outputs is what an opening sends, but for rows, and the indices that it draws,
// in one piece of device memory: elements of E first, so that they are aligned.
type outputs[W field.Base[W], E field.Element[E]] struct {
	params  *whir.Params
	all     device.Buffer[W]
	degree  int
	samples [][2]int // where each round's samples lie, in elements
	folds   [][2]int // where its messages lie, and those of the final sum-check
	final   [2]int
	roots   int // where they lie, in words: those of rounds 1, 2, ...
	batch   int // nonces
	fold    []int
	query   []int
	indices [][2]int
}

func newOutputs[W field.Base[W], E field.Element[E]](q *device.Queue, p *whir.Params) (*outputs[W, E], error) {
	o := &outputs[W, E]{params: p, degree: p.Spec().ChallengeWords}
	at, n := 0, p.Rounds()
	take := func(size int) [2]int {
		at += size
		return [2]int{at - size, at}
	}
	for i := range n {
		o.samples = append(o.samples, take(p.Round(i).Samples))
		o.folds = append(o.folds, take(2*p.Round(i).Fold))
	}
	o.final = take(1 << p.RoundVars(n))
	o.folds = append(o.folds, take(2*p.RoundVars(n)))
	at *= o.degree
	o.roots = take(8 * (n - 1))[0]
	o.batch = take(2)[0]
	for i := range n {
		o.fold = append(o.fold, take(2 * p.Round(i).Fold)[0])
		o.query = append(o.query, take(2)[0])
	}
	for i := range n {
		o.indices = append(o.indices, take(p.Round(i).Queries))
	}
	var err error
	o.all, err = device.Alloc[W](q, at)
	return o, err
}

func (o *outputs[W, E]) free() { o.all.Free() }

// elements are a part of the first piece; words and nonces of the others.
func (o *outputs[W, E]) elements(lo, hi int) device.Buffer[E] {
	if lo == hi {
		return device.Buffer[E]{}
	}
	return device.View[E](o.all.Slice(o.degree*lo, o.degree*hi))
}

// message is where the two values of sum-check round j of round i go.
func (o *outputs[W, E]) messages(i, j, n int) device.Buffer[E] {
	at := o.folds[i][0] + 2*j
	return o.elements(at, at+2*n)
}

func (o *outputs[W, E]) sample(i, j int) device.Buffer[E] {
	at := o.samples[i][0] + j
	return o.elements(at, at+1)
}

func (o *outputs[W, E]) nonce(at int) device.Buffer[W] { return o.all.Slice(at, at+2) }

func (o *outputs[W, E]) root(i int) device.Buffer[W] {
	at := o.roots + 8*(i-1)
	return o.all.Slice(at, at+8)
}

// drawn are the indices into round i's tree.
func (o *outputs[W, E]) drawn(i int) device.Buffer[uint32] {
	return device.View[uint32](o.all.Slice(o.indices[i][0], o.indices[i][1]))
}

// read waits for all of it and returns a proof without its rows, and the indices
// of each round.
func (o *outputs[W, E]) read(q *device.Queue, elements func([]W) []E) (*whir.Proof[W, E], [][]int, error) {
	w, err := o.all.Read(q)
	if err != nil {
		return nil, nil, err
	}
	p, n := o.params, o.params.Rounds()
	e := elements(w[:o.roots])
	pf := &whir.Proof[W, E]{Rounds: make([]whir.RoundProof[W, E], n), Openings: make([]whir.Opening[W], n)}
	nonce := func(at, work int) (out [2]W) {
		if work == 0 {
			return out
		}
		copy(out[:], w[at:])
		if uint64(out[0]) >= p.Spec().Modulus {
			err = fmt.Errorf("no proof of work of %d bits found", work)
		}
		return out
	}
	folds := func(i, at, work int) []whir.Fold[W, E] {
		out := make([]whir.Fold[W, E], (o.folds[i][1]-o.folds[i][0])/2)
		for j := range out {
			m := e[o.folds[i][0]+2*j:]
			out[j] = whir.Fold[W, E]{AtZero: m[0], Lead: m[1], Nonce: nonce(at+2*j, work)}
		}
		return out
	}
	pf.BatchNonce = nonce(o.batch, p.BatchWork())
	indices := make([][]int, n)
	for i := range n {
		r, d := &pf.Rounds[i], p.Round(i)
		if i > 0 {
			copy(r.Root[:], w[o.roots+8*(i-1):])
		}
		r.Samples = append(r.Samples, e[o.samples[i][0]:o.samples[i][1]]...)
		r.Folds = folds(i, o.fold[i], d.FoldWork)
		pf.Openings[i].Nonce = nonce(o.query[i], d.QueryWork)
		for _, x := range w[o.indices[i][0]:o.indices[i][1]] {
			indices[i] = append(indices[i], int(uint32(x)))
		}
	}
	pf.Final = append(pf.Final, e[o.final[0]:o.final[1]]...)
	pf.FinalFolds = folds(n, 0, 0)
	return pf, indices, err
}
