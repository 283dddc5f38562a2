package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// partProgress shows how far the parts of a chain are, on all devices at once.
type partProgress struct {
	mu    sync.Mutex
	p     *progress
	doing map[string]string // by device
	since map[string]time.Time
}

// startParts begins showing progress of a verb with so many parts.
func (a *app) startParts(verb string, parts int) *partProgress {
	return &partProgress{p: a.startProgress(verb, parts), doing: map[string]string{}, since: map[string]time.Time{}}
}

// begin notes what a device does about a part from now on.
func (p *partProgress) begin(dev string, k int, stage string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave(dev)
	p.doing[dev], p.since[dev] = fmt.Sprintf("part %d: %s", k+1, stage), time.Now()
	p.p.rename(p.text())
}

// leave ends what a device was doing. The caller holds the lock.
func (p *partProgress) leave(dev string) {
	if what, ok := p.doing[dev]; ok {
		p.p.trace.span(what, "stage on "+dev, p.since[dev], time.Since(p.since[dev]))
		delete(p.doing, dev)
	}
}

// done counts a part as finished.
func (p *partProgress) done(dev string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave(dev)
	p.p.count()
	if text := p.text(); text != "" {
		p.p.rename(text)
	}
}

func (p *partProgress) text() string {
	var parts []string
	for dev, what := range p.doing {
		parts = append(parts, dev+" "+what)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func (p *partProgress) end() {
	p.mu.Lock()
	p.p.count() // what was under way when it ended is no stage of its own
	p.mu.Unlock()
	p.p.end()
}
