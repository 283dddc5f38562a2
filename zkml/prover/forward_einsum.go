package prover

import (
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Tiles of zkml_products, the terms of a step, and how many blocks a launch
// should have at least: two on each processor. Sums are divided into parts of
// leastSteps or more.
const (
	productTile  = 64
	productTerms = 64
	manyBlocks   = 264
	leastSteps   = 2
)

// productDigits is how many digits of zkml_products a tensor's values have.
func productDigits(t *graph.Tensor) int {
	lo, hi := min(t.Lo, 0), max(t.Hi, 0) // 0 for padding
	switch {
	case lo >= -128 && hi <= 127:
		return 1
	case lo >= -128*257 && hi <= 127*257:
		return 2
	}
	return 4
}

// productsLayout is a launch of zkml_products.
type productsLayout struct {
	at, n, blocks int
}

// products describes sums of products that are made in one launch, those of the
// longest sums first.
func (l *layout) products(p *graph.Program, list []*einsumLayout) productsLayout {
	steps, work := 0, 0 // of a part, and in all
	for _, e := range list {
		work += e.tiles() * device.Blocks(e.k, productTerms)
	}
	steps = max(leastSteps, device.Blocks(work, manyBlocks))
	slices.SortStableFunc(list, func(a, b *einsumLayout) int { return b.k - a.k })
	var jobs words
	blocks, tile := 0, 0
	for _, e := range list {
		splits := device.Blocks(device.Blocks(e.k, productTerms), steps)
		along := uint64(0)
		if a, b := e.along(); e.inner%4 == 0 {
			if a {
				along |= 1
			}
			if b {
				along |= 2
			}
		}
		jobs.add(uint64(blocks), uint64(l.polys[e.out]), uint64(l.polys[e.a]), uint64(l.polys[e.b]), uint64(e.at),
			uint64(device.Blocks(e.columns, productTile)), uint64(device.Blocks(e.rows, productTile)), uint64(splits), uint64(steps), uint64(tile),
			uint64(productDigits(p.Tensor(e.a))), uint64(productDigits(p.Tensor(e.b))), along)
		blocks += e.tiles() * splits
		if splits > 1 {
			tile += e.tiles()
		}
	}
	l.tiles = max(l.tiles, tile)
	return productsLayout{l.desc.add(jobs...), len(list), blocks}
}

// tiles is how many tiles of zkml_products the result has.
func (e *einsumLayout) tiles() int {
	return e.batch * device.Blocks(e.rows, productTile) * device.Blocks(e.columns, productTile)
}

// wide launches a sum of products of few rows.
func (s *session) wide(e *einsumLayout) error {
	var a device.Buffer[m31.Element] // null: every factor is 1
	if e.a != graph.None {
		a = s.polys[e.a]
	}
	grid := device.Dim{X: uint32(device.Blocks(e.columns, 32)), Y: uint32(e.rows), Z: uint32(e.batch)}
	return s.q.Launch(device.Kernel{Source: Source, Name: "zkml_einsum_wide"}, grid, device.D1(1024), 0,
		s.polys[e.out].Arg(), a.Arg(), s.polys[e.b].Arg(), s.key.desc.Arg(), device.U32(e.at))
}

// along says whether terms of an operand lie next to each other.
func (e *einsumLayout) along() (a, b bool) {
	return e.stepA == 1 && e.inner >= 8, e.stepB == 1 && e.inner >= 8
}

// shared is whether in a run a warp or more makes an entry, not a thread.
func (e *einsumLayout) shared() bool {
	a, b := e.along()
	return e.k >= 64 && (a || b || e.batch*e.rows*e.columns <= 1<<12)
}

// einsumKernel is how a device makes a sum of products.
type einsumKernel int

const (
	inRun     einsumKernel = iota // as an operation of a run
	inProduct                     // by zkml_products
	inWide                        // by zkml_einsum_wide
)

// kernel chooses how a sum of products is made.
func (e *einsumLayout) kernel() einsumKernel {
	columnRun, columnStep := runOf(e.lists[bColumns])
	switch {
	case e.a != graph.None && e.rows >= 8 && e.columns >= 8 && e.k >= 8:
		return inProduct
	case e.columns >= 32 && columnRun >= 32 && columnStep == 1 && e.k >= 64 && e.batch <= maxGrid && e.rows <= maxGrid:
		return inWide
	}
	return inRun
}

// maxGrid is the greatest second and third dimension of a grid.
const maxGrid = 1<<16 - 1

// sumOnHost uses the field's slice operations, which are faster than integers,
// and reduce: along the result if its entries read runs of the operands, else
// along the terms.
func (s *session) sumOnHost(e *einsumLayout) error {
	h := einsumOnHost{einsumLayout: e, b: s.polys[e.b].Host(), out: s.polys[e.out].Host()}
	runA := len(h.out)
	if e.a != graph.None {
		h.a = s.polys[e.a].Host()
		runA, h.alongA = runOf(e.lists[aOut])
	}
	runB, alongB := runOf(e.lists[bOut])
	h.alongB = alongB
	const columns = 512 // that stay in the cache
	// Many rows are worth a copy of the columns' terms in a row.
	many := e.a != graph.None && e.rows >= 16 && e.columns >= 16 && e.k >= 32
	if h.run = min(runA, runB, len(h.out), columns); h.run >= 16 && !many {
		return s.q.Parallel(len(h.out)/h.run, max(1, 1<<14/(h.run*e.k)), func(lo, hi int) {
			tmp := make([]m31.Element, h.run)
			for i := lo; i < hi; i++ {
				h.along(i*h.run, tmp)
			}
		})
	}
	rowBlocks, columnBlocks := device.Blocks(e.rows, hostRows), device.Blocks(e.columns, hostColumns)
	tasks := e.batch * rowBlocks * columnBlocks
	work := min(e.rows, hostRows) * min(e.columns, hostColumns) * e.k
	return s.q.Parallel(tasks, max(1, 1<<14/work), func(lo, hi int) {
		var panel, row []m31.Element
		for i := lo; i < hi; i++ {
			panel, row = h.dots(i/(rowBlocks*columnBlocks), i/columnBlocks%rowBlocks*hostRows, i%columnBlocks*hostColumns, panel, row)
		}
	})
}

// A task of dots has so many rows and columns.
const (
	hostRows    = 64
	hostColumns = 64
)

type einsumOnHost struct {
	*einsumLayout
	a, b, out      []m31.Element
	run            int // entries that read runs of the operands
	alongA, alongB int // the steps in them, 0 or 1
}

// along computes a run of entries.
func (h *einsumOnHost) along(i int, tmp []m31.Element) {
	sum := h.out[i : i+h.run]
	clear(sum)
	a, b := gather(i, h.lists[aOut]), gather(i, h.lists[bOut])
	for q, oa := range h.outerA {
		at, bt := a+oa, b+h.outerB[q]
		for range h.inner {
			switch {
			case h.a == nil:
				m31.AddVec(sum, sum, h.b[bt:bt+h.run])
			case h.alongA == 1 && h.alongB == 1:
				m31.MulVec(tmp, h.a[at:at+h.run], h.b[bt:bt+h.run])
				m31.AddVec(sum, sum, tmp)
			case h.alongA == 1:
				if v := h.b[bt]; v != 0 {
					m31.MulAddVec(sum, h.a[at:at+h.run], v)
				}
			default:
				if v := h.a[at]; v != 0 {
					m31.MulAddVec(sum, h.b[bt:bt+h.run], v)
				}
			}
			at, bt = at+h.stepA, bt+h.stepB
		}
	}
}

// dots computes a block of entries from copies of the operands' terms, where
// these are not in a row already.
func (h *einsumOnHost) dots(batch, row, column int, panel, terms []m31.Element) (_, _ []m31.Element) {
	atA, atB, to := gather(batch, h.lists[aBatch]), gather(batch, h.lists[bBatch]), gather(batch, h.lists[outBatch])
	last := min(column+hostColumns, h.columns)
	columns := make([][]m31.Element, last-column)
	for j := range columns {
		from := atB + gather(column+j, h.lists[bColumns])
		if h.stepB == 1 && h.inner == h.k {
			columns[j] = h.b[from : from+h.k]
			continue
		}
		if len(panel) == 0 {
			panel = make([]m31.Element, min(hostColumns, h.columns)*h.k)
		}
		columns[j] = panel[j*h.k : (j+1)*h.k]
		h.copyTerms(columns[j], h.b[from:], h.outerB, h.stepB)
	}
	for r := row; r < min(row+hostRows, h.rows); r++ {
		var x []m31.Element
		if h.a != nil {
			from := atA + gather(r, h.lists[aRows])
			if h.stepA == 1 && h.inner == h.k {
				x = h.a[from : from+h.k]
			} else {
				if len(terms) == 0 {
					terms = make([]m31.Element, h.k)
				}
				x = terms
				h.copyTerms(x, h.a[from:], h.outerA, h.stepA)
			}
		}
		at := to | gather(r, h.lists[outRows])
		for j, y := range columns {
			v := &h.out[at|gather(column+j, h.lists[outColumns])]
			if h.a == nil {
				*v = m31.Sum(y)
			} else {
				*v = m31.Dot(x, y)
			}
		}
	}
	return panel, terms
}

// copyTerms puts an operand's terms in a row.
func (h *einsumOnHost) copyTerms(to, from []m31.Element, outer []int, step int) {
	for q, o := range outer {
		part := to[q*h.inner : (q+1)*h.inner]
		for k := range part {
			part[k] = from[o+k*step]
		}
	}
}
