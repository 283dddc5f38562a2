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
		if term.Shape[a-skip] == out.Shape[a] {
			segs = segment(segs, from, to, v)
			to += v
		}
		from += v
	}
	return segs
}

// segment adds a triple that moves n bits from one place to another, joined to
// the one before if the two are one. Triples come from the lowest bits up.
func segment(segs []uint64, from, to, n int) []uint64 {
	if n == 0 {
		return segs
	}
	if k := len(segs); k > 0 && int(segs[k-3])-int(segs[k-1]) == from-to && adjacent(segs, from) {
		segs[k-2] = (segs[k-2]+1)<<n - 1
		return segs
	}
	return append(segs, uint64(from), 1<<n-1, uint64(to))
}

// runOf says what runs of indices map to: places that are next to each other
// (step 1) or the same (step 0). Runs have a power of two of indices and begin at
// multiples of it.
func runOf(segs []uint64) (run, step int) {
	run = 1 << 30
	for k := 0; k < len(segs); k += 3 {
		if segs[k] > 0 {
			run = min(run, 1<<segs[k])
			continue
		}
		if segs[k+2] != 0 {
			return 1, 0
		}
		run, step = min(run, int(segs[k+1])+1), 1
	}
	return run, step
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
