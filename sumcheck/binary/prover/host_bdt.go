package prover

import (
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/opcount"
)

// sumKind is how BDT-1 and BDT-2 go over tables.
type sumKind int

const (
	byTables sumKind = iota // a whole table at a time, as the paper's baseline
	byBlocks                // all of a block of indices at a time, as SumCATS
)

// hostPlan is one of the paper's algorithms: BDT-2 in the rounds before expand,
// BDT-1 over rebuilt batches in those before rebuild, BDT-1 in the rest.
type hostPlan struct {
	expand, rebuild int
	sum             sumKind
}

// switchover is the round in which BDT-1 takes over from BDT-2: the first that is
// cheaper by the paper's operation counts (section IV.A).
func switchover(d int) int { return opcount.SwitchRound(d) }

// rebuildUntil is the round in which folded tables take over from rebuilt
// batches, found by measurement as the paper has it.
func rebuildUntil(int) int { return 4 }

func (h *host) bdt(p hostPlan) error {
	expand := min(p.expand, h.n)
	for h.round() < expand {
		if err := h.bdt2(p.sum); err != nil {
			return err
		}
	}
	list := []hostTable{nil}
	var err error
	if list[0], err = h.boundLead(); err != nil {
		return err
	}
	for h.round() < min(p.rebuild, h.n) {
		if err := h.rebuilt(list[0]); err != nil {
			return err
		}
	}
	for _, c := range h.columns() {
		t, err := h.boundColumn(c)
		if err != nil {
			return err
		}
		list = append(list, t)
	}
	return h.bdt1(list, p.sum)
}

// finish ends the proof with the tables' values.
func (h *host) finish(list []hostTable) error {
	for j, t := range list {
		if j == 0 && h.in.Kind == binary.EqBits {
			continue
		}
		h.proof.Evals = append(h.proof.Evals, t.value().Element())
	}
	return nil
}

// points are 0, 2, .., d: where a message has values.
func (h *host) points() []gf2.Element {
	p := []gf2.Element{{}}
	for y := 2; y <= h.d; y++ {
		p = append(p, small(y))
	}
	return p
}

// bdt1 does all rounds that are left: each value of a message is the sum of the
// product of all tables folded about it (the paper's section III.A).
func (h *host) bdt1(list []hostTable, kind sumKind) error {
	sum := h.sumBlocks
	if kind == byTables {
		sum = h.sumTables
		if h.left() > 0 {
			var err error
			half := 1 << (h.left() - 1)
			if h.product, err = h.alloc(half); err != nil {
				return err
			}
			if h.folded, err = h.alloc(half); err != nil {
				return err
			}
		}
	}
	for h.left() > 0 {
		v, err := sum(list)
		if err != nil {
			return err
		}
		r := h.send(elements(v)).Polyval()
		for _, t := range list {
			if err := t.bind(h, r); err != nil {
				return err
			}
		}
	}
	return h.finish(list)
}

// sumTables folds and composes whole tables.
func (h *host) sumTables(list []hostTable) ([]gf2.Polyval, error) {
	half := 1 << (h.left() - 1)
	var values []gf2.Polyval
	for _, y := range polyvals(h.points()) {
		for j, t := range list {
			err := h.chunks(half, func(lo, hi int) {
				if j == 0 {
					t.fold(h.product[lo:hi], y, lo)
					return
				}
				t.fold(h.folded[lo:hi], y, lo)
			})
			if j > 0 && err == nil {
				err = h.chunks(half, func(lo, hi int) {
					gf2.MulPolyval(h.product[lo:hi], h.product[lo:hi], h.folded[lo:hi])
				})
			}
			if err != nil {
				return nil, err
			}
		}
		v, err := sums(h, half, 1, func(lo, hi int, sum []gf2.Polyval) { sum[0] = addUp(h.product[lo:hi]) })
		if err != nil {
			return nil, err
		}
		values = append(values, v[0])
	}
	return values, nil
}

// sumBlocks folds and composes a block at a time.
func (h *host) sumBlocks(list []hostTable) ([]gf2.Polyval, error) {
	points := polyvals(h.points())
	return sums(h, 1<<(h.left()-1), len(points), func(lo, hi int, sum []gf2.Polyval) {
		var product, folded [hostChunk]gf2.Polyval
		for ; lo < hi; lo += hostChunk {
			p, f := product[:min(hostChunk, hi-lo)], folded[:min(hostChunk, hi-lo)]
			for i, y := range points {
				list[0].fold(p, y, lo)
				for _, t := range list[1 : len(list)-1] {
					t.fold(f, y, lo)
					gf2.MulPolyval(p, p, f)
				}
				list[len(list)-1].fold(f, y, lo)
				sum[i] = sum[i].Add(gf2.DotPolyval(p, f))
			}
		}
	})
}

// rebuilt is a round of BDT-1 in which the folded bits are rebuilt from bits and
// the products of the challenges (the paper's Algorithm 3).
func (h *host) rebuilt(lead hostTable) error {
	points, weights := polyvals(h.points()), polyvals(eqValues(h.point, gf2.One()))
	size := 1 << h.left()
	cols := h.columns()
	values, err := sums(h, size/2, len(points), func(lo, hi int, sum []gf2.Polyval) {
		var product, folded [hostChunk]gf2.Polyval
		batches := make([]gf2.Polyval, 2*hostChunk*len(cols))
		for ; lo < hi; lo += hostChunk {
			n := min(hostChunk, hi-lo)
			batch := func(k int) []gf2.Polyval { return batches[k*hostChunk : k*hostChunk+n] }
			for j, c := range cols {
				c.batch(batch(2*j), weights, size, lo)
				c.batch(batch(2*j+1), weights, size, size/2+lo)
			}
			p, f := product[:n], folded[:n]
			for i, y := range points {
				lead.fold(p, y, lo)
				for j := range cols {
					foldAt(f, batch(2*j), batch(2*j+1), y)
					if j == len(cols)-1 {
						sum[i] = sum[i].Add(gf2.DotPolyval(p, f))
						break
					}
					gf2.MulPolyval(p, p, f)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	return lead.bind(h, h.send(elements(values)).Polyval())
}

// boundLead is p_1 with the variables of the rounds so far bound, all at once.
func (h *host) boundLead() (hostTable, error) {
	if h.in.Kind == binary.EqBits {
		i := h.round()
		return newEqRest(h.in.Z[i:], binary.EqEval(h.in.Z[:i], h.point)), nil
	}
	values := h.in.Ext[0].Host()
	if h.round() == 0 {
		return &extTable{source: values}, nil
	}
	dst, err := h.alloc(1 << h.left())
	if err != nil {
		return nil, err
	}
	return &extTable{values: dst}, h.combine(dst, eqValues(h.point, gf2.One()))
}

// boundColumn is a column with the variables of the rounds so far bound.
func (h *host) boundColumn(c hostColumn) (hostTable, error) {
	weights, size := polyvals(eqValues(h.point, gf2.One())), 1<<h.left()
	dst, err := h.alloc(size)
	if err != nil {
		return nil, err
	}
	err = h.chunks(size, func(lo, hi int) { c.batch(dst[lo:hi], weights, size, lo) })
	return &extTable{values: dst}, err
}
