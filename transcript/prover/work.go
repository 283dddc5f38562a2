package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/transcript"
)

// grindThreads is the block of a search, grindBlocks the most that it has for each
// multiprocessor: so many are there at once (late ones would hold smaller nonces),
// and more do not try more nonces a second.
const (
	grindThreads = 128
	grindBlocks  = 4
)

// grindFactor bounds the search at grindFactor * 2^bits nonces. None of them
// works with probability e^-grindFactor; then the nonce, the transcript and what is
// drawn come out as words that are not canonical, which Host and every verifier
// reject.
const grindFactor = 96

// shortList is the longest list that all blocks of a search absorb, each by itself.
const shortList = 64

// Grind writes the smallest nonce that does the work to dst, of two words, and
// goes on as transcript.CheckWork does. With bits = 0 it writes zeros.
func (t *Of[W, E]) Grind(bits int, dst device.Buffer[W]) error {
	return t.work(device.Buffer[W]{}, absorbNothing, bits, dst, device.Buffer[E]{})
}

// AbsorbGrindChallenge is Absorb, Grind and then Challenge, in one launch where the
// list is short.
func (t *Of[W, E]) AbsorbGrindChallenge(list device.Buffer[W], bits int, nonce device.Buffer[W], dst device.Buffer[E]) error {
	return t.work(list, absorbWords, bits, nonce, dst)
}

// GrindChallenge is Grind and then Challenge, in one launch.
func (t *Of[W, E]) GrindChallenge(bits int, nonce device.Buffer[W], dst device.Buffer[E]) error {
	return t.work(device.Buffer[W]{}, absorbNothing, bits, nonce, dst)
}

func (t *Of[W, E]) work(list device.Buffer[W], absorb, bits int, nonce device.Buffer[W], dst device.Buffer[E]) error {
	if bits < 0 || bits > transcript.MaxWorkBits {
		return fmt.Errorf("%w: %d bits of work", transcript.ErrBits, bits)
	}
	if nonce.Len() != 2 {
		return fmt.Errorf("%w: grind: a nonce has 2 words, the buffer %d", device.ErrUsage, nonce.Len())
	}
	if err := errors.Join(list.Use(t.q), nonce.Use(t.q), dst.Use(t.q)); err != nil {
		return err
	}
	if t.host != nil {
		if absorb == absorbWords {
			t.host.Absorb(list.Host())
		}
		n, err := t.host.Grind(bits)
		if err != nil {
			return err
		}
		copy(nonce.Host(), n[:])
		t.draw(dst)
		return nil
	}
	if bits == 0 {
		return t.launchStep(list, absorb, nonce, dst)
	}
	if t.mode != Chained {
		return t.hostWork(list, absorb, bits, nonce, dst)
	}
	if list.Len() > shortList {
		if err := t.Absorb(list); err != nil {
			return err
		}
		list, absorb = device.Buffer[W]{}, absorbNothing
	}
	warps, blocks := searchGrid(bits, t.q.Device().Info().Units)
	return t.wait(t.launchGrind(warps, blocks, list, absorb, bits, uint64(grindFactor)<<bits, nonce, dst))
}

// warpBits is the most work that is searched for with a warp for each nonce.
const warpBits = 12

// launchGrind searches among the nonces below end, by warps or by threads.
func (t *Of[W, E]) launchGrind(warps bool, blocks int, list device.Buffer[W], absorb, bits int, end uint64, nonce device.Buffer[W], dst device.Buffer[E]) error {
	name := "transcript_grind_threads"
	if warps {
		name = "transcript_grind_warps"
	}
	return t.q.Launch(t.kernel(name), device.D1(blocks), device.D1(grindThreads), 0,
		t.state.Arg(), list.Arg(), device.U32(list.Len()), device.U32(absorb), device.U32(bits), device.U64(end),
		nonce.Arg(), dst.Arg(), device.U32(dst.Len()*t.variant.Degree()))
}

// searchGrid is how a search for so much work goes. Little work is searched for with
// enough warps at once that a second try is unlikely, if they fit; much, with about
// twice as many threads as tries are expected.
func searchGrid(bits, multiprocessors int) (warps bool, blocks int) {
	warps, blocks = bits <= warpBits, device.Blocks(2<<bits, grindThreads)
	if warps {
		blocks = device.Blocks(8<<bits, grindThreads/32)
	}
	return warps, min(blocks, grindBlocks*multiprocessors)
}
