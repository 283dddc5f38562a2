package transcript

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// MaxWorkBits limits proof of work. Words below P have their low 30 bits zero
// with a probability of no more than 2^-29.9, and a search over the two-word
// nonce does not run out.
const MaxWorkBits = 30

// ErrWork is returned for a nonce that does not do the required work.
var ErrWork = errors.New("transcript: proof of work")

// Nonce is the proof of work N = n0 + P*n1 as the words n0, n1.
type Nonce = [2]m31.Element

// CheckWork is the verifier's side of Grind: it absorbs the nonce as a list of
// two words and squeezes a word, whose low bits must be zero. With bits = 0
// there is no work: the nonce must be zero and the transcript stays as it is.
func (t *Transcript) CheckWork(bits int, n Nonce) error {
	if bits < 0 || bits > MaxWorkBits {
		return fmt.Errorf("%w: %d bits of work", ErrBits, bits)
	}
	if err := m31.CheckCanonical(n[:]); err != nil {
		return fmt.Errorf("%w: nonce: %w", ErrWork, err)
	}
	if bits == 0 {
		if n != (Nonce{}) {
			return fmt.Errorf("%w: a nonce where no work is due", ErrWork)
		}
		return nil
	}
	t.Absorb(n[:])
	if w := t.Squeeze(); w&(1<<bits-1) != 0 {
		return fmt.Errorf("%w: %d bits required of %#x", ErrWork, bits, uint32(w))
	}
	return nil
}

// Grind finds the smallest nonce that CheckWork accepts and leaves the
// transcript as CheckWork would. It takes 2^bits permutations on average (up
// to twice as many if the nonce straddles two blocks), on all cores.
func (t *Transcript) Grind(bits int) (Nonce, error) {
	if bits < 0 || bits > MaxWorkBits {
		return Nonce{}, fmt.Errorf("%w: %d bits of work", ErrBits, bits)
	}
	if bits == 0 {
		return Nonce{}, nil
	}
	base := t.Clone()
	base.put(2) // the list's length is the same for all nonces
	const none = 1<<64 - 1
	// Little work is not worth waking other cores for.
	batch := uint64(1) << min(max(bits, 7), 16)
	for lo := uint64(0); ; lo += batch {
		var best atomic.Uint64
		best.Store(none)
		parallel.For(int(batch), 1<<10, func(a, b int) {
			for i := a; i < b; i += poseidon2.Lanes {
				n := lo + uint64(i)
				if n >= best.Load() {
					return
				}
				for j, w := range base.tryNonces(n) {
					if w&(1<<bits-1) == 0 {
						storeMin(&best, n+uint64(j))
						return
					}
				}
			}
		})
		if n := best.Load(); n != none {
			nonce := NonceFrom(n)
			return nonce, t.CheckWork(bits, nonce)
		}
	}
}

// tryNonces returns the words that would be squeezed after each of the nonces n,
// n+1, ... were absorbed; their length has been.
func (t *Transcript) tryNonces(n uint64) [poseidon2.Lanes]m31.Element {
	var s [16][poseidon2.Lanes]m31.Element
	for k := range s {
		for j := range s[k] {
			s[k][j] = t.words[k]
		}
	}
	// The words n mod P and n / P of each nonce.
	var nonce [2][poseidon2.Lanes]m31.Element
	low, high := n%m31.P, n/m31.P
	for j := range poseidon2.Lanes {
		nonce[0][j], nonce[1][j] = m31.Element(low), m31.Element(high)
		if low++; low == m31.P {
			low, high = 0, high+1
		}
	}
	at := t.at
	for _, words := range nonce {
		s[at] = words
		if at++; at == Rate {
			poseidon2.PermuteLanes16(&s)
			at = 0
		}
	}
	poseidon2.PermuteLanes16(&s)
	return s[0]
}

// NonceFrom is the nonce n, which must be below P^2.
func NonceFrom(n uint64) Nonce {
	return Nonce{m31.Element(n % m31.P), m31.Element(n / m31.P)}
}

func storeMin(a *atomic.Uint64, n uint64) {
	for {
		old := a.Load()
		if n >= old || a.CompareAndSwap(old, n) {
			return
		}
	}
}
