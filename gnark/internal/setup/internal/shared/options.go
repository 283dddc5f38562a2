package shared

import (
	"context"
	"io"
	"log/slog"
	"time"
)

// Options are those of package setup.
type Options struct {
	// Device is where points are multiplied, as device.OpenList takes it, of several devices
	// the first; "" is "auto", which takes the CPU for small systems, and where the GPU is
	// short of memory or fails.
	Device string
	// Random is where the trapdoor comes from, nil for crypto/rand. A reader that gives the
	// same bytes again gives the same keys again, and a trapdoor that is known.
	Random io.Reader
	// Log is told the seconds of every stage; nil for none.
	Log *slog.Logger
	// Progress is told how much of a stage is done, in constraints or points; nil for none.
	// It is called by one goroutine at a time.
	Progress Progress
	// NoTables leaves the tables of powers out of the key's domain, four elements of the
	// scalar field for each constraint, which gnark's prover on the CPU then makes for every
	// proof. In the key's file that is one byte's difference from gnark's.
	NoTables bool
}

// Progress is told how much of a stage is done.
type Progress func(stage string, done, total int)

// Report calls p, if there is one.
func (p Progress) Report(stage string, done, total int) {
	if p != nil {
		p(stage, done, total)
	}
}

// Stage begins a stage, and returns what ends it: it logs the time.
func (o *Options) Stage(ctx context.Context, name string) (end func()) {
	if o.Log == nil {
		return func() {}
	}
	start := time.Now()
	return func() { o.Log.InfoContext(ctx, "setup", "stage", name, "seconds", time.Since(start).Seconds()) }
}
