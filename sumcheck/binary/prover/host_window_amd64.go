//go:build !purego

package prover

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/zkwarp/zkwarp/field/gf2"
)

//go:generate go run -tags=purego ./internal/genwindow

// wide says whether this machine has the instructions of window_avx512_amd64.s;
// tests try without.
var wide = cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.GFNI, cpuid.BMI2)

//go:noescape
func spreadAVX512(dst *byte, src *lanes, n int)

//go:noescape
func maskedAVX512(sum *gf2.Element, p *gf2.Element, words *uint32, n int)

//go:noescape
func window2x2AVX512(rows *gf2.Element, masks *byte, p *gf2.Element, stride int, n int)

//go:noescape
func window2x2SumAVX512(rows *gf2.Element, masks *byte, p *gf2.Element, stride int, other *gf2.Element, n int)

//go:noescape
func window3x2AVX512(rows *gf2.Element, masks *byte, p *gf2.Element, stride int, n int)

//go:noescape
func window3x2SumAVX512(rows *gf2.Element, masks *byte, p *gf2.Element, stride int, other *gf2.Element, n int)

//go:noescape
func window4x2AVX512(rows *gf2.Element, masks *byte, p *gf2.Element, stride int, n int)

//go:noescape
func window4x2SumAVX512(rows *gf2.Element, masks *byte, p *gf2.Element, stride int, other *gf2.Element, n int)

//go:noescape
func window5x1AVX512(rows *gf2.Element, masks *byte, p *gf2.Element, stride int, n int)

//go:noescape
func window5x1SumAVX512(rows *gf2.Element, masks *byte, p *gf2.Element, stride int, other *gf2.Element, n int)

// maskedBlocks is the sum of the elements of a whose bit is set, over as many whole
// words as a fills, and the number of those.
func maskedBlocks[T gf2.Words](a []T, words []uint32) (s gf2.Element, n int) {
	n = min(len(words), len(a)/32)
	if !wide || n == 0 {
		return s, 0
	}
	var v [4]gf2.Element
	maskedAVX512(&v[0], (*gf2.Element)(unsafe.Pointer(&a[0])), &words[0], n)
	return addUp(v[:]), n
}

//go:noescape
func batchAVX512(dst *gf2.Polyval, words *uint32, stride int, weights *gf2.Polyval, count int, n int)

// batchBlocks writes the batch's elements, as many as whole words have, and returns
// their number. words are those of the first prefix, and prefixes stride words apart.
func batchBlocks(dst, weights []gf2.Polyval, words []uint32, stride int) int {
	if !wide || len(dst) < 32 {
		return 0
	}
	batchAVX512(&dst[0], &words[0], 4*stride, &weights[0], len(weights), len(dst)/32)
	return len(dst) &^ 31
}

//go:noescape
func addAVX512(dst *gf2.Element, a *gf2.Element, b *gf2.Element, n int)

// addBlocks sets dst[i] = a[i] + b[i] for whole blocks, and returns how many.
func addBlocks[T gf2.Words](dst, a, b []T) int {
	if !wide || len(dst) < 8 {
		return 0
	}
	at := func(p *T) *gf2.Element { return (*gf2.Element)(unsafe.Pointer(p)) }
	addAVX512(at(&dst[0]), at(&a[0]), at(&b[0]), len(dst)/8)
	return len(dst) &^ 7
}

// hasVectors says whether windowAdd may be called.
func hasVectors() bool { return wide }

// windowRun is the number of indices that windowAdd goes over before it goes over
// them again for another product of the first variable: what it reads of p_1 stays
// in a core's first cache.
const windowRun = 128

// windowAdd adds a block of hostChunk indices to the rows of a window, each of
// which is four sums that make one. doubled is room for the masks with each bit
// twice.
func (w *windowBlock) windowAdd(masks []lanes, values []gf2.Element, size int) {
	s := w.s
	spreadAVX512(&w.doubled[0], &masks[0], len(masks))
	inner := 2
	if s.d == 5 {
		inner = 1
	}
	if s.k == inner {
		windowKernel(s.d, &w.rows[0], &w.doubled[0], &values[0], nil, size*gf2.Size, hostChunk/4)
		return
	}
	for x := 0; x < hostChunk; x += windowRun {
		if s.k == inner+1 {
			w.outer(w.rows, w.doubled[x/4:], values[x:], size, inner)
			continue
		}
		// One variable more: what the others go over is its values or their sums, each
		// as many prefixes.
		rows, prefixes := power(s.d+1, inner+1), 2<<inner
		for _, p := range w.products {
			from, stride := values[x:], size
			switch p.a {
			case atOne:
				from = from[prefixes*size:]
			case slope:
				if w.slopes == nil {
					w.slopes = make([]gf2.Element, prefixes*windowRun)
				}
				for u := range prefixes {
					addVec(w.slopes[u*windowRun:(u+1)*windowRun], from[u*size:u*size+windowRun], from[(prefixes+u)*size:(prefixes+u)*size+windowRun])
				}
				from, stride = w.slopes, windowRun
			}
			w.outer(w.rows[4*rows*p.row:], w.doubled[128*rows*p.b+x/4:], from, stride, inner)
		}
	}
}

// outer adds windowRun indices to the rows of the last inner+1 variables.
func (w *windowBlock) outer(to []gf2.Element, masks []byte, values []gf2.Element, size, inner int) {
	d := w.s.d
	rows, stride := power(d+1, inner), size*gf2.Size
	zero, one := &values[0], &values[size<<inner]
	for _, p := range w.products {
		row, mask := &to[4*rows*p.row], &masks[128*rows*p.b]
		switch p.a {
		case atZero:
			windowKernel(d, row, mask, zero, nil, stride, windowRun/4)
		case atOne:
			windowKernel(d, row, mask, one, nil, stride, windowRun/4)
		default:
			windowKernel(d, row, mask, zero, one, stride, windowRun/4)
		}
	}
}

// windowKernel adds n vectors of four indices to the rows of the last variables.
func windowKernel(d int, rows *gf2.Element, masks *byte, p, other *gf2.Element, stride, n int) {
	switch {
	case d == 2 && other == nil:
		window2x2AVX512(rows, masks, p, stride, n)
	case d == 2:
		window2x2SumAVX512(rows, masks, p, stride, other, n)
	case d == 3 && other == nil:
		window3x2AVX512(rows, masks, p, stride, n)
	case d == 3:
		window3x2SumAVX512(rows, masks, p, stride, other, n)
	case d == 4 && other == nil:
		window4x2AVX512(rows, masks, p, stride, n)
	case d == 4:
		window4x2SumAVX512(rows, masks, p, stride, other, n)
	case other == nil:
		window5x1AVX512(rows, masks, p, stride, n)
	default:
		window5x1SumAVX512(rows, masks, p, stride, other, n)
	}
}
