package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/buildinfo"
)

// Case is one thing to measure.
type Case struct {
	Suite string
	Name  string
	About string
	// Large cases run on the CPU only when a pattern names them alone.
	Large bool
	// Kernels must all have run when the case is recorded on a GPU; with
	// none listed, some kernel must have.
	Kernels []string
	// GPU cases are about the card itself and do not run on the CPU.
	GPU bool
	// CPU cases are about the processor and run with no other device.
	CPU bool
	Run func(*Env) ([]Measurement, error)
	// Rows, in place of Run, sums up the rows of the cases before it.
	Rows func([]Row) ([]Measurement, error)
}

// Measurement is what a case found, for one metric.
type Measurement struct {
	Metric  string
	Unit    string
	Samples []float64
	Cold    float64
	Proof   string // SHA-256 of the proof made, if any
	Note    string
}

// Env is what a case works with.
type Env struct {
	Ctx     context.Context
	Queue   *device.Queue
	Rand    *rand.Rand
	Seed    uint64
	Samples int
	// Step, if set, is told what a case of minutes begins to do.
	Step func(text string)
	// weightBits is the width of weights where it is not the default.
	weightBits int
}

// narrow is an Env for networks with weights of a byte each.
func (e *Env) narrow() *Env {
	c := *e
	c.weightBits = 8
	return &c
}

// step tells of a step that begins.
func (e *Env) step(format string, args ...any) {
	if e.Step != nil {
		e.Step(fmt.Sprintf(format, args...))
	}
}

// Time runs op once cold, once to warm up, and then Samples times, each
// with repeat calls between two waits for the device, and returns milliseconds
// a call. prepare, which may be nil, runs untimed before each sample.
func (e *Env) Time(metric string, repeat int, prepare, op func() error) (Measurement, error) {
	m := Measurement{Metric: metric, Unit: "ms"}
	for i := range e.Samples + 2 {
		if prepare != nil {
			if err := prepare(); err != nil {
				return m, err
			}
		}
		if err := e.Queue.Sync(); err != nil {
			return m, err
		}
		calls := repeat
		if i == 0 {
			calls = 1
		}
		start := time.Now()
		for range calls {
			if err := op(); err != nil {
				return m, err
			}
		}
		if err := e.Queue.Sync(); err != nil {
			return m, err
		}
		ms := float64(time.Since(start)) / 1e6 / float64(calls)
		switch i {
		case 0:
			m.Cold = ms
		case 1: // warm-up
		default:
			m.Samples = append(m.Samples, ms)
		}
	}
	return m, nil
}

// rate turns a measurement in ms into one of work per second in some unit:
// work is per call, scale the unit's size.
func rate(m Measurement, metric, unit string, work, scale float64) Measurement {
	convert := func(ms float64) float64 { return work / (ms / 1e3) / scale }
	out := Measurement{Metric: metric, Unit: unit, Proof: m.Proof, Note: m.Note}
	for _, ms := range m.Samples {
		out.Samples = append(out.Samples, convert(ms))
	}
	if m.Cold > 0 {
		out.Cold = convert(m.Cold)
	}
	return out
}

// Constant is a measurement of what does not vary, or was measured once: then note says so.
// The value stands in for as many samples, with the digest of a proof if it is of one.
func Constant(metric, unit string, v float64, note, proof string, samples int) Measurement {
	return Measurement{Metric: metric, Unit: unit, Samples: slices.Repeat([]float64{v}, samples), Note: note, Proof: proof}
}

// WatchMemory samples how much memory a device's buffers take until the
// function that it returns is called, which tells the most that was seen.
func WatchMemory(d *device.Device) func() int64 {
	stop := make(chan struct{})
	var done sync.WaitGroup
	var most int64
	done.Go(func() {
		tick := time.NewTicker(200 * time.Microsecond)
		defer tick.Stop()
		for {
			most = max(most, d.InUse())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	return func() int64 {
		close(stop)
		done.Wait()
		return most
	}
}

// Cases lists all cases of this module, suite by suite.
func Cases() []Case {
	return slices.Concat(cardCases(), m31Cases(), whirCases(), msmCases(), productCases(), accumulateCases(), msmFieldCases(), binaryCases(), zkmlCases())
}

// Suites lists the names of the suites of Cases.
func Suites() []string { return suites(Cases()) }

func suites(cases []Case) []string {
	var out []string
	for _, c := range cases {
		if len(out) == 0 || out[len(out)-1] != c.Suite {
			out = append(out, c.Suite)
		}
	}
	return out
}

// Options of a run.
type Options struct {
	Suite string
	// Cases are what there is to choose from, suite by suite, for programs that have cases
	// of their own; none stands for those of the function Cases.
	Cases   []Case
	Pattern string // regular expression over case names, where "2^" is literal; "" for all
	Device  string
	Samples int
	Seed    uint64
	Command string
	// Record makes a row's missing commit, or a GPU row without launches, an error.
	Record bool
	// SimulateGPUs adds cases to suite msm that simulate so many, up to MaxSimulated.
	SimulateGPUs int
	// Begin, if set, is told before each case.
	Begin func(name string)
	// Step, if set, is told of the steps of cases that take minutes.
	Step func(text string)
	// Skip, if set, is told of each case that is left out, and why.
	Skip func(name string, err error)
}

// Command is the line that repeats a run, for Options: a program and its arguments but for
// --results, which says where rows go and not how they come about.
func Command(program string, args []string) string {
	line := []string{program}
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--results":
			i++
		case strings.HasPrefix(args[i], "--results="):
		default:
			line = append(line, args[i])
		}
	}
	return strings.Join(line, " ")
}

// ErrSkip is the class of errors of cases that a machine is too small for: they are
// left out, and the others run.
var ErrSkip = errors.New("this machine is too small")

// Select returns the cases that a run with these options measures.
func Select(o Options, kind device.Kind) ([]Case, error) {
	// Names are full of powers of two, so "2^" means just that.
	pattern, err := regexp.Compile(strings.ReplaceAll(o.Pattern, "2^", `2\^`))
	if err != nil {
		return nil, fmt.Errorf("--case: %w", err)
	}
	var out []Case
	known := false
	all := o.Cases
	if all == nil {
		all = Cases()
	}
	if o.SimulateGPUs > 0 {
		all = append(all, simulatedCases(o.SimulateGPUs)...)
	}
	for _, c := range all {
		if c.Suite != o.Suite {
			continue
		}
		known = true
		named := o.Pattern != ""
		switch {
		case named && !pattern.MatchString(c.Name):
		case c.GPU && kind == device.CPU:
		case c.CPU && kind != device.CPU:
		case c.Large && kind != device.CUDA && !named:
		default:
			out = append(out, c)
		}
	}
	if !known {
		return nil, fmt.Errorf("no suite %q; there are %s", o.Suite, strings.Join(suites(all), ", "))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("suite %s has no case for this device that matches %q", o.Suite, o.Pattern)
	}
	return out, nil
}

// ErrRecord marks what a recorded run may not do.
var ErrRecord = errors.New("--record refused")

// Run measures and returns complete rows.
func Run(ctx context.Context, o Options) ([]Row, error) {
	build := buildinfo.Get()
	commit := build.Commit
	if o.Record {
		var err error
		if commit, err = build.CleanCommit(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRecord, err)
		}
		if o.Samples < MinSamples {
			return nil, fmt.Errorf("%w: %d samples, want at least %d", ErrRecord, o.Samples, MinSamples)
		}
	}
	binary, err := buildinfo.BinaryDigest()
	if err != nil {
		return nil, err
	}
	dev, err := device.Open(o.Device)
	if err != nil {
		return nil, err
	}
	cases, err := Select(o, dev.Kind())
	if err != nil {
		return nil, err
	}
	if o.Record && o.Suite != cardSuite {
		// A recorded suite comes with the card's own limits of that minute.
		card, err := Select(Options{Suite: cardSuite}, dev.Kind())
		if err != nil {
			return nil, err
		}
		cases = append(card, cases...)
	}
	var rows []Row
	var skipped error
	measured := 0
	for _, c := range cases {
		if o.Begin != nil {
			o.Begin(c.Name)
		}
		var found []Measurement
		var launches map[string]int64
		if c.Rows != nil {
			found, err = c.Rows(rows)
			launches = gridLaunches(rows)
		} else {
			found, launches, err = runCase(ctx, dev, c, o)
		}
		if errors.Is(err, ErrSkip) {
			err = fmt.Errorf("%s %s: %w", c.Suite, c.Name, err)
			if skipped == nil {
				skipped = err
			}
			if o.Skip != nil {
				o.Skip(c.Name, err)
			}
			continue
		}
		if err != nil {
			return rows, fmt.Errorf("%s %s: %w", c.Suite, c.Name, err)
		}
		if c.Suite == o.Suite {
			measured++
		}
		if o.Record && dev.Kind() == device.CUDA {
			if err := ran(c, launches); err != nil {
				return rows, fmt.Errorf("%s %s: %w: %w", c.Suite, c.Name, ErrRecord, err)
			}
		}
		machine, err := Describe(ctx, dev)
		if err != nil {
			return rows, fmt.Errorf("%s %s: describing the machine: %w", c.Suite, c.Name, err)
		}
		for i, m := range found {
			var blocks map[string]device.Block
			if i == 0 {
				blocks = blocksOf(dev, launches)
			}
			rows = append(rows, Row{
				Suite: c.Suite, Case: c.Name, Metric: m.Metric, Value: Median(m.Samples), Unit: m.Unit,
				Samples: m.Samples, Cold: m.Cold, Seed: o.Seed, Command: o.Command, Commit: commit, Binary: binary, Proof: m.Proof,
				Device: dev.Name(), Card: machine.Card, Driver: machine.Driver, ClockMHz: machine.ClockMHz,
				MemoryClockMHz: machine.MemoryClockMHz, TemperatureC: machine.TemperatureC, Throttle: machine.Throttle,
				Launches: launches, Blocks: blocks, Go: runtime.Version(), Date: time.Now().UTC().Format(time.RFC3339), Note: m.Note,
			})
		}
	}
	if measured == 0 && skipped != nil {
		return nil, skipped
	}
	return rows, nil
}

// runCase runs one case on a queue of its own and counts its launches.
func runCase(ctx context.Context, dev *device.Device, c Case, o Options) ([]Measurement, map[string]int64, error) {
	q, err := dev.NewQueue(ctx)
	if err != nil {
		return nil, nil, err
	}
	before := dev.Launches()
	found, err := c.Run(&Env{Ctx: ctx, Queue: q, Rand: rand.New(rand.NewPCG(o.Seed, 0)), Seed: o.Seed, Samples: o.Samples, Step: o.Step})
	if closeErr := q.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, nil, err
	}
	return found, dev.LaunchesSince(before), nil
}

// blocksOf is the blocks of the kernels that were launched.
func blocksOf(dev *device.Device, launches map[string]int64) map[string]device.Block {
	out := dev.Blocks()
	maps.DeleteFunc(out, func(kernel string, _ device.Block) bool { return launches[kernel] == 0 })
	return out
}

// ran checks that a case's kernels were launched.
func ran(c Case, launches map[string]int64) error {
	if len(launches) == 0 {
		return fmt.Errorf("no kernel ran on the GPU")
	}
	for _, k := range c.Kernels {
		if launches[k] == 0 {
			return fmt.Errorf("kernel %s never ran", k)
		}
	}
	return nil
}
