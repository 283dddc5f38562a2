package single

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestTurns(t *testing.T) {
	var turns Turns
	var x, y int
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 100 {
				leave, err := turns.Take(context.Background(), &x)
				if err != nil {
					t.Error(err)
					return
				}
				x++
				leave()
			}
		})
	}
	wg.Wait()
	if x != 5000 {
		t.Errorf("%d turns, want 5000", x)
	}
	leave, err := turns.Take(context.Background(), &x)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := turns.Take(ctx, &x); !errors.Is(err, context.Canceled) {
		t.Errorf("a turn that is taken, with a context at its end: %v", err)
	}
	other, err := turns.Take(context.Background(), &y) // another object waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	other()
	leave()
	if len(turns.at) != 0 {
		t.Errorf("%d objects are kept", len(turns.at))
	}
}
