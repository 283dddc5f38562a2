package prover

import (
	_ "embed"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
)

var (
	//go:embed bits.cuh
	bitsText string
	//go:embed window.cu
	windowText string
	//go:embed fold.cu
	foldText string
	//go:embed planes.cuh
	planesText string
	//go:embed patterns.cuh
	patternsText string
	//go:embed finish.cu
	finishText string
	//go:embed mask.cu
	maskText string
)

var (
	bitsHeader     = &kernel.Source{Name: "sumcheck/binary/prover/bits.cuh", Text: bitsText, Headers: []*kernel.Source{kernel.PTX}}
	planesHeader   = &kernel.Source{Name: "sumcheck/binary/prover/planes.cuh", Text: planesText, Headers: []*kernel.Source{bitsHeader}}
	patternsHeader = &kernel.Source{Name: "sumcheck/binary/prover/patterns.cuh", Text: patternsText, Headers: []*kernel.Source{roundHeader}}
	windowSource   = &kernel.Source{Name: "sumcheck/binary/prover/window.cu", Text: windowText, Headers: []*kernel.Source{planesHeader}}
	maskSource     = &kernel.Source{Name: "sumcheck/binary/prover/mask.cu", Text: maskText, Headers: []*kernel.Source{patternsHeader, planesHeader}}
	finishSource   = &kernel.Source{Name: "sumcheck/binary/prover/finish.cu", Text: finishText, Headers: []*kernel.Source{gf2.Header, patternsHeader, finishHeader}}
	foldSource     = &kernel.Source{Name: "sumcheck/binary/prover/fold.cu", Text: foldText, Headers: []*kernel.Source{kernel.PTX}}
)

const (
	unit = 256 // points that one matrix instruction of the pass takes

	masksThreads = 128
	passWarps    = 4
	passStages   = 3
	foldWarps    = 8

	// How many blocks of the pass, at the most, and of the fold a multiprocessor holds.
	passPerUnit = 4
	foldPerUnit = 2
)

// window is the shape of the first rounds: k of them, from one pass over the elements.
type window struct {
	k, degree int
	points    int // that each of the 2^k prefixes has, a multiple of unit
}

// masks is how many bits stand for the product of the bit columns at a point: its
// degree^k coefficients in the window's variables.
func (w window) masks() int {
	n := 1
	for range w.k {
		n *= w.degree
	}
	return n
}

// groups is how many times eight masks that is, which a matrix instruction takes.
func (w window) groups() int { return (w.masks() + 7) / 8 }

// maskWords is the size of the masks of all points.
func (w window) maskWords() int { return w.points / unit * w.groups() * 64 }

// patternBytes is the size of one column's patterns, at least 16 so that those of several
// follow each other at multiples of that.
func (w window) patternBytes() int {
	if w.k == 4 {
		return 2 * w.points
	}
	return max(16, w.points)
}

// sumWords is the size of the sums of `rows` rows.
func (w window) sumWords(rows int) int { return rows * w.groups() * 8 * 4 }

// prepare makes masks and patterns of the columns, and clears the sums.
func (w window) prepare(q *device.Queue, masks device.Buffer[uint32], patterns device.Buffer[uint8], sums device.Buffer[uint32], columns []device.Buffer[uint32]) error {
	words := w.points / 32
	args := []device.Arg{masks.Arg(), patterns.Arg(), sums.Arg(), device.U32(sums.Len()), device.U64(words)}
	for _, c := range columns {
		args = append(args, c.Arg())
	}
	k := device.Kernel{Source: windowSource, Name: fmt.Sprintf("binary_window_masks_k%d_d%d", w.k, w.degree)}
	return q.Launch(k, device.D1(device.Blocks(words, masksThreads)), device.D1(masksThreads), 0, args...)
}

// pass adds to sums, one row for each of the 2^k prefixes of p1, the elements that each
// mask selects.
func (w window) pass(q *device.Queue, sums, p1, masks device.Buffer[uint32]) error {
	units := w.points / unit
	// Warps are a multiple of the rows, and not many more than there are units.
	info := q.Device().Info()
	perUnit := max(1, min(passPerUnit, info.SharedPerBlock/(w.passShared()+1024)))
	blocks := min(perUnit*info.Units, device.Blocks(units<<w.k, passWarps))
	least := max(1, 1<<w.k/passWarps)
	blocks = max(least, blocks/least*least)
	return w.launchPass(q, blocks, sums, p1, masks, w.k, units, 0)
}

// stretches is pass for masks of 2^rows stretches of the points, a row of sums each, that
// all select from the same elements.
func (w window) stretches(q *device.Queue, sums, elements, masks device.Buffer[uint32], rows int) error {
	return w.launchPass(q, device.Blocks(1<<rows, passWarps), sums, elements, masks, rows, w.points/unit, w.points/unit>>rows)
}

// passShared is the shared memory of a block of the pass: elements and parities.
func (w window) passShared() int { return passWarps * (passStages*unit*16 + w.groups()*32*4) }

func (w window) launchPass(q *device.Queue, blocks int, sums, elements, masks device.Buffer[uint32], rows, units, period int) error {
	return q.Launch(device.Kernel{Source: windowSource, Name: "binary_window_pass"}, device.D1(blocks), device.D1(32*passWarps), w.passShared(),
		sums.Arg(), elements.Arg(), masks.Arg(), device.U32(w.groups()), device.U32(rows), device.U32(units), device.U32(period))
}

// fragmentWords is the size of the matrices of a fold by k challenges: 2^k of 128x128 bits.
func fragmentWords(k int) int { return 512 << k }

// foldRows is how many entries a warp of the fold by k challenges does at a time.
func foldRows(k int) int {
	if k == 4 {
		return 32
	}
	return 64
}

// fold takes one challenge, three or four, and leaves in out, of `entries` elements, the elements of all 2^k prefixes of in, each
// times its matrix. entries is a multiple of 64.
func fold(q *device.Queue, k int, out, in, fragments device.Buffer[uint32], entries int) error {
	shared := 4*fragmentWords(k) + foldWarps*foldRows(k)<<k*16
	blocks := min(foldPerUnit*q.Device().Info().Units, device.Blocks(entries, foldWarps*foldRows(k)))
	return q.Launch(device.Kernel{Source: foldSource, Name: fmt.Sprintf("binary_fold%d", k)}, device.D1(blocks), device.D1(32*foldWarps), shared,
		out.Arg(), in.Arg(), fragments.Arg(), device.U64(entries))
}
