package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/transcript"
)

// grindThreads is the block of the search, grindBlocks the most that it has for
// each multiprocessor: more would not all be there at once, and those that come
// late hold smaller nonces.
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
	return t.launchGrind(list, absorb, bits, uint64(grindFactor)<<bits, nonce, dst)
}

// launchGrind searches among the nonces below end.
func (t *Of[W, E]) launchGrind(list device.Buffer[W], absorb, bits int, end uint64, nonce device.Buffer[W], dst device.Buffer[E]) error {
	return t.q.Launch(t.kernel("transcript_grind"), device.D1(searchBlocks(bits, t.q.Device().Info().Units)), device.D1(grindThreads), 0,
		t.state.Arg(), list.Arg(), device.U32(list.Len()), device.U32(absorb), device.U32(bits), device.U64(end),
		nonce.Arg(), dst.Arg(), device.U32(dst.Len()*t.variant.Degree()))
}

// searchBlocks is the grid of a search for so much work. A thread tries one nonce
// in about the time that four warps of a multiprocessor do, so that up to a block
// for each of them costs nothing, and makes a second try unlikely; beyond, twice as
// many threads as tries are expected are a good choice.
func searchBlocks(bits, multiprocessors int) int {
	most, twice := device.Blocks(16<<bits, grindThreads), device.Blocks(2<<bits, grindThreads)
	return min(max(twice, min(most, multiprocessors)), grindBlocks*multiprocessors)
}
