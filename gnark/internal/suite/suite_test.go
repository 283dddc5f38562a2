package suite

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/internal/synthetic"
)

func environment(t *testing.T, ctx context.Context, name string) *bench.Env {
	t.Helper()
	q, err := devicetest.Open(t, name).NewQueue(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench.Env{Ctx: ctx, Queue: q, Rand: rand.New(rand.NewPCG(1, 0)), Seed: 1, Samples: 1}
}

// TestRun makes small proofs as the cases do, which check themselves; they must be the same
// everywhere, and gnark's.
func TestRun(t *testing.T) {
	var digests [2]string
	for _, name := range []string{"cpu", "simt"} {
		t.Run(name, func(t *testing.T) {
			e := environment(t, context.Background(), name)
			for i, sparse := range []bool{false, true} {
				if sparse && name != "cpu" {
					continue // takes seconds
				}
				s := &suite{Options: Options{NoCPU: sparse}}
				found, err := s.run(e, spec{constraints: 300, sparse: sparse})
				if err != nil {
					t.Fatal(err)
				}
				var metrics []string
				for _, m := range found {
					metrics = append(metrics, m.Metric)
					if len(m.Samples) != 1 || bench.Median(m.Samples) <= 0 {
						t.Errorf("%s: samples %v", m.Metric, m.Samples)
					}
					if m.Metric == "prove-ms" {
						if digests[i] == "" {
							digests[i] = m.Proof
						}
						if m.Proof != digests[i] || len(m.Proof) != 64 {
							t.Errorf("the proof's digest is %s, on another device %s", m.Proof, digests[i])
						}
					}
				}
				want := []string{"prove-ms", "solve-ms", "ntt-ms", "msm-a-ms", "msm-b1-ms", "msm-b2-ms", "msm-k-ms", "msm-z-ms",
					"proof-bytes", "verify-ms", "setup-ms", "load-ms"}
				if name != "cpu" {
					want = append(want, "peak-gib")
				}
				for _, m := range want {
					if !slices.Contains(metrics, m) {
						t.Errorf("there is no %s among %s", m, metrics)
					}
				}
				if slices.Contains(metrics, "cpu-prove-ms") == s.NoCPU {
					t.Errorf("NoCPU %v, metrics %s", s.NoCPU, metrics)
				}
			}
		})
	}
}

func TestCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Cases(Options{}) {
		if c.Suite != Name || names[c.Name] {
			t.Errorf("suite %s, case %s", c.Suite, c.Name)
		}
		names[c.Name] = true
		if large := c.Large; large != !strings.Contains(c.Name, "2^10") && !strings.Contains(c.Name, "2^18") && !strings.Contains(c.Name, "2^20") {
			t.Errorf("%s: large %v", c.Name, large)
		}
	}
	for _, want := range []string{"bn254-2^24", "bn254-2^24-2gpu", "bn254-2^24-4gpu", "bn254-2^24-sparse", "bn254-zcash-sprout", "bn254-otti-sgd-4gpu", "bn254-lenet"} {
		if !names[want] {
			t.Errorf("there is no case %s", want)
		}
	}
}

// TestTooFew leaves cases of more GPUs than there are out.
func TestTooFew(t *testing.T) {
	s := &suite{}
	if _, err := s.run(environment(t, context.Background(), "cpu"), spec{constraints: 300, gpus: 99}); !errors.Is(err, bench.ErrSkip) || !strings.Contains(err.Error(), "99 GPUs") {
		t.Errorf("%v", err)
	}
}

func TestCancelled(t *testing.T) {
	e := environment(t, context.Background(), "cpu")
	s := &suite{Options: Options{NoCPU: true}}
	ctx, cancel := context.WithCancel(context.Background())
	e.Ctx = ctx
	s.Stage = func(text string, _, _ int) {
		if strings.HasPrefix(text, "proving") {
			cancel()
		}
	}
	if _, err := s.run(e, spec{constraints: 300}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestWrong looks for what must not become a row.
func TestWrong(t *testing.T) {
	e := environment(t, context.Background(), "cpu")
	s := &suite{}
	x, err := s.instance(e.Ctx, e.Queue.Device(), synthetic.Options{Constraints: 300, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.newProver(e, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.solution, err = m.Solve(e.Ctx, x.r1cs, x.full); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.prove(), m.check()); err != nil {
		t.Fatal(err)
	}
	first := m.bytes
	m.random.seed++
	if err := m.prove(); err != nil {
		t.Fatal(err)
	}
	if err := m.check(); err == nil || !strings.Contains(err.Error(), "differ") {
		t.Errorf("two proofs: %v", err)
	}
	m.bytes = nil
	if x.public, err = x.otherPublic(); err != nil {
		t.Fatal(err)
	}
	if err := m.check(); err == nil {
		t.Error("a proof of something else passes")
	}
	slog.New(m.faults).Error("a proof failed", "reason", "no reason")
	m.proof = nil
	if err := m.check(); err == nil || !strings.Contains(err.Error(), "no reason") {
		t.Errorf("a fault of the device: %v", err)
	}
	e.Samples = 1
	if _, err := s.gnark(e, x, first[1:]); err == nil || !strings.Contains(err.Error(), "another proof") {
		t.Errorf("another proof by gnark: %v", err)
	}
	if _, err := x.verifying(e, first); err == nil {
		t.Error("the time of a verification that fails")
	}

}

func TestRan(t *testing.T) {
	all := map[string]int64{"scalar_down_bn254": 1, "bucket_accumulate_bn254_g1": 2, "tiny_windows_bn254_g2": 3}
	sums := map[string]int64{"bucket_accumulate_bn254_g1": 1}
	for _, l := range [][]map[string]int64{{all}, {all, sums}, {sums, all}} {
		if err := ran(l); err != nil {
			t.Error(err)
		}
	}
	for kernel := range all {
		some := map[string]int64{kernel: 0}
		for k, n := range all {
			if k != kernel {
				some[k] = n
			}
		}
		if ran([]map[string]int64{some}) == nil {
			t.Errorf("a proof without %s", kernel)
		}
	}
	if err := ran([]map[string]int64{all, {"scalar_down_bn254": 1}}); err == nil || !strings.Contains(err.Error(), "device 1 of 2") {
		t.Errorf("a device without sums: %v", err)
	}
}

func TestRepeated(t *testing.T) {
	e := &bench.Env{Samples: 3}
	times := []time.Duration{9, 8, 1, 2, 3}
	m, err := repeated(e, "ms", time.Second, "", func() (time.Duration, error) {
		d := times[0] * time.Millisecond
		times = times[1:]
		return d, nil
	})
	if err != nil || m.Cold != 9 || !slices.Equal(m.Samples, []float64{1, 2, 3}) {
		t.Errorf("%+v, %v", m, err)
	}
	n := 0
	m, err = repeated(e, "ms", time.Second, "", func() (time.Duration, error) { n++; return 2 * time.Second, nil })
	if err != nil || n != 1 || !slices.Equal(m.Samples, []float64{2000, 2000, 2000}) || !strings.Contains(m.Note, "single run") {
		t.Errorf("%d runs, %+v, %v", n, m, err)
	}
}

func TestProvingTime(t *testing.T) {
	log := `{"level":"debug","took":12.5,"message":"constraint system solver done"}` + "\n" + `{"level":"debug","backend":"groth16","took":2.25,"message":"prover done"}` + "\n"
	if d, err := provingTime(strings.NewReader(log)); err != nil || d != 2250*time.Microsecond {
		t.Errorf("%v, %v", d, err)
	}
	for _, bad := range []string{"", "text", strings.Replace(log, "prover", "setup", 1)} {
		if d, err := provingTime(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: %v", bad, d)
		}
	}
}

func TestSeeded(t *testing.T) {
	read := func(seed uint64, use string) []byte {
		b := make([]byte, 64)
		if _, err := io.ReadFull(seeded(seed, use), b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	if !bytes.Equal(read(1, "a"), read(1, "a")) || bytes.Equal(read(1, "a"), read(2, "a")) || bytes.Equal(read(1, "a"), read(1, "b")) {
		t.Error("the bytes do not depend on seed and use alone")
	}
}
