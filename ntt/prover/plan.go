package prover

// tuning is what shapes passes.
type tuning struct {
	threads int // of a block, at most
	// fill is how many tiles a pass should have at least: where there are fewer, tiles
	// are made smaller.
	fill int
	// sector is the bytes that a tile of columns has side by side at least.
	sector int
}

// pass is one launch. A columns pass does the first `bits` layers of columns of
// 2^remaining elements, on tiles of 2^logWidth units of 2^bits rows; a rows pass does
// all layers of columns of 2^bits elements, on tiles of 2^tileBits elements.
type pass struct {
	rows            bool
	bits, remaining int
	logWidth        int
	tileBits        int
	window
}

// window is the first of a pass: at a bit of the row, and which of its layers belong
// to the transform, counted from its lowest bit.
type window struct{ at, from, to int }

// firstWindow of a pass that does `bits` layers. Windows further down are whole, so what
// is too little for whole ones the first lacks: at its upper end if there is one more
// below, as rows above it are columns of their own, and else at its lower end.
func firstWindow(bits, logValues int) window {
	switch {
	case bits <= logValues:
		return window{0, 0, bits}
	case bits <= 2*logValues:
		return window{logValues, 0, bits - logValues}
	}
	return window{bits - logValues, 3*logValues - bits, logValues}
}

// floorLog is log2 of the largest power of two that is at most x.
func floorLog(x int) int {
	n := 0
	for ; x > 1; x >>= 1 {
		n++
	}
	return n
}

// plan is the passes that transform columns of 2^n elements of `width` units each: as
// few as can be, for which blocks may have to be larger.
func (s *spec) plan(tune tuning, n, width, columns int) []pass {
	best := s.passes(tune, n, width, columns)
	for tune.threads *= 2; tune.threads <= s.maxThreads; tune.threads *= 2 {
		if p := s.passes(tune, n, width, columns); len(p) < len(best) {
			best = p
		}
	}
	return best
}

// passes is the plan for blocks of tune.threads.
func (s *spec) passes(tune tuning, n, width, columns int) []pass {
	r := s.logValues
	largest := min(3*r, r+floorLog(tune.threads/width)) // rows of elements in a tile
	most := 2 * r                                       // rows of a tile of columns
	if s.columnsUpper {
		most = min(3*r, r+floorLog(tune.threads*s.unitBytes/tune.sector))
	}
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
		p := pass{bits: bits, remaining: remaining, logWidth: min(row, r+floorLog(tune.threads)-bits), window: firstWindow(bits, r)}
		for s.unitBytes<<p.logWidth > tune.sector && columns*width<<(n-bits-p.logWidth) < tune.fill {
			p.logWidth--
		}
		out = append(out, p)
		remaining = row
	}
}

// rowsPass is the last pass, over `columns` columns of 2^n elements.
func (s *spec) rowsPass(tune tuning, n, width, columns, largest int) pass {
	// Room for two windows, and whole warps.
	least := max(n, 2*s.logValues, s.logValues+5-floorLog(width))
	tile := max(largest, least)
	for tile > least && columns<<n>>tile < tune.fill {
		tile--
	}
	return pass{rows: true, bits: n, remaining: n, tileBits: tile, window: firstWindow(n, s.logValues)}
}

// threads of a block, for elements of that many units.
func (s *spec) threads(p pass, width int) int {
	if p.rows {
		return width << (p.tileBits - s.logValues)
	}
	return 1 << (p.logWidth + p.bits - s.logValues)
}

// shared is the distance from one offset within the row to the next in the kernels'
// shared memory, in units, and all of that memory in bytes.
func (s *spec) shared(p pass, width int) (pitch, bytes int) {
	rows, offsets := p.tileBits, width
	if !p.rows {
		rows, offsets = p.bits, 1<<p.logWidth
	}
	pitch = 1<<rows + 1<<(rows-s.logValues)
	// The lanes of a warp have all offsets of a few rows: each offset gets as many
	// banks as there are such rows.
	banks := 128 / s.unitBytes
	pitch += max(1, (banks+offsets-1)/offsets)
	if !p.rows && p.at == 0 {
		return pitch, 0
	}
	return pitch, pitch * offsets * s.unitBytes
}
