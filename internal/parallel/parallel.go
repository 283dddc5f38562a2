// Package parallel splits loops over the machine's cores.
package parallel

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// For calls body on disjoint ranges that cover [0, n). Ranges hold at least
// grain indices (but for the last), and at most GOMAXPROCS calls run at once;
// with one range body runs on the caller's goroutine. Results must not depend
// on how the range is split. If the caller's goroutine panics on faults
// (debug.SetPanicOnFault), a fault in any of them is a panic of the caller.
func For(n, grain int, body func(lo, hi int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	workers := min(runtime.GOMAXPROCS(0), (n+grain-1)/grain)
	if workers <= 1 {
		body(0, n)
		return
	}
	guarded := debug.SetPanicOnFault(true)
	debug.SetPanicOnFault(guarded)
	var fault atomic.Value
	if guarded {
		inner := body
		body = func(lo, hi int) {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				switch r := recover().(type) {
				case nil:
				case interface{ Addr() uintptr }:
					fault.CompareAndSwap(nil, caught{r})
				default:
					panic(r)
				}
			}()
			inner(lo, hi)
		}
	}
	// A few chunks a worker even out uneven progress.
	chunk := max(grain, (n+4*workers-1)/(4*workers))
	var next, done atomic.Int64
	last := make(chan struct{})
	run := func() {
		for {
			lo := int(next.Add(int64(chunk))) - chunk
			if lo >= n {
				return
			}
			hi := min(lo+chunk, n)
			body(lo, hi)
			if done.Add(int64(hi-lo)) == int64(n) {
				close(last)
			}
		}
	}
	// The caller works too, and waits for indices, not for goroutines: waking a
	// thread can take longer than a short loop, and who wakes up when nothing is
	// left need not be waited for.
	for range workers - 1 {
		go run()
	}
	run()
	<-last
	if f, ok := fault.Load().(caught); ok {
		panic(f.reason)
	}
}

// caught is the runtime's error for a fault.
type caught struct{ reason any }
