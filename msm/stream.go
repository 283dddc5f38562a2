package msm

import (
	"context"
	"fmt"
	"sync"
)

// SumMany is Sum for several lists of scalars. While a device adds up one, the scalars
// of the next come and are sorted, and the host adds up the windows of the one before.
func (b *Bases[P, S]) SumMany(ctx context.Context, scalars [][]S) ([]P, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]P, len(scalars))
	var wg sync.WaitGroup
	next := make(chan int)
	const atATime = 3
	for range min(atATime, len(scalars)) {
		wg.Go(func() {
			for i := range next {
				var err error
				if out[i], err = b.Sum(ctx, scalars[i]); err != nil {
					cancel(fmt.Errorf("msm: sum %d: %w", i, err))
				}
			}
		})
	}
	for i := range scalars {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, nil
}
