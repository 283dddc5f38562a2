package cli

import (
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/device"
)

// tracer collects spans for --trace, in the Chrome trace event format that
// Perfetto and chrome://tracing read. A nil tracer collects nothing.
type tracer struct {
	mu     sync.Mutex
	start  time.Time
	events []traceEvent
	tracks map[string]int
}

type traceEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	Micro float64        `json:"ts"`
	Took  float64        `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

func newTracer() *tracer {
	return &tracer{start: time.Now(), tracks: map[string]int{}}
}

// span records something that began at a time and took so long; spans of one
// category share a track.
func (t *tracer) span(name, category string, began time.Time, took time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, traceEvent{
		Name: name, Cat: category, Phase: "X",
		Micro: float64(began.Sub(t.start)) / 1e3, Took: float64(took) / 1e3,
		PID: os.Getpid(), TID: t.track(category),
	})
}

// Trace makes a tracer one of queues: it takes their kernels, copies and waits.
func (t *tracer) Trace(e device.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	event := traceEvent{
		Name: e.Name, Cat: e.Category, Phase: "X",
		Micro: float64(e.Start.Sub(t.start)) / 1e3, Took: float64(e.Duration) / 1e3,
		PID: os.Getpid(), TID: t.track(e.Device + " " + e.Category),
	}
	if e.Bytes > 0 {
		event.Args = map[string]any{"bytes": e.Bytes}
	}
	t.events = append(t.events, event)
}

// track numbers the categories and names their tracks.
func (t *tracer) track(category string) int {
	id, ok := t.tracks[category]
	if !ok {
		id = len(t.tracks) + 1
		t.tracks[category] = id
		t.events = append(t.events, traceEvent{Name: "thread_name", Phase: "M", PID: os.Getpid(), TID: id,
			Args: map[string]any{"name": category}})
	}
	return id
}

// encode is the trace as a JSON file.
func (t *tracer) encode() ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return json.Marshal(map[string]any{"traceEvents": t.events, "displayTimeUnit": "ms"})
}
