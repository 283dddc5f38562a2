package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
)

// grindThreads is the block of the search; grindBlocks bounds its grid, so that
// blocks share what they find before they have gone far.
const (
	grindThreads = 128
	grindBlocks  = 1024
)

// grindFactor bounds the search at grindFactor * 2^bits nonces. None of them
// works with probability e^-grindFactor; then the nonce and the transcript come
// out as words that are not canonical, which Host and every verifier reject.
const grindFactor = 96

// Grind writes the smallest nonce that does the work to dst, of two words, and
// goes on as transcript.CheckWork does. With bits = 0 it writes zeros.
func (t *Transcript) Grind(bits int, dst device.Buffer[m31.Element]) error {
	if bits < 0 || bits > transcript.MaxWorkBits {
		return fmt.Errorf("%w: %d bits of work", transcript.ErrBits, bits)
	}
	if dst.Len() != 2 {
		return fmt.Errorf("grind: a nonce has 2 words, the buffer %d", dst.Len())
	}
	if bits == 0 {
		return dst.Zero(t.q)
	}
	if t.host != nil {
		if err := dst.Use(t.q); err != nil {
			return err
		}
		n, err := t.host.Grind(bits)
		if err != nil {
			return err
		}
		copy(dst.Host(), n[:])
		return nil
	}
	best, err := device.Alloc[uint64](t.q, 1)
	if err != nil {
		return fmt.Errorf("grind: %w", err)
	}
	defer best.Free()
	base, err := device.Alloc[m31.Element](t.q, stateWords)
	if err != nil {
		return fmt.Errorf("grind: %w", err)
	}
	defer base.Free()
	one := device.D1(1)
	if err := t.q.Launch(kern("transcript_grind_start"), one, warp, 0, t.state.Arg(), base.Arg(), best.Arg()); err != nil {
		return err
	}
	blocks := min(grindBlocks, device.Blocks(1<<bits, grindThreads))
	if err := t.q.Launch(kern("transcript_grind"), device.D1(blocks), device.D1(grindThreads), 0,
		base.Arg(), device.U32(bits), device.U64(uint64(grindFactor)<<bits), best.Arg()); err != nil {
		return err
	}
	return t.q.Launch(kern("transcript_grind_finish"), one, warp, 0, t.state.Arg(), best.Arg(), dst.Arg())
}
