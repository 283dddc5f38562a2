package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// searcher is a transcript of the host whose proofs of work are searched for on
// a device: the same nonces, and what openings wait for does not depend on how
// many cores there are.
type searcher struct {
	*transcript.Transcript
	q *device.Queue
}

// leastBits is the work that is worth the launches and the wait: one core does
// less in about as long.
const leastBits = 10

// Grind is the transcript's.
func (s searcher) Grind(bits int) (transcript.Nonce, error) {
	if s.q.OnHost() || bits < leastBits || bits > transcript.MaxWorkBits {
		return s.Transcript.Grind(bits)
	}
	tr, err := transcriptprover.FromHost(s.q, s.Transcript)
	if err != nil {
		return transcript.Nonce{}, err
	}
	defer tr.Free()
	found, err := device.Alloc[m31.Element](s.q, 2)
	if err != nil {
		return transcript.Nonce{}, fmt.Errorf("work: %w", err)
	}
	defer found.Free()
	if err := tr.Grind(bits, found); err != nil {
		return transcript.Nonce{}, fmt.Errorf("work: %w", err)
	}
	var nonce transcript.Nonce
	if err := found.CopyTo(s.q, nonce[:]); err != nil {
		return nonce, fmt.Errorf("work: %w", err)
	}
	// A search that has failed is seen here.
	return nonce, s.CheckWork(bits, nonce)
}
