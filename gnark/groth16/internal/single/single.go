// Package single lets one goroutine at a time do something with an object.
//
// gnark's solver keeps the entries of lookup tables, which may be values of a witness,
// in the constraint system itself (constraint.BlueprintStateful): of two solutions at a
// time one reads the other's.
package single

import (
	"context"
	"sync"
)

// Turns are the turns at objects. The zero value is ready. It keeps nothing of an object
// that nobody is at.
type Turns struct {
	mu sync.Mutex
	at map[any]*turn
}

type turn struct {
	token chan struct{} // empty while somebody is at the object
	users int           // who have it, or wait
}

// Take waits for the turn at x, a pointer, or for the context's end. Leave gives it to
// the next.
func (t *Turns) Take(ctx context.Context, x any) (leave func(), err error) {
	t.mu.Lock()
	if t.at == nil {
		t.at = map[any]*turn{}
	}
	mine := t.at[x]
	if mine == nil {
		mine = &turn{token: make(chan struct{}, 1)}
		mine.token <- struct{}{}
		t.at[x] = mine
	}
	mine.users++
	t.mu.Unlock()

	gone := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.users--; mine.users == 0 {
			delete(t.at, x)
		}
	}
	select {
	case <-mine.token:
		return func() {
			mine.token <- struct{}{}
			gone()
		}, nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
}

// Solving is the turns of all provers of the process at solving a constraint system.
var Solving Turns
