// Package prover runs the additive NTT of package additive where the data is.
package prover

import (
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/ntt/additive"
)

//go:embed additive.cu
var text string

// Source holds the kernels.
var Source = &kernel.Source{Name: "ntt/additive/prover/additive.cu", Text: text, Headers: []*kernel.Source{kernel.PTX, gf2.Header}}

// Encoder encodes messages on a queue's device. It holds the products of the basis of
// the space with the bits of a word, from which kernels make twiddle factors.
type Encoder struct {
	q        *device.Queue
	products device.Buffer[uint32]
}

// products has gamma_b times bit j at 32 b + j, an element of GF(2^32).
var products = sync.OnceValue(func() []uint32 {
	words := make([]uint32, 0, additive.MaxDim*32)
	for b := range additive.MaxDim {
		for j := range 32 {
			words = append(words, uint32(additive.Basis(b).Mul(gf2.Basis(j)).Lo))
		}
	}
	return words
})

// NewEncoder makes an encoder for a queue.
func NewEncoder(q *device.Queue) (*Encoder, error) {
	e := &Encoder{q: q}
	if q.OnHost() {
		return e, q.Err()
	}
	var err error
	if e.products, err = device.Upload(q, products()); err != nil {
		return nil, fmt.Errorf("additive NTT: %w", err)
	}
	return e, nil
}

// Free gives the encoder's memory back.
func (e *Encoder) Free() { e.products.Free() }

// The kernels' shapes.
const (
	lowLevels  = 5   // of additive_low
	lowSize    = 256 // elements of a block of it
	passLevels = 3   // of a pass at most
	passWarps  = 4   // of a block of a pass
	// repeats is how many times 32 neighbours a warp does with the same tables.
	repeats = 8
)

// Encode enqueues additive.Encode: dst becomes the codeword of the message src. Both
// lengths are powers of two; the two do not overlap.
func (e *Encoder) Encode(dst, src device.Buffer[gf2.Element]) error {
	k, err := additive.Dim("a message", src.Len())
	if err != nil {
		return err
	}
	d, err := additive.Dim("a codeword", dst.Len())
	if err != nil {
		return err
	}
	if d < k {
		return &additive.LengthError{What: "a codeword", Want: src.Len(), Got: dst.Len()}
	}
	if device.Overlap(dst, src) {
		return fmt.Errorf("additive NTT: %w: the codeword overlaps the message", device.ErrUsage)
	}
	if err := errors.Join(dst.Use(e.q), src.Use(e.q)); err != nil {
		return fmt.Errorf("additive NTT: %w", err)
	}
	if e.q.OnHost() {
		return additive.EncodeContext(e.q.Context(), dst.Host(), src.Host())
	}
	if err := e.launch(dst, src, k); err != nil {
		return fmt.Errorf("additive NTT of 2^%d to 2^%d elements: %w", k, d, err)
	}
	return nil
}

// launch enqueues the levels from k-1 down to 0. The first kernel reads the message over
// and over, once for each coset; the others work where the codeword is.
func (e *Encoder) launch(dst, src device.Buffer[gf2.Element], k int) error {
	in, mask := src, uint64(src.Len()-1)
	for level := k; level > lowLevels; {
		// As even as possible.
		passes := (level - lowLevels + passLevels - 1) / passLevels
		n := (level - lowLevels + passes - 1) / passes
		level -= n
		reps := min(repeats, 1<<(level-lowLevels))
		warps := dst.Len() >> (n + 5) / reps
		err := e.q.Launch(device.Kernel{Source: Source, Name: fmt.Sprintf("additive_pass%d", n)},
			device.D1(device.Blocks(warps, passWarps)), device.D1(32*passWarps), 0,
			dst.Arg(), in.Arg(), e.products.Arg(), device.U64(warps), device.U32(level), device.U32(reps), device.U64(mask))
		if err != nil {
			return err
		}
		in, mask = dst, uint64(dst.Len()-1)
	}
	return e.q.Launch(device.Kernel{Source: Source, Name: "additive_low"},
		device.D1(device.Blocks(dst.Len(), lowSize)), device.D1(lowSize/2), 0,
		dst.Arg(), in.Arg(), e.products.Arg(), device.U64(dst.Len()), device.U32(min(k, lowLevels)), device.U64(mask))
}
