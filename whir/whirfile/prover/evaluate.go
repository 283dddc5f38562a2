package prover

import (
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/whir/whirfile"
)

// evaluate returns the value of each table for a claim's kind and point. The
// weight of entry b is a product of one for each bit of b, so that those of the
// upper and of the lower half of the bits make all of them.
func evaluate[F field.Element[F], E field.Element[E]](tables [][]F, claim whirfile.Claim, scale func(E, F) E) ([]whirfile.Words, error) {
	point, err := whirfile.Elements[E](claim.Point)
	if err != nil {
		return nil, err
	}
	vars := log2(len(tables[0]))
	// The weights of a bit of 0 and of 1, top bit first.
	bits := make([][2]E, vars)
	for j := range bits {
		one := point[0].One()
		if claim.Kind == whirfile.Univariate {
			bits[j] = [2]E{one, point[0].Exp(1 << (vars - 1 - j))}
		} else {
			bits[j] = [2]E{one.Sub(point[j]), point[j]}
		}
	}
	upper, lower := weights(bits[:vars/2]), weights(bits[vars/2:])
	var out []whirfile.Words
	for _, t := range tables {
		parts := make([]E, len(upper))
		parallel.For(len(upper), max(1, (1<<12)/len(lower)), func(lo, hi int) {
			for u := lo; u < hi; u++ {
				var sum E
				for b, w := range lower {
					sum = sum.Add(scale(w, t[u*len(lower)+b]))
				}
				parts[u] = sum.Mul(upper[u])
			}
		})
		var sum E
		for _, p := range parts {
			sum = sum.Add(p)
		}
		out = append(out, sum.AppendWords(nil))
	}
	return out, nil
}

// weights are the products of one weight for each bit of the index.
func weights[E field.Element[E]](bits [][2]E) []E {
	var zero E
	out := append(make([]E, 0, 1<<len(bits)), zero.One())
	for j := len(bits) - 1; j >= 0; j-- {
		for _, w := range out {
			out = append(out, w.Mul(bits[j][1]))
		}
		for i := range len(out) / 2 {
			out[i] = out[i].Mul(bits[j][0])
		}
	}
	return out
}

func log2(n int) (l int) {
	for n>>l > 1 {
		l++
	}
	return l
}
