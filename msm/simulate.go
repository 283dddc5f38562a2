package msm

import (
	"context"
	"fmt"
	"time"

	"github.com/zkwarp/zkwarp/device"
)

// Simulation is a multiplication of which more devices than there are did shares, one
// after the other, as DistMSM (ASPLOS 2024, section 5.1) models 16 and 32 GPUs.
type Simulation[P any] struct {
	Sum     P
	Shares  []time.Duration // of each device, from the call to the parts on the host
	Combine time.Duration   // of all devices' parts on the CPU
}

// Total is the time that so many devices would take: the longest share, and Combine.
func (s *Simulation[P]) Total() time.Duration {
	longest := time.Duration(0)
	for _, d := range s.Shares {
		longest = max(longest, d)
	}
	return longest + s.Combine
}

// Simulate does the shares of so many devices in turn, on the first device of the bases,
// where the scalars are. What it makes for a number of devices it keeps: times are those
// of a second call and later ones.
func (b *Bases[P, S]) Simulate(ctx context.Context, scalars device.Buffer[S], devices int) (*Simulation[P], error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, ErrClosed
	}
	if err := sameLength(scalars.Len(), b.n); err != nil {
		return nil, err
	}
	const most = 1 << 20
	if devices < 1 || devices > most || len(b.residents) == 0 {
		return nil, fmt.Errorf("msm: %w: %d simulated devices, bases on %d", ErrInput, devices, len(b.residents))
	}
	w, err := b.windowsFor(b.n, devices)
	if err != nil {
		return nil, err
	}
	src := bufferSource{device.View[uint32](scalars), b.curve.Group.Scalar.Limbs}
	out := &Simulation[P]{}
	var all []Part
	for _, sh := range byBuckets(w, b.n, devices) {
		start := time.Now()
		parts, err := b.residents[0].sums(ctx, src, sh)
		if err != nil {
			return nil, err
		}
		out.Shares = append(out.Shares, time.Since(start))
		all = append(all, parts...)
	}
	start := time.Now()
	out.Sum = b.curve.Host.Combine(all)
	out.Combine = time.Since(start)
	return out, nil
}
