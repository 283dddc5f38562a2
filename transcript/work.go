package transcript

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// MaxWorkBits limits proof of work. Words below the modulus have their low b bits
// zero with a probability of no more than 2^(0.1-b) for b up to here, and a search
// over the two-word nonce does not run out.
const MaxWorkBits = 30

// WorkWorth is the number of bits that the required work, up to MaxWorkBits, takes
// from an attacker's chance over the field with p elements: log2 of the expected
// number of tries. That is a little less than bits, because zero has its low bits
// zero too.
func WorkWorth(p uint64, bits int) float64 {
	return math.Log2(float64(p) / float64((p-1)>>bits+1))
}

// ErrWork is returned for a nonce that does not do the required work.
var ErrWork = errors.New("transcript: proof of work")

// NonceOf is the proof of work N = n0 + p*n1 as the words n0, n1 of the field
// with p elements.
type NonceOf[W any] = [2]W

// Nonce is one over Mersenne-31.
type Nonce = NonceOf[m31.Element]

// CheckWork is the verifier's side of Grind: it absorbs the nonce as a list of
// two words and squeezes a word, whose low bits must be zero. With bits = 0
// there is no work: the nonce must be zero and the transcript stays as it is.
func (t *Of[W, E]) CheckWork(bits int, n NonceOf[W]) error {
	if bits < 0 || bits > MaxWorkBits {
		return fmt.Errorf("%w: %d bits of work", ErrBits, bits)
	}
	if err := canonical[W](n[:]); err != nil {
		return fmt.Errorf("%w: nonce: %w", ErrWork, err)
	}
	if bits == 0 {
		if n != (NonceOf[W]{}) {
			return fmt.Errorf("%w: a nonce where no work is due", ErrWork)
		}
		return nil
	}
	t.Absorb(n[:])
	if w := t.Squeeze().Uint32(); w&(1<<bits-1) != 0 {
		return fmt.Errorf("%w: %d bits required of %#x", ErrWork, bits, w)
	}
	return nil
}

// Grind finds the smallest nonce that CheckWork accepts and leaves the
// transcript as CheckWork would. It takes 2^bits permutations on average (up
// to twice as many if the nonce straddles two blocks), on all cores.
func (t *Of[W, E]) Grind(bits int) (NonceOf[W], error) {
	if bits < 0 || bits > MaxWorkBits {
		return NonceOf[W]{}, fmt.Errorf("%w: %d bits of work", ErrBits, bits)
	}
	if bits == 0 {
		return NonceOf[W]{}, nil
	}
	base := t.Clone()
	base.put(word[W](2)) // the list's length is the same for all nonces
	const none = 1<<64 - 1
	lanes := t.variant.permutation.Lanes
	// Little work is not worth waking other cores for. A batch is whole lanes.
	batch := uint64(1) << min(max(bits, 7), 18)
	for lo := uint64(0); ; lo += batch {
		var best atomic.Uint64
		best.Store(none)
		parallel.For(int(batch), 1<<10, func(a, b int) {
			s := make([]W, 16*lanes)
			for i := a; i < b; i += lanes {
				n := lo + uint64(i)
				if n >= best.Load() {
					return
				}
				base.tryNonces(s, n)
				for j, w := range s[:lanes] {
					if w.Uint32()&(1<<bits-1) == 0 {
						storeMin(&best, n+uint64(j))
						return
					}
				}
			}
		})
		if n := best.Load(); n != none {
			nonce := NonceFrom[W](n)
			return nonce, t.CheckWork(bits, nonce)
		}
	}
}

// tryNonces leaves in the first words of s those that would be squeezed after
// each of the nonces n, n+1, ... were absorbed; their length has been. s has room
// for the states of all lanes.
func (t *Of[W, E]) tryNonces(s []W, n uint64) {
	lanes := t.variant.permutation.Lanes
	for k, w := range t.words {
		for j := range lanes {
			s[k*lanes+j] = w
		}
	}
	at := t.at
	for half := range 2 {
		// The words n mod p and n / p of each nonce.
		nonce := NonceFrom[W](n)
		one, p := word[W](1), uint64(modulus[W]())
		low := n % p
		for j := range lanes {
			s[at*lanes+j] = nonce[half]
			if low++; low == p {
				low, nonce = 0, NonceOf[W]{0, nonce[1].Add(one)}
			} else {
				nonce[0] = nonce[0].Add(one)
			}
		}
		if at++; at == Rate {
			t.variant.permutation.Many16(s)
			at = 0
		}
	}
	t.variant.permutation.Many16(s)
}

// NonceFrom is the nonce n, which must be below p^2.
func NonceFrom[W field.Base[W]](n uint64) NonceOf[W] {
	p := uint64(modulus[W]())
	return NonceOf[W]{word[W](n % p), word[W](n / p)}
}

func storeMin(a *atomic.Uint64, n uint64) {
	for {
		old := a.Load()
		if n >= old || a.CompareAndSwap(old, n) {
			return
		}
	}
}
