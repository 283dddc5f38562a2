package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/ntt"
	encode "github.com/zkwarp/zkwarp/ntt/prover"
)

// tile is how many entries of each part of a table are folded and summed up
// before the next ones: what stays in a core's cache.
const tile = 512

func (h host[W, F, E]) rounds(g, w, r, msgs device.Buffer[E], tr sponge[W, E], challenges device.Buffer[E]) error {
	if err := use(h.q, g, w, r, msgs, challenges); err != nil {
		return err
	}
	for j := 0; 2*j < msgs.Len(); j++ {
		half := g.Len() / 2
		var zero, lead E
		if r.Len() == 0 {
			zero, lead = h.round(g.Host(), w.Host())
		} else {
			zero, lead = h.foldRound(g.Host(), w.Host(), r.Host()[0])
			g, w = g.Slice(0, half), w.Slice(0, half)
		}
		msg := msgs.Slice(2*j, 2*j+2)
		msg.Host()[0], msg.Host()[1] = zero, lead
		if tr == nil {
			return nil
		}
		if err := tr.AbsorbExt(msg); err != nil {
			return err
		}
		r = challenges.Slice(j, j+1)
		if err := tr.Challenge(r); err != nil {
			return err
		}
	}
	return nil
}

// round is the round polynomial of the sum of g*w for the first variable: its
// value at 0 and its leading coefficient.
func (h host[W, F, E]) round(g, w []E) (atZero, lead E) {
	n := len(g) / 2
	return sum2(n, grain/2, func(lo, hi int) (E, E) {
		return h.vectors.roundExt(g[lo:hi], g[n+lo:n+hi], w[lo:hi], w[n+lo:n+hi])
	})
}

// foldRound folds both tables to their first halves and is round of the result,
// in one pass.
func (h host[W, F, E]) foldRound(g, w []E, r E) (atZero, lead E) {
	n := len(g) / 4
	return sum2(n, grain/4, func(lo, hi int) (a, b E) {
		for ; lo < hi; lo += tile {
			end := min(lo+tile, hi)
			for _, t := range [][]E{g, w} {
				h.vectors.foldExt(t[lo:end], t[lo:end], t[2*n+lo:2*n+end], r)
				h.vectors.foldExt(t[n+lo:n+end], t[n+lo:n+end], t[3*n+lo:3*n+end], r)
			}
			x, y := h.vectors.roundExt(g[lo:end], g[n+lo:n+end], w[lo:end], w[n+lo:n+end])
			a, b = a.Add(x), b.Add(y)
		}
		return a, b
	})
}

func (h host[W, F, E]) fold(g, w, r device.Buffer[E]) error {
	if err := use(h.q, g, w, r); err != nil {
		return err
	}
	n, c := g.Len()/2, r.Host()[0]
	for _, t := range [][]E{g.Host(), w.Host()} {
		parallel.For(n, grain, func(lo, hi int) { h.vectors.foldExt(t[lo:hi], t[lo:hi], t[n+lo:n+hi], c) })
	}
	return nil
}

// addPoints sees the sum as a transform of a vector with coefficient gamma^(first+j)
// at indices[j], and does it as one where that is less work.
func (h host[W, F, E]) addPoints(w device.Buffer[E], logLeaves int, indices device.Buffer[uint32], gamma device.Buffer[E], first int) error {
	if err := use(h.q, w, gamma); err != nil {
		return err
	}
	if err := use(h.q, indices); err != nil {
		return err
	}
	coeffs := make([]E, indices.Len())
	coeff := gamma.Host()[0].Exp(uint64(first))
	for j := range coeffs {
		coeffs[j] = coeff
		coeff = coeff.Mul(gamma.Host()[0])
	}
	out := w.Host()
	if 2*len(coeffs)*len(out) < logLeaves<<logLeaves {
		h.addPowers(out, logLeaves, indices.Host(), coeffs)
		return nil
	}
	n := 1 << logLeaves
	sparse, err := device.Alloc[E](h.q, n)
	if err != nil {
		return err
	}
	defer sparse.Free()
	values, err := device.Alloc[E](h.q, n)
	if err != nil {
		return err
	}
	defer values.Free()
	clear(sparse.Host())
	for j, index := range indices.Host() {
		sparse.Host()[index] = sparse.Host()[index].Add(coeffs[j])
	}
	if err := encode.Encode(h.q, h.field, values, sparse, 1, logLeaves, logLeaves); err != nil {
		return err
	}
	v := values.Host()
	parallel.For(len(out), grain, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			out[b] = out[b].Add(v[ntt.Reverse(b, logLeaves)])
		}
	})
	return nil
}

// addPowers adds the sum of coeffs[j]*x_j^b to w[b]. The powers of each point are
// those of its first ones times multiples of its last.
func (h host[W, F, E]) addPowers(w []E, logLeaves int, indices []uint32, coeffs []E) {
	omega := h.scheme.Root(logLeaves)
	const longest = 1 << 10
	size := min(len(w), longest)
	low := make([][]F, len(indices))
	step := make([]F, len(indices))
	parallel.For(len(indices), max(1, grain/size), func(lo, hi int) {
		for j := lo; j < hi; j++ {
			x := omega.Exp(uint64(indices[j]))
			low[j] = powersOf(x, size)
			step[j] = low[j][size-1].Mul(x)
		}
	})
	parallel.For(len(w)/size, 1, func(lo, hi int) {
		for j := range indices {
			c := h.scheme.Scale(coeffs[j], step[j].Exp(uint64(lo)))
			for k := lo; k < hi; k++ {
				h.vectors.mulAddSym(w[k*size:(k+1)*size], low[j], c)
				c = h.scheme.Scale(c, step[j])
			}
		}
	})
}

// powersOf is 1, x, x^2, ...
func powersOf[F field.Element[F]](x F, n int) []F {
	out := make([]F, n)
	p := x.One()
	for i := range out {
		out[i] = p
		p = p.Mul(x)
	}
	return out
}
