package prover

import "github.com/zkwarp/zkwarp/zkml/internal/plan"

// segments describes how an index into out's padded layout turns into one into
// a term that broadcasts to it: triples (from, mask, to), each moving the bits
// (i >> from) & mask to position to. The triples' results are disjoint.
func segments(out, term *plan.Poly) []uint64 {
	segs := []uint64{}
	skip := len(out.Axes) - len(term.Axes)
	from, to := 0, 0
	for a := len(out.Axes) - 1; a >= skip; a-- {
		v := out.Axes[a]
		if term.Shape[a-skip] == out.Shape[a] && v > 0 {
			if k := len(segs); k > 0 && int(segs[k-3])-int(segs[k-1]) == from-to && adjacent(segs, from) {
				segs[k-2] = (segs[k-2]+1)<<v - 1
			} else {
				segs = append(segs, uint64(from), 1<<v-1, uint64(to))
			}
			to += v
		}
		from += v
	}
	return segs
}

// adjacent says whether the last triple's bits end right below from.
func adjacent(segs []uint64, from int) bool {
	end := int(segs[len(segs)-3])
	for m := segs[len(segs)-2]; m > 0; m >>= 1 {
		end++
	}
	return end == from
}

// gather applies segments to an index.
func gather(i int, segs []uint64) int {
	j := 0
	for k := 0; k < len(segs); k += 3 {
		j |= i >> segs[k] & int(segs[k+1]) << segs[k+2]
	}
	return j
}
