package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	merkleprover "github.com/zkwarp/zkwarp/merkle/prover"
	ntt "github.com/zkwarp/zkwarp/ntt/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// Preload brings the prover's kernels, and the tables of its transforms, to q's
// device and waits for them, so that the first proof need not. The tables stay
// there.
func (p *Prover[W, F, E]) Preload(q *device.Queue) error {
	if q.OnHost() {
		return nil
	}
	units := append(merkleprover.SourcesOf(p.v.scheme.Hash), p.v.units.source)
	if p.v.units == unitM31 {
		units = append(units, packedSource)
	}
	if err := q.Device().Preload(units...); err != nil {
		return fmt.Errorf("whir: preload: %w", err)
	}
	return ntt.Preload(q, p.v.field)
}

// PreloadM31 is Preload for commitments to Mersenne-31 tables.
func PreloadM31(q *device.Queue) error { return CM31(whir.Poseidon2).Preload(q) }
