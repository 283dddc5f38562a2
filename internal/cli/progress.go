package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress shows how far a verb has come: a bar on a terminal, a line every
// few seconds elsewhere, always on standard error. Its methods may be called
// from any goroutine.
type progress struct {
	mu      sync.Mutex
	verb    string
	stage   string
	since   time.Time
	done    int
	total   int
	lines   io.Writer // plain mode
	last    time.Time
	group   *mpb.Progress // bar mode
	bar     *mpb.Bar
	trace   *tracer
	timings []stageTime
}

type stageTime struct {
	Name string
	Time time.Duration
}

// lineEvery is the least time between two lines of plain progress.
const lineEvery = 3 * time.Second

// startProgress begins showing progress of a verb with about total stages.
func (a *app) startProgress(verb string, total int) *progress {
	p := &progress{verb: verb, total: total, last: time.Now(), trace: a.trace}
	switch {
	case a.progress == "none" || a.quiet:
	case a.progress == "auto" && a.Terminal:
		p.group = mpb.New(mpb.WithOutput(a.Err), mpb.WithWidth(40), mpb.WithAutoRefresh())
		p.bar = p.group.AddBar(int64(total),
			mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(verb, decor.WC{C: decor.DindentRight | decor.DextraSpace})),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.caption() })))
	default:
		p.lines = a.Err
	}
	return p
}

func (p *progress) caption() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage == "" {
		return ""
	}
	return fmt.Sprintf(" %s %s", p.stage, durationText(time.Since(p.since)))
}

// begin ends the running stage, if any, and begins another.
func (p *progress) begin(stage string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish()
	p.stage, p.since = stage, time.Now()
	if p.lines != nil && time.Since(p.last) >= lineEvery {
		p.last = time.Now()
		fmt.Fprintf(p.lines, "zkwarp %s: %s (stage %d of %d)\n", p.verb, oneLine(stage), p.done+1, max(p.total, p.done+1))
	}
}

// rename gives the running stage another text, such as how far it is, and in plain mode
// prints it every few seconds.
func (p *progress) rename(stage string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage == "" {
		p.since = time.Now()
	}
	p.stage = stage
	if p.lines != nil && time.Since(p.last) >= lineEvery {
		p.last = time.Now()
		fmt.Fprintf(p.lines, "zkwarp %s: %s, %s (stage %d of %d)\n", p.verb, oneLine(stage), durationText(time.Since(p.since)), p.done+1, max(p.total, p.done+1))
	}
}

// count records that one of several things that run side by side has ended.
func (p *progress) count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage = ""
	p.done++
	if p.bar != nil {
		p.bar.SetCurrent(int64(p.done))
	}
}

// step tells what the running stage begins to do: at once, so that one that hangs is seen.
func (p *progress) step(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines != nil {
		p.last = time.Now()
		fmt.Fprintf(p.lines, "zkwarp %s: %s, %s: %s\n", p.verb, oneLine(p.stage), durationText(time.Since(p.since)), oneLine(text))
	}
}

// finish records the running stage. The caller holds the lock.
func (p *progress) finish() {
	if p.stage == "" {
		return
	}
	took := time.Since(p.since)
	p.timings = append(p.timings, stageTime{p.stage, took})
	p.trace.span(p.stage, "stage", p.since, took)
	p.stage = ""
	p.done++
	if p.bar != nil {
		if p.done >= p.total { // more stages than announced
			p.total = p.done + 1
			p.bar.SetTotal(int64(p.total), false)
		}
		p.bar.SetCurrent(int64(p.done))
	}
}

// end takes the bar away and returns how long each stage took.
func (p *progress) end() []stageTime {
	p.mu.Lock()
	p.finish()
	out := p.timings
	p.mu.Unlock()
	if p.bar != nil {
		p.bar.Abort(true)
		p.group.Wait()
		p.bar = nil
	}
	return out
}
