package prover

// tuning is what shapes passes.
type tuning struct {
	threads int // of a block, at most
	// fill is how many tiles a pass should have at least: where there are fewer, tiles
	// are made smaller.
	fill int
}

// tuned is for two blocks on a multiprocessor, as many as its registers hold.
var tuned = tuning{threads: 512, fill: 264}

// pass is one launch. A columns pass does the first `bits` layers of columns of
// 2^remaining elements, on tiles of 2^logWidth units of 2^bits rows; a rows pass does
// all layers of columns of 2^bits elements, on tiles of 2^tileBits elements.
type pass struct {
	rows                      bool
	bits, remaining, logWidth int
	tileBits                  int
	steps                     []window
}

// stepsOf splits `bits` layers on tiles of 2^tileBits rows into windows, highest first:
// all at multiples of logValues but the first, which has to end within the tile.
func stepsOf(bits, tileBits, logValues int) []window {
	k := max(1, (bits+logValues-1)/logValues)
	var out []window
	if k*logValues <= tileBits {
		out = append(out, window{(k - 1) * logValues, bits - (k-1)*logValues})
	} else {
		out = append(out, window{bits - logValues, logValues}, window{(k - 2) * logValues, bits - (k-1)*logValues})
	}
	for len(out) < k {
		out = append(out, window{(k - 1 - len(out)) * logValues, logValues})
	}
	return out
}

// log2 of the largest power of two that is at most x.
func floorLog(x int) int {
	n := 0
	for x > 1 {
		x >>= 1
		n++
	}
	return n
}

// plan is the passes that transform columns of 2^n elements of `width` units each.
func (s *spec) plan(tune tuning, n, width, columns int) []pass {
	r := s.logValues
	largest := r + floorLog(tune.threads/width) // rows of elements in a tile
	// The widest columns pass whose tiles still have whole sectors of 32 bytes.
	most := r + floorLog(tune.threads*s.unitBytes/32)
	var out []pass
	for remaining := n; ; {
		if remaining <= largest {
			return append(out, s.rowsPass(tune, remaining, width, columns<<(n-remaining), largest))
		}
		bits := max(2*r, remaining-largest)
		if bits > most {
			bits = 2 * r
		}
		row := remaining - bits // log2 of the elements in a row
		p := pass{bits: bits, remaining: remaining, logWidth: min(row, r+floorLog(tune.threads)-bits), steps: stepsOf(bits, bits, r)}
		for s.unitBytes<<p.logWidth > 32 && columns*width<<(n-bits-p.logWidth) < tune.fill {
			p.logWidth--
		}
		out = append(out, p)
		remaining = row
	}
}

// rowsPass is the last pass, over `columns` columns of 2^n elements.
func (s *spec) rowsPass(tune tuning, n, width, columns, largest int) pass {
	// Whole warps, and room for two windows.
	least := max(n, 2*s.logValues, s.logValues+5-floorLog(width))
	tile := largest
	for tile > least && columns<<n>>tile < tune.fill {
		tile--
	}
	return pass{rows: true, bits: n, remaining: n, tileBits: tile, steps: stepsOf(n, tile, s.logValues)}
}
