package device

import (
	"context"
	"time"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// Tracer is told what queues do. It is called from the goroutine of the queue,
// for device work once the queue has waited for it, and so not in the order of
// the start times.
type Tracer interface {
	Trace(Event)
}

// Event is something that took time.
type Event struct {
	Device   string
	Category string // one of the categories below
	Name     string // a kernel, a stage
	Start    time.Time
	Duration time.Duration
	Bytes    int64 // copied
}

// Categories of events. Kernels and copies to the device have the device's
// times where it can tell them.
const (
	TraceStage  = "stage"  // host time of a Span
	TraceDevice = "device" // device time of a Span's work
	TraceKernel = "kernel"
	TraceCopy   = "copy"
	TraceWait   = "wait" // the host waited
)

type tracerKey struct{}

// WithTracer returns a context that makes queues report to t.
func WithTracer(ctx context.Context, t Tracer) context.Context {
	return context.WithValue(ctx, tracerKey{}, t)
}

// Traced says whether queues with the context report to a tracer.
func Traced(ctx context.Context) bool { return ctx.Value(tracerKey{}) != nil }

// trace is a queue's connection to its tracer.
type trace struct {
	to     Tracer
	device string
	timer  driver.Timer // nil where work is over when its call returns

	base    driver.Mark // a mark of known time
	zero    time.Time   // that time
	pending []pendingEvent
}

type pendingEvent struct {
	e        Event
	from, to driver.Mark
}

// newTrace is nil without a tracer.
func newTrace(q *Queue) *trace {
	to, ok := q.ctx.Value(tracerKey{}).(Tracer)
	if !ok || to == nil {
		return nil
	}
	t := &trace{to: to, device: q.dev.name}
	t.timer, _ = q.stream.(driver.Timer)
	if t.timer == nil {
		return t
	}
	base, err := t.timer.Mark()
	if err == nil {
		err = q.stream.Sync()
	}
	if err != nil {
		t.timer = nil // host times are better than none
		return t
	}
	t.base, t.zero = base, time.Now()
	return t
}

// run does op and reports it with the device's time. The caller has checked
// that t is not nil.
func (t *trace) run(category, name string, bytes int64, op func() error) error {
	e := Event{Device: t.device, Category: category, Name: name, Bytes: bytes, Start: time.Now()}
	from := t.mark()
	err := op()
	if to := t.mark(); from != nil && to != nil {
		t.pending = append(t.pending, pendingEvent{e, from, to})
		return err
	}
	e.Duration = time.Since(e.Start)
	t.to.Trace(e)
	return err
}

// wait does op, after which all work of the queue is over, and reports it with
// the host's time, and everything that was waited for.
func (t *trace) wait(category, name string, bytes int64, op func() error) error {
	if t == nil {
		return op()
	}
	e := Event{Device: t.device, Category: category, Name: name, Bytes: bytes, Start: time.Now()}
	err := op()
	e.Duration = time.Since(e.Start)
	t.to.Trace(e)
	if err == nil {
		t.resolve()
	}
	return err
}

func (t *trace) mark() driver.Mark {
	if t.timer == nil {
		return nil
	}
	m, err := t.timer.Mark()
	if err != nil {
		return nil // the operation itself reports what is wrong
	}
	return m
}

// resolve reports the device's times of work that is over.
func (t *trace) resolve() {
	for _, p := range t.pending {
		start, err1 := t.timer.Elapsed(t.base, p.from)
		took, err2 := t.timer.Elapsed(p.from, p.to)
		if err1 == nil && err2 == nil {
			p.e.Start, p.e.Duration = t.zero.Add(start), took
			t.to.Trace(p.e)
		}
		_, _ = t.timer.Drop(p.from), t.timer.Drop(p.to)
	}
	t.pending = t.pending[:0]
}

// close releases the marks.
func (t *trace) close() {
	if t != nil && t.base != nil {
		_ = t.timer.Drop(t.base)
	}
}

// Span starts a stage of the work and returns what ends it; stages may nest:
//
//	defer q.Span("lookups")()
//
// Without a tracer it costs nothing.
func (q *Queue) Span(name string) (end func()) {
	t := q.trace
	if t == nil {
		return func() {}
	}
	e := Event{Device: t.device, Category: TraceStage, Name: name, Start: time.Now()}
	from := t.mark()
	return func() {
		e.Duration = time.Since(e.Start)
		t.to.Trace(e)
		if to := t.mark(); from != nil && to != nil {
			e.Category = TraceDevice
			t.pending = append(t.pending, pendingEvent{e, from, to})
		}
	}
}
