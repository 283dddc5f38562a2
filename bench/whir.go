package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/transcript"
	transprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
)

// whirLambda is the security of every line of the measured parameters, in bits.
const whirLambda = 100

// whirCases are commitments and openings, and what they are made of.
func whirCases() []Case {
	cases := slices.Concat(hashCases(), treeCases(), nttCases())
	add := func(name, about string, large bool, run func(*Env) ([]Measurement, error)) {
		cases = append(cases, Case{Suite: "whir", Name: name, About: about, Large: large, Run: run})
	}
	for _, n := range []int{8, 16, 20, 24} {
		add(fmt.Sprintf("babybear4-n%d-best", n), "commit and open 2^n values, the chooser's schedule that starts at rate 1/2", n > 20, bestCase(babyBear4, n, 1))
	}
	add("babybear4-n24-any-rate", "the same at whichever rate", true, bestCase(babyBear4, 24, 0))
	add("babybear4-n24-blake3", "the same with trees by BLAKE3", true, bestCase(babyBear4BLAKE3, 24, 0))
	for _, n := range []int{8, 24} {
		add(fmt.Sprintf("koalabear4-n%d-best", n), "over KoalaBear, from rate 1/2", n > 20, bestCase(koalaBear4, n, 1))
	}
	for _, n := range []int{8, 25} {
		add(fmt.Sprintf("m31-n%d-best", n), "over Mersenne-31, two values a symbol, at whichever rate", n > 20, bestCase(packedM31, n, 0))
	}
	for _, c := range append([]cell{{8, 3, 1}}, gridCells()...) {
		add(c.name(), "commit and open 2^n values over BabyBear, all folds the same", c.vars > 20, gridCase(c))
	}
	cases = append(cases, Case{Suite: "whir", Name: "grid", About: "the cells of the grid before it that were measured in this run", Rows: gridSummary})
	for _, c := range []cell{{8, 3, 1}, {20, 4, 1}, {24, 3, 1}, {24, 1, 1}, {24, 6, 1}} {
		add("modes-"+c.suffix(), "that cell without waiting for the host, with its searches for work, and with waits after every message", c.vars > 20, modesCase(c))
		cases = append(cases, Case{Suite: "whir", Name: "stages-" + c.suffix(), About: "that cell's device time by stage", Large: c.vars > 20, GPU: true, Run: stagesCase(c)})
	}
	for _, n := range []int{8, 16, 18, 20, 22, 24, 26, 28} {
		add(fmt.Sprintf("verify-n%d", n), "verify a proof of the chooser's schedule for verifiers, one core", n > 20, verifyCase(n))
	}
	return append(cases, Case{Suite: "whir", Name: "p3-whir-ratio", About: "time over that of Plonky3's p3-whir, which the file " + referenceVariable + " names holds",
		CPU: true, Large: true, Run: referenceCase})
}

// options are for proofs on the queue's device. In the emulator work is slow.
func (e *Env) options(goal whir.Goal) whir.Options {
	o := whir.Options{Lambda: whirLambda, Goal: goal, JohnsonStart: true}
	switch e.Queue.Device().Kind() {
	case device.CUDA:
		o.Machine, o.FoldWork, o.QueryWork = whir.GPU, 14, 16 // measured: bench/NOTES.md, "WHIR on an H100"
	case device.SIMT:
		o.FoldWork, o.QueryWork = 5, 5
	}
	return o
}

// family makes opened tables of 2^n values: parameters and the claim.
type family func(e *Env, n int, o whir.Options) (*opened, error)

func babyBear4(e *Env, n int, o whir.Options) (*opened, error) {
	return babyBear4By(e, whir.Poseidon2, n, o)
}

func babyBear4BLAKE3(e *Env, n int, o whir.Options) (*opened, error) {
	return babyBear4By(e, whir.BLAKE3, n, o)
}

func babyBear4By(e *Env, h whir.Hash, n int, o whir.Options) (*opened, error) {
	params, err := whir.Choose(whir.SpecBabyBear4(h), n, o)
	if err != nil {
		return nil, err
	}
	return newOpened(e.Rand, whirprover.BabyBear4(h), transcript.BabyBear4(), params), nil
}

func koalaBear4(e *Env, n int, o whir.Options) (*opened, error) {
	params, err := whir.Choose(whir.SpecKoalaBear4(whir.Poseidon2), n, o)
	if err != nil {
		return nil, err
	}
	return newOpened(e.Rand, whirprover.KoalaBear4(whir.Poseidon2), transcript.KoalaBear4(), params), nil
}

func packedM31(e *Env, n int, o whir.Options) (*opened, error) {
	o.JohnsonStart = false
	params, err := whir.ChooseM31(n, o)
	if err != nil {
		return nil, err
	}
	return newOpenedM31(e.Rand, params), nil
}

// maxProof is the most bytes, as predicted, of the proofs of 2^24 values and more by
// schedules that start at a given rate.
const maxProof = 160 << 10

// bestCase is the chooser's schedule, with the first rate 2^-rate unless that is 0,
// and proofs of a limited size then.
func bestCase(f family, n, rate int) func(*Env) ([]Measurement, error) {
	return func(e *Env) ([]Measurement, error) {
		options := e.options(whir.GoalProve)
		options.LogInvRate = rate
		if n >= 24 && rate > 0 && options.Machine == whir.GPU {
			options.MaxProof = maxProof
			options.FoldWork, options.QueryWork = 0, 0 // the usual: short proofs take work
		}
		o, err := f(e, n, options)
		if err != nil {
			return nil, err
		}
		return e.whole(o)
	}
}

// whole measures proving, searching for work and verifying. Every proof has
// challenges of its own, and so have the searches.
func (e *Env) whole(o *opened) ([]Measurement, error) {
	p, err := o.load(e.Queue)
	if err != nil {
		return nil, err
	}
	defer p.free()
	var last *proof
	session := 0
	prove, err := e.Time("prove-ms", 1, func() error { session++; return nil }, func() (err error) {
		last, err = p.prove(session, transprover.Chained)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := e.sameOnHost(o, session, last); err != nil {
		return nil, err
	}
	searched := session
	grind, err := e.Time("grind-ms", 1, func() error { searched++; return nil }, func() error { return o.works(e.Queue, searched) })
	if err != nil {
		return nil, err
	}
	verify, err := e.verifying(o, session, last)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(last.bytes)
	prove.Proof = hex.EncodeToString(digest[:])
	prove.Note = schedule(o.params) + "; work included, other work in every sample"
	expected := 0.0
	for _, bits := range workOf(o.params) {
		expected += math.Exp2(float64(bits))
	}
	grind.Note = fmt.Sprintf("all searches of a proof apart: 2^%.2f tries expected, from %.3g to %.3g ms", math.Log2(max(1, expected)), slices.Min(grind.Samples), slices.Max(grind.Samples))
	report := o.params.Security()
	out := append([]Measurement{prove, grind}, verify...)
	for _, m := range []struct {
		metric, unit string
		v            float64
		note         string
	}{
		{"proof-kib", "KiB", float64(len(last.bytes)) / 1024, ""},
		{"bits", "bits", report.Min, "the weakest line, proven"},
		{"bits-sum", "bits", report.Sum, "of all lines' errors together"},
	} {
		out = append(out, Constant(m.metric, m.unit, m.v, m.note, prove.Proof, e.Samples))
	}
	return out, nil
}

// hostTable is the largest table, in bytes, whose proof a recorded run repeats on
// the CPU: a second or so.
const hostTable = 1 << 24

// sameOnHost proves a session again on the CPU and compares the bytes, where that
// is quick.
func (e *Env) sameOnHost(o *opened, session int, want *proof) error {
	if e.Queue.OnHost() || o.bytes<<o.params.Config().LogInvRate > 2*hostTable {
		return nil
	}
	cpu, err := device.Open("cpu")
	if err != nil {
		return err
	}
	q, err := cpu.NewQueue(e.Ctx)
	if err != nil {
		return err
	}
	defer q.Close()
	p, err := o.load(q)
	if err != nil {
		return err
	}
	defer p.free()
	got, err := p.prove(session, transprover.Chained)
	if err != nil {
		return err
	}
	if !slices.Equal(got.bytes, want.bytes) {
		return errors.New("the proof is another one than on the CPU")
	}
	return nil
}

// verifying measures a proof's verification on one core, from its bytes, after
// checking that changed proofs are rejected.
func (e *Env) verifying(o *opened, session int, pf *proof) ([]Measurement, error) {
	if err := o.verify(session, pf); err != nil {
		return nil, err
	}
	if o.verify(session+1, pf) == nil {
		return nil, errors.New("a proof of another session is accepted")
	}
	for _, at := range []int{0, len(pf.bytes) / 2, len(pf.bytes) - 1} {
		if o.verify(session, pf.wrong(at)) == nil {
			return nil, fmt.Errorf("a proof with another byte %d is accepted", at)
		}
	}
	var m Measurement
	allocs, err := oneCore(func() (err error) {
		m, err = e.Time("verify-ms", 1, nil, func() error { return o.verify(session, pf) })
		return err
	})
	m.Note = "from bytes, one core"
	return []Measurement{m, Constant("verify-allocs", "objects", float64(allocs)/float64(e.Samples+2), "allocated for one verification", "", e.Samples)}, err
}

func verifyCase(n int) func(*Env) ([]Measurement, error) {
	return func(e *Env) ([]Measurement, error) {
		o, err := babyBear4(e, n, e.options(whir.GoalVerify))
		if err != nil {
			return nil, err
		}
		p, err := o.load(e.Queue)
		if err != nil {
			return nil, err
		}
		defer p.free()
		pf, err := p.prove(0, transprover.Chained)
		if err != nil {
			return nil, err
		}
		out, err := e.verifying(o, 0, pf)
		if err != nil {
			return nil, err
		}
		out[0].Note += "; " + schedule(o.params)
		return append(out, Constant("proof-kib", "KiB", float64(len(pf.bytes))/1024, "", "", e.Samples)), nil
	}
}

// modesCase measures what waiting for the host costs.
func modesCase(c cell) func(*Env) ([]Measurement, error) {
	return func(e *Env) ([]Measurement, error) {
		o, err := c.opened(e)
		if err != nil {
			return nil, err
		}
		p, err := o.load(e.Queue)
		if err != nil {
			return nil, err
		}
		defer p.free()
		var out []Measurement
		var first *proof
		for _, mode := range []struct {
			metric string
			mode   transprover.Mode
			note   string
		}{
			{"fused-gpu-grind-ms", transprover.Chained, "one chain of launches, searches for work on the device"},
			{"fused-ms", transprover.HostWork, "searches for work on the host, which waits for the state before each"},
			{"unfused-ms", transprover.Waiting, "that, and a wait for the device after every message that is absorbed or drawn by a launch of its own"},
		} {
			var last *proof
			before := e.Queue.Stats()
			m, err := e.Time(mode.metric, 1, func() error { before = e.Queue.Stats(); return nil }, func() (err error) {
				last, err = p.prove(0, mode.mode) // the same work in all modes
				return err
			})
			if err != nil {
				return nil, err
			}
			if first == nil {
				if first = last; o.verify(0, first) != nil {
					return nil, errors.New("the proof does not verify")
				}
			}
			if !slices.Equal(first.bytes, last.bytes) {
				return nil, fmt.Errorf("%s gives another proof", mode.metric)
			}
			stats := e.Queue.Stats().Since(before)
			m.Note = fmt.Sprintf("%s; %d launches, %d waits", mode.note, stats.Launches, stats.Syncs)
			out = append(out, m)
		}
		return out, nil
	}
}

// stageOf is the stage that a kernel belongs to.
func stageOf(kernel string) string {
	for _, s := range whirStages {
		if slices.ContainsFunc(s.prefixes, func(prefix string) bool { return strings.HasPrefix(kernel, prefix) }) {
			return s.name
		}
	}
	return "other"
}

// whirStages are the stages by what their kernels' names begin with; the first that
// fits counts. share is the part of the time that the proof of appleMS spends there,
// in percent, where it is known.
var whirStages = []struct {
	name     string
	prefixes []string
	share    int
}{
	{"hashing", []string{"merkle_"}, 58},
	{"ntt", []string{"ntt_"}, 14},
	{"sumcheck", []string{"whir_round", "whir_fold", "whir_block", "whir_packed"}, 15},
	{"constraints", []string{"whir_"}, 8},
	{"grinding", []string{"transcript_grind"}, 0},
	{"transcript", []string{"transcript_"}, 0},
}

// stages collects the device's times of kernels.
type stages map[string]time.Duration

// Trace is called by queues.
func (s stages) Trace(e device.Event) {
	if e.Category == device.TraceKernel {
		s[stageOf(e.Name)] += e.Duration
	}
}

// stagesCase splits a proof's time: kernels as a traced queue times them, and as
// transfers what is left of the time that the same proof takes without a tracer.
func stagesCase(c cell) func(*Env) ([]Measurement, error) {
	return func(e *Env) ([]Measurement, error) {
		o, err := c.opened(e)
		if err != nil {
			return nil, err
		}
		found := stages{}
		traced, err := e.Queue.Device().NewQueue(device.WithTracer(e.Ctx, found))
		if err != nil {
			return nil, err
		}
		defer traced.Close()
		names := []string{"transfers", "other"}
		for _, s := range whirStages {
			names = append(names, s.name)
		}
		samples := map[string][]float64{}
		total := 0.0
		for _, q := range []*device.Queue{e.Queue, traced} {
			p, err := o.load(q)
			if err != nil {
				return nil, err
			}
			defer p.free()
			for i := -1; i < e.Samples; i++ { // once to warm up
				clear(found)
				start := time.Now()
				_, err := p.prove(1+i, transprover.Chained)
				if err == nil {
					err = q.Sync()
				}
				if err != nil {
					return nil, err
				}
				if i < 0 {
					continue
				}
				if q == e.Queue {
					samples["transfers"] = append(samples["transfers"], float64(time.Since(start))/1e6)
					continue
				}
				for name, took := range found {
					for len(samples[name]) < i {
						samples[name] = append(samples[name], 0)
					}
					samples[name] = append(samples[name], float64(took)/1e6)
					samples["transfers"][i] = max(0, samples["transfers"][i]-float64(took)/1e6)
				}
			}
		}
		for _, s := range samples {
			total += Median(s)
		}
		var out []Measurement
		for _, name := range names {
			if len(samples[name]) < e.Samples || Median(samples[name]) == 0 {
				continue
			}
			note := fmt.Sprintf("%.0f %% of the time", 100*Median(samples[name])/total)
			for _, s := range whirStages {
				if s.name == name && s.share > 0 {
					note += fmt.Sprintf(" (%d %% on Apple's)", s.share)
				}
			}
			if name == "transfers" {
				note += " (4 % on Apple's): copies, reading back, dispatch, the host"
			}
			out = append(out, Measurement{Metric: name + "-ms", Unit: "ms", Samples: samples[name], Note: note})
		}
		if len(out) < 4 {
			return nil, errors.New("the device tells no times of kernels")
		}
		return out, nil
	}
}
