package device

import "github.com/zkwarp/zkwarp/device/internal/driver"

// Graph is launches that are enqueued together, at a fraction of the time that
// they take one by one. Like its queue it is used by one goroutine at a time.
type Graph struct {
	q        *Queue
	g        driver.Graph
	launches int64
}

// Record calls op, which launches kernels on q and does nothing else with it,
// and keeps the launches instead of running them. Buffers that they use must
// not be freed before the graph. Only CUDA devices record (ErrUnavailable), and
// neither with a tracer nor when launches are waited for (ErrUsage).
func (q *Queue) Record(op func() error) (*Graph, error) {
	if err := q.Err(); err != nil {
		return nil, err
	}
	r, ok := q.stream.(driver.Recorder)
	if !ok {
		return nil, &Error{Device: q.dev.name, Op: "record", Text: "no graphs on this device", Class: ErrUnavailable}
	}
	if q.trace != nil || q.dev.wait {
		return nil, usage(q.dev.name, "record", "launches are traced or waited for")
	}
	before := q.stats.Launches
	g, err := r.Record(op)
	out := &Graph{q: q, g: g, launches: q.stats.Launches - before}
	q.stats.Launches = before
	if err != nil {
		return nil, q.done(err)
	}
	return out, nil
}

// Launch enqueues the recorded launches.
func (g *Graph) Launch() error {
	if err := g.q.Err(); err != nil {
		return err
	}
	g.q.stats.Launches += g.launches
	return g.q.done(g.g.Launch())
}

// Free releases the graph. It may be called more than once.
func (g *Graph) Free() error { return g.q.done(g.g.Close()) }
