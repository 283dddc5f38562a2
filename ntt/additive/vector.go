package additive

import (
	"context"
	"sync"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Transforms of 2^blockDim elements and more run in POLYVAL's basis, whose products the
// CPU has instructions for: the change of basis is linear, so it commutes with the
// transform. A core takes a block of 2^blockDim through all the levels that are left
// while it stays in the cache, the last rowDim levels transposed, so that neighbours are
// not each other's partners: then all products are of slices.
const rowDim = blockDim / 2

// row is the length of those slices.
const row = 1 << rowDim

// basisPolyval is Cantor's basis in POLYVAL's.
var basisPolyval = sync.OnceValue(func() (gamma [MaxDim]gf2.Polyval) {
	for i := range gamma {
		gamma[i] = Basis(i).Polyval()
	}
	return gamma
})

// pointPolyval is Point(k).
func pointPolyval(gamma *[MaxDim]gf2.Polyval, k uint32) gf2.Polyval {
	var p gf2.Polyval
	for b := 0; k != 0; b, k = b+1, k>>1 {
		if k&1 == 1 {
			p = p.Add(gamma[b])
		}
	}
	return p
}

// addTo adds a to v.
func addTo(v, a []gf2.Polyval) {
	a = a[:len(v)]
	for j := range v {
		v[j].Lo ^= a[j].Lo
		v[j].Hi ^= a[j].Hi
	}
}

// toPolyval and fromPolyval change the basis on all cores.
func toPolyval(dst []gf2.Polyval, src []gf2.Element) {
	parallel.For(len(src), 1<<blockDim, func(lo, hi int) { gf2.ToPolyval(dst[lo:hi], src[lo:hi]) })
}

func fromPolyval(dst []gf2.Element, src []gf2.Polyval) {
	parallel.For(len(src), 1<<blockDim, func(lo, hi int) { gf2.FromPolyval(dst[lo:hi], src[lo:hi]) })
}

// forwardPolyval is Forward for 2^d elements, d at least blockDim. It stops when the
// context ends.
func forwardPolyval(ctx context.Context, v []gf2.Polyval, d int, coset uint32) error {
	gamma := basisPolyval()
	for i := d - 1; i >= blockDim; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		half := 1 << i
		parts := half / grain // of one block, each of as many butterflies as are worth a core
		first := coset << (d - 1 - i)
		parallel.For(len(v)/2/grain, 1, func(lo, hi int) {
			for p := lo; p < hi; p++ {
				at := p/parts*2*half + p%parts*grain
				butterflies(v[at:at+grain], v[at+half:at+half+grain], pointPolyval(&gamma, 2*(first+uint32(p/parts))))
			}
		})
	}
	blocks := len(v) >> blockDim
	parallel.For(blocks, 1, func(lo, hi int) {
		w := newWorkspace(&gamma)
		for b := lo; b < hi && ctx.Err() == nil; b++ {
			w.block(v[b<<blockDim:(b+1)<<blockDim], uint32(blocks)*coset+uint32(b))
		}
	})
	return ctx.Err()
}

func butterflies(u, v []gf2.Polyval, w gf2.Polyval) {
	gf2.MulAddPolyval(u, v, w)
	addTo(v, u)
}

// workspace is a core's memory for blocks.
type workspace struct {
	gamma    *[MaxDim]gf2.Polyval
	columns  []gf2.Polyval // a block, transposed
	twiddles []gf2.Polyval // of a row
	product  []gf2.Polyval
}

func newWorkspace(gamma *[MaxDim]gf2.Polyval) *workspace {
	return &workspace{gamma, make([]gf2.Polyval, row*row), make([]gf2.Polyval, row), make([]gf2.Polyval, row)}
}

// block runs the levels below blockDim on the block with that number.
func (w *workspace) block(v []gf2.Polyval, number uint32) {
	for i := blockDim - 1; i >= rowDim; i-- {
		for b := range 1 << (blockDim - 1 - i) {
			at := b << (i + 1)
			butterflies(v[at:at+1<<i], v[at+1<<i:at+2<<i], pointPolyval(w.gamma, 2*(number<<(blockDim-1-i)|uint32(b))))
		}
	}
	for i := range row {
		for j, x := range v[i*row : (i+1)*row] {
			w.columns[j*row+i] = x
		}
	}
	// Element (i, j) is in row j now, and the butterflies of level l are between rows.
	// The twiddle is a part that depends on i and one that depends on the block within
	// the row of v.
	for l := rowDim - 1; l >= 0; l-- {
		for i := range w.twiddles {
			w.twiddles[i] = pointPolyval(w.gamma, 2*((number<<rowDim|uint32(i))<<(rowDim-1-l)))
		}
		var last gf2.Polyval
		for b := range 1 << (rowDim - 1 - l) {
			now := pointPolyval(w.gamma, 2*uint32(b))
			for i := range w.twiddles {
				w.twiddles[i] = w.twiddles[i].Add(last).Add(now)
			}
			last = now
			for j := range 1 << l {
				at := (b<<(l+1) | j) * row
				u, v := w.columns[at:at+row], w.columns[at+row<<l:at+row<<l+row]
				gf2.MulPolyval(w.product, v, w.twiddles)
				addTo(u, w.product)
				addTo(v, u)
			}
		}
	}
	for i := range row {
		for j := range row {
			v[i*row+j] = w.columns[j*row+i]
		}
	}
}
