package suite

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	gnark "github.com/consensys/gnark/backend/groth16"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/groth16"
	"github.com/zkwarp/zkwarp/gnark/internal/synthetic"
)

// Things that take longer than this are done once, and the row's note says so.
const (
	longSolve = 5 * time.Second
	longProof = 3 * time.Second // gnark's
	longSetup = 3 * time.Second
)

func (s *suite) run(e *bench.Env, c spec) ([]bench.Measurement, error) {
	dev := e.Queue.Device()
	where, err := c.place(dev)
	if err != nil {
		return nil, err
	}
	x, err := s.instance(e.Ctx, dev, synthetic.Options{Constraints: c.constraints, Sparse: c.sparse, Seed: e.Seed})
	if err != nil {
		return nil, err
	}
	var one *proving
	if c.gpus > 0 {
		s.stage("proving on one GPU")
		if one, err = s.prove(e, x, place{dev.Name(), where.devices[:1]}); err != nil {
			return nil, err
		}
	}
	s.stage("proving on %s", where.name)
	p, err := s.prove(e, x, where)
	if err != nil {
		return nil, err
	}
	if one != nil && !bytes.Equal(p.proof, one.proof) {
		return nil, errors.New("several GPUs and one make different proofs of the same randomness")
	}
	wires := "uniform wires"
	if c.sparse {
		wires = "two thirds of the wires bits or small"
	}
	p.time.Note = fmt.Sprintf("%d constraints, %d wires, %s; from a solved witness, without verification; %.3g GiB of the key resident on each device; every proof verified; key from a known trapdoor, made %s",
		c.constraints, x.wires(), wires, float64(p.resident)/(1<<30), x.setupNote)
	out := []bench.Measurement{p.time, p.solve}
	if one != nil {
		out = append(out, speedup(p.time, one.time))
	} else {
		s.stage("stages of proofs")
		stages, err := s.stages(e, x, where.name, p.proof)
		if err != nil {
			return nil, err
		}
		out = append(out, stages...)
		if !s.NoCPU {
			s.stage("gnark's prover")
			cpu, err := s.gnark(e, x, p.proof)
			if err != nil {
				return nil, err
			}
			cpu.Proof = p.time.Proof
			out = append(out, cpu)
		}
	}
	s.stage("verifying")
	verify, err := x.verifying(e, p.proof)
	if err != nil {
		return nil, err
	}
	digest := p.time.Proof
	constant := func(metric, unit string, v float64, note string) {
		out = append(out, bench.Constant(metric, unit, v, note, digest, e.Samples))
	}
	out = append(out, verify)
	constant("proof-bytes", "bytes", float64(len(p.proof)), "as gnark writes it: 128 of A, B and C, the rest is about commitments, of which there are none")
	constant("setup-ms", "ms", milliseconds(x.setup), "a single run; key from a known trapdoor, made "+x.setupNote)
	out[len(out)-1].Cold = milliseconds(x.setupCold)
	constant("load-ms", "ms", milliseconds(p.load), "the key to the devices, once")
	if dev.Kind() != device.CPU {
		constant("peak-gib", "GiB", float64(p.peak)/(1<<30), "memory of "+dev.Name()+" in buffers, key and proofs, sampled")
	}
	return out, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

func speedup(m, one bench.Measurement) bench.Measurement {
	base := bench.Median(one.Samples)
	out := bench.Measurement{Metric: "speedup", Unit: "x", Proof: m.Proof, Note: fmt.Sprintf("one GPU takes %.4g ms", base)}
	for _, ms := range m.Samples {
		out.Samples = append(out.Samples, base/ms)
	}
	return out
}

// proving is what was found about proofs on some devices.
type proving struct {
	time, solve bench.Measurement
	proof       []byte
	load        time.Duration
	resident    int64
	peak        int64
}

// blinding is the randomness of proofs, which are all the same from the same.
type blinding struct {
	seed uint64
	r    io.Reader
}

func (b *blinding) again() { b.r = seeded(b.seed, "blinding") }

func (b *blinding) Read(p []byte) (int, error) { return b.r.Read(p) }

// prove measures solving and proving. All proofs are of the same randomness, so that they
// must be the same; each is verified.
func (s *suite) prove(e *bench.Env, x *instance, where place) (*proving, error) {
	dev := e.Queue.Device()
	var out proving
	peak := bench.WatchMemory(dev)
	defer func() {
		if peak != nil {
			peak()
		}
	}()
	m, err := x.newProver(e, where.name)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	out.load, out.resident = m.load, m.Bytes()
	out.solve, err = repeated(e, "solve-ms", longSolve, "gnark's solver on all cores", func() (time.Duration, error) {
		m.solution = nil // its memory, before there is another
		start := time.Now()
		var err error
		m.solution, err = m.Solve(e.Ctx, x.r1cs, x.full)
		return time.Since(start), err
	})
	if err != nil {
		return nil, fmt.Errorf("solving: %w", err)
	}
	var before []map[string]int64
	for _, d := range where.devices {
		before = append(before, d.Launches())
	}
	out.time, err = e.Time("prove-ms", 1, m.check, m.prove)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, err
	}
	if dev.Kind() != device.CPU {
		var launches []map[string]int64
		for i, d := range where.devices {
			launches = append(launches, d.LaunchesSince(before[i]))
		}
		if err := ran(launches); err != nil {
			return nil, err
		}
	}
	out.proof, out.time.Proof = m.bytes, digest(m.bytes)
	out.solve.Proof = out.time.Proof
	out.peak = peak()
	peak = nil
	return &out, nil
}

// ran is an error unless kernels of all parts of a proof were launched, and of sums on each
// device.
func ran(launches []map[string]int64) error {
	g1 := []string{"bucket_accumulate_bn254_g1", "tiny_windows_bn254_g1"}
	g2 := []string{"bucket_accumulate_bn254_g2", "tiny_windows_bn254_g2"}
	for _, part := range []struct {
		name     string
		prefixes []string
	}{{"transforms", []string{"scalar_"}}, {"sums in G1", g1}, {"sums in G2", g2}} {
		if !slices.ContainsFunc(launches, func(l map[string]int64) bool { return launched(l, part.prefixes) }) {
			return fmt.Errorf("no kernel of %s ran", part.name)
		}
	}
	for i, l := range launches {
		if !launched(l, append(g1, g2...)) {
			return fmt.Errorf("no kernel of sums ran on device %d of %d", i, len(launches))
		}
	}
	return nil
}

func launched(launches map[string]int64, prefixes []string) bool {
	for kernel, n := range launches {
		if n > 0 && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(kernel, p) }) {
			return true
		}
	}
	return false
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// prover is a Prover that is looked after.
type prover struct {
	*groth16.Prover
	x        *instance
	ctx      context.Context
	random   *blinding
	faults   *faults
	load     time.Duration
	solution *groth16.Solution

	proof groth16.Proof // not yet checked
	bytes []byte        // of those before
}

func (x *instance) newProver(e *bench.Env, devices string, opts ...groth16.Option) (*prover, error) {
	m := &prover{x: x, ctx: e.Ctx, random: &blinding{seed: e.Seed}, faults: &faults{}}
	opts = append(opts, groth16.WithDevice(devices), groth16.WithRandom(m.random), groth16.WithLogger(slog.New(m.faults)))
	start := time.Now()
	var err error
	m.Prover, err = groth16.NewProver(x.pk, opts...)
	m.load = time.Since(start)
	return m, err
}

// prove makes a proof.
func (m *prover) prove() (err error) {
	m.random.again()
	m.proof, err = m.ProveSolved(m.ctx, m.solution)
	return err
}

// check verifies the proof that was made last, if it has not been, and compares it with
// those before. A Prover makes proofs again that a device got wrong; here that is an error.
func (m *prover) check() error {
	if m.proof == nil {
		return m.faults.err()
	}
	err := m.faults.err()
	if err == nil {
		err = gnark.Verify(m.proof, m.x.vk, m.x.public)
	}
	var b bytes.Buffer
	if err == nil {
		_, err = m.proof.WriteTo(&b)
	}
	if err != nil {
		return err
	}
	if m.bytes != nil && !bytes.Equal(m.bytes, b.Bytes()) {
		return errors.New("two proofs of the same randomness differ")
	}
	m.proof, m.bytes = nil, b.Bytes()
	return nil
}

// stages are the times of a proof's parts, from proofs in which one comes after the other.
func (s *suite) stages(e *bench.Env, x *instance, devices string, want []byte) ([]bench.Measurement, error) {
	t := &trace{}
	m, err := x.newProver(e, devices, groth16.WithSerial(), groth16.WithTrace(t.add))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if m.solution, err = m.Solve(e.Ctx, x.r1cs, x.full); err != nil {
		return nil, fmt.Errorf("solving: %w", err)
	}
	found := map[string][]float64{}
	for i := range e.Samples + 1 {
		t.reset()
		err := m.prove()
		if err == nil {
			err = m.check()
		}
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(m.bytes, want) {
			return nil, errors.New("a proof whose stages come one after the other is another")
		}
		if i == 0 { // to warm up
			continue
		}
		for _, p := range parts {
			found[p.stage] = append(found[p.stage], milliseconds(t.times[p.stage]))
		}
	}
	var out []bench.Measurement
	for _, p := range parts {
		if bench.Median(found[p.stage]) > 0 {
			out = append(out, bench.Measurement{Metric: p.metric, Unit: "ms", Samples: found[p.stage], Proof: digest(want), Note: "one stage after the other: " + p.about})
		}
	}
	return out, nil
}

// parts are the stages of package groth16 that there are rows of.
var parts = []struct{ stage, metric, about string }{
	{"wires", "upload-ms", "wires to the device, those of each query picked there"},
	{"ntt", "ntt-ms", "A, B and C to the device, and transforms to the quotient"},
	{"msm-digits", "msm-digits-ms", "digits and sorting of scalars that several sums share"},
	{"msm-a", "msm-a-ms", "sum over query A"},
	{"msm-b1", "msm-b1-ms", "sum over query B in G1"},
	{"msm-b2", "msm-b2-ms", "sum over query B in G2"},
	{"msm-k", "msm-k-ms", "sum over query K"},
	{"msm-z", "msm-z-ms", "sum over query Z"},
	{"assemble", "assemble-ms", "the proof from the sums, on the host"},
	{"check", "check-ms", "B in G1 against B in G2, on the host"},
	{"prove", "serial-ms", "all of it"},
}

// trace adds up the times of stages.
type trace struct {
	mu    sync.Mutex
	times map[string]time.Duration
}

func (t *trace) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.times = map[string]time.Duration{}
}

func (t *trace) add(stage string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.times != nil {
		t.times[stage] += d
	}
}

// gnark measures gnark's prover, whose proof must be the same.
func (s *suite) gnark(e *bench.Env, x *instance, want []byte) (bench.Measurement, error) {
	return repeated(e, "cpu-prove-ms", longProof, "gnark's own prover on all cores of this host, solving not counted, as its log tells; the same proof", func() (time.Duration, error) {
		random := &blinding{seed: e.Seed}
		random.again()
		proof, took, err := proveByGnark(e.Ctx, x, random)
		if err != nil {
			return 0, fmt.Errorf("gnark's prover: %w", err)
		}
		var b bytes.Buffer
		if _, err := proof.WriteTo(&b); err != nil {
			return 0, err
		}
		if !bytes.Equal(b.Bytes(), want) {
			return 0, errors.New("gnark's prover makes another proof of the same randomness")
		}
		return took, nil
	})
}

// verifying measures gnark's verifier, which must not accept everything.
func (x *instance) verifying(e *bench.Env, data []byte) (bench.Measurement, error) {
	proof := groth16.NewProof(x.pk.CurveID())
	if _, err := proof.ReadFrom(bytes.NewReader(data)); err != nil {
		return bench.Measurement{}, fmt.Errorf("reading the proof: %w", err)
	}
	m, err := e.Time("verify-ms", 1, nil, func() error { return gnark.Verify(proof, x.vk, x.public) })
	if err != nil {
		return m, err
	}
	m.Proof, m.Note = digest(data), "gnark's verifier"
	other, err := x.otherPublic()
	if err != nil {
		return m, err
	}
	if gnark.Verify(proof, x.vk, other) == nil {
		return m, errors.New("a proof is accepted for other public inputs")
	}
	return m, nil
}

// repeated measures what may take long: then once, else cold, once to warm up, and as
// often as there are to be samples.
func repeated(e *bench.Env, metric string, long time.Duration, note string, f func() (time.Duration, error)) (bench.Measurement, error) {
	cold, err := f()
	if err != nil {
		return bench.Measurement{}, err
	}
	if cold > long {
		return bench.Constant(metric, "ms", milliseconds(cold), note+"; a single run, which stands for all samples", "", e.Samples), nil
	}
	m := bench.Measurement{Metric: metric, Unit: "ms", Cold: milliseconds(cold), Note: note}
	for i := range e.Samples + 1 {
		d, err := f()
		if err != nil {
			return m, err
		}
		if i > 0 {
			m.Samples = append(m.Samples, milliseconds(d))
		}
	}
	return m, nil
}

// faults is what a Prover logs: that a device failed.
type faults struct {
	mu    sync.Mutex
	first string
}

func (f *faults) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (f *faults) Handle(_ context.Context, r slog.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	f.first = cmp.Or(f.first, text)
	return nil
}

func (f *faults) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f *faults) WithGroup(string) slog.Handler      { return f }

func (f *faults) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == "" {
		return nil
	}
	return errors.New(f.first)
}
