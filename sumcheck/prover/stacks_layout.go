package prover

import (
	"cmp"
	"slices"
)

// stacksLayout says where in Desc the descriptors of stacks.cu lie, and how many there
// are.
type stacksLayout struct {
	rowTiles, rowTileCount   int
	claims                   int
	pieces, pieceCount       int
	groups, groupCount       int
	longest                  int // variables of a group, at most
	bindPieces, bindCount    int
	bound, boundCount, tiles int // tiles of weights a stack
}

const (
	rowTile     = 1024 // entries
	foldColumns = 1024 // a block's
	// A piece has between 2^leastPiece words and 2^mostFold or 2^mostBind, so that there
	// are at most about foldsWanted or bindsWanted of them: a block that binds rows makes
	// a table of 2^11 entries first.
	leastPiece            = 13
	mostFold, foldsWanted = 17, 2048
	mostBind, bindsWanted = 18, 400
)

// desc adds words to the descriptors.
func (p *Stacks) desc(w ...uint64) (at int) {
	at = len(p.Desc)
	p.Desc = append(p.Desc, w...)
	return at
}

// pair is two 32-bit words.
func pair(low, high int) uint64 { return uint64(low) | uint64(high)<<32 }

// describe makes all descriptors.
func (p *Stacks) describe() {
	p.describeRows()
	p.describeFolds()
	p.describeBinding()
}

// describeRows lists the tiles of rows with claims on parts of them.
func (p *Stacks) describeRows() {
	l := &p.layout
	var tiles, claims []uint64
	for i := range p.stacks {
		st := &p.stacks[i]
		for _, r := range st.rows {
			first := len(claims) / 2
			for _, c := range r.claims {
				claims = append(claims, uint64(c.at)|uint64(c.vars)<<48|uint64(c.bits)<<56, pair(c.low, c.high))
			}
			row := r.at << st.row
			for x := 0; x < 1<<st.row; x += rowTile {
				at, n := len(p.Desc), 0
				for k, c := range r.claims {
					if c.at < row+x+rowTile && c.at+1<<c.vars > row+x {
						p.desc(uint64(first + k))
						n++
					}
				}
				tiles = append(tiles, uint64(row)|uint64(i)<<48, pair(x, st.row), pair(r.instance.weight, r.instance.words), pair(at, n))
			}
		}
	}
	l.rowTileCount = len(tiles) / 4
	l.rowTiles, l.claims = p.desc(tiles...), p.desc(claims...)
}

// pieceWords is the size of pieces for so many words; whatever these are, pieces stay
// few enough to be listed.
func pieceWords(words, most, wanted int) int {
	size := leastPiece
	for size < most && words>>size > wanted || words>>size > 1<<16 {
		size++
	}
	return 1 << size
}

// describeFolds cuts the claims on whole rows into pieces of work, those on one block two
// at a time.
func (p *Stacks) describeFolds() {
	l := &p.layout
	words := 0
	for i := range p.stacks {
		for _, c := range p.stacks[i].folds {
			words += c.rows << p.stacks[i].row
		}
	}
	size := pieceWords(words, mostFold, foldsWanted)
	var pieces []uint64
	for i := range p.stacks {
		st := &p.stacks[i]
		folds := slices.Clone(st.folds)
		slices.SortStableFunc(folds, func(a, b foldClaim) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.rows, a.rows)) })
		for len(folds) > 0 {
			both := folds[:1]
			if len(folds) > 1 && folds[1].at == folds[0].at && folds[1].rows == folds[0].rows {
				both = folds[:2]
			}
			folds = folds[len(both):]
			pieces = append(pieces, p.foldPieces(i, both, size)...)
		}
	}
	l.pieces, l.pieceCount = p.desc(pieces...), len(pieces)/4
	var groups []uint64
	for _, in := range p.instances {
		if in.factor {
			groups = append(groups, pair(in.sums, in.words), uint64(in.vars))
			l.longest = max(l.longest, in.vars)
		}
	}
	l.groups, l.groupCount = p.desc(groups...), len(groups)/2
}

// foldPieces are the pieces of one block with one or two claims.
func (p *Stacks) foldPieces(stack int, claims []foldClaim, size int) (out []uint64) {
	st := &p.stacks[stack]
	columns := min(1<<st.row, foldColumns)
	rows := min(max(1, size/columns), claims[0].rows)
	for r := 0; r < claims[0].rows; r += rows {
		for x := 0; x < 1<<st.row; x += columns {
			out = append(out, uint64((claims[0].at+r)<<st.row+x)|uint64(stack)<<48|uint64(st.row)<<56, pair(rows, len(claims)))
			for _, c := range claims {
				out = append(out, pair(c.factor+r, p.instances[c.instance].sums+2*x))
			}
			if len(claims) == 1 {
				out = append(out, 0)
			}
		}
	}
	return out
}

// describeBinding cuts the rows of stacks, as far as there are any but zeros, into pieces,
// and says for each row what its weight is made of.
func (p *Stacks) describeBinding() {
	l := &p.layout
	l.tiles = max(1, 1<<p.high/256)
	words := 0
	for i := range p.stacks {
		if p.stacks[i].large() {
			words += p.stacks[i].Used
		}
	}
	size := pieceWords(words, mostBind, bindsWanted)
	var pieces, bound []uint64
	for i := range p.stacks {
		st := &p.stacks[i]
		if !st.large() {
			continue
		}
		unit := 4 * max(1, 128>>st.row) // rows that a warp takes at a time
		rows := ((st.Used+1<<st.row-1)>>st.row + unit - 1) / unit * unit
		step := max(unit, size>>st.row)
		for r := 0; r < rows; r += step {
			pieces = append(pieces, pair(r, min(step, rows-r)), pair(i, len(bound)/4))
		}
		segments, n := p.segments(st)
		bound = append(bound, pair(st.words, st.weight), pair(n, segments), uint64(p.high), pair(p.first-st.row, st.row))
	}
	l.bindPieces, l.bindCount = p.desc(pieces...), len(pieces)/2
	l.bound, l.boundCount = p.desc(bound...), len(bound)/4
}

// segments lists runs of rows of equal claims.
func (p *Stacks) segments(st *stackPlan) (at, n int) {
	type claim struct {
		begin, end int
		word       uint64
	}
	var claims []claim
	for _, c := range st.folds {
		claims = append(claims, claim{c.at, c.at + c.rows, pair(c.factor, c.instance)})
	}
	for _, r := range st.rows {
		claims = append(claims, claim{r.at, r.at + 1, pair(0, r.number) | 1<<63})
	}
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(a.begin, b.begin) })
	borders := []int{0}
	for _, c := range claims {
		borders = append(borders, c.begin, c.end)
	}
	slices.Sort(borders)
	var open []claim
	var out []uint64
	for _, b := range slices.Compact(borders) {
		open = slices.DeleteFunc(open, func(c claim) bool { return c.end <= b })
		for len(claims) > 0 && claims[0].begin == b {
			open, claims = append(open, claims[0]), claims[1:]
		}
		list := len(p.Desc)
		for _, c := range open {
			w := c.word
			if w>>63 == 0 {
				w += uint64(b - c.begin)
			}
			p.desc(w)
		}
		out = append(out, uint64(b), pair(len(open), list))
	}
	return p.desc(out...), len(out) / 2
}
