package prover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// BenchmarkProve commits to a table on the device and opens it at a point, with
// grinding, at 100 bits: n=24 on a GPU, less on others. The transcript differs
// from run to run, and so does the work.
func BenchmarkProve(b *testing.B) {
	for _, tc := range []struct {
		name  string
		sched *whir.Schedule
		o     whir.Options
	}{
		{"655-31", &whir.Schedule{LogInvRate: 1, Folds: []int{6, 5, 5}, Shrinks: []int{3, 1}}, whir.Options{}},
		{"654-42", &whir.Schedule{LogInvRate: 1, Folds: []int{6, 5, 4}, Shrinks: []int{4, 2}}, whir.Options{}},
		{"best", nil, whir.Options{}},
		{"size", nil, whir.Options{Goal: whir.GoalSize}},
	} {
		tc.o.Machine, tc.o.JohnsonStart = whir.GPU, true
		b.Run("babybear4/"+tc.name, func(b *testing.B) { benchProve(b, kindBabyBear4(), 24, tc.sched, tc.o) })
	}
	best := whir.Options{Machine: whir.GPU, JohnsonStart: true}
	b.Run("koalabear4/best", func(b *testing.B) {
		benchProve(b, newKind(KoalaBear4(whir.Poseidon2), transcript.KoalaBear4()), 24, nil, best)
	})
	b.Run("babybear4/blake3", func(b *testing.B) {
		benchProve(b, newKind(BabyBear4(whir.BLAKE3), transcript.BabyBear4()), 24, nil, best)
	})
	b.Run("cm31/best", func(b *testing.B) { benchProve(b, kindM31(), 24, nil, best) })
}

func benchProve[W field.Base[W], F field.Element[F], E field.Element[E]](b *testing.B, k *kind[W, F, E], vars int, sched *whir.Schedule, o whir.Options) {
	for _, name := range []string{"cpu", "cuda:0"} {
		dev, err := device.Open(name)
		if err != nil {
			continue
		}
		q, err := dev.NewQueue(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		defer q.Close()
		b.Run(dev.Kind().String(), func(b *testing.B) { benchProveOn(b, k, q, vars, sched, o) })
	}
}

func benchProveOn[W field.Base[W], F field.Element[F], E field.Element[E]](b *testing.B, k *kind[W, F, E], q *device.Queue, vars int, sched *whir.Schedule, o whir.Options) {
	if q.Device().Kind() != device.CUDA {
		vars = 16
		if sched != nil {
			sched = &whir.Schedule{LogInvRate: 1, Folds: []int{4, 4}, Shrinks: []int{2}}
		}
	}
	var p *whir.Params
	var err error
	if sched != nil {
		p, err = whir.Complete(k.scheme.Spec, vars, *sched, o)
	} else {
		p, err = whir.Choose(k.scheme.Spec, vars, o)
	}
	if err != nil {
		b.Fatal(err)
	}
	s := newSource(80)
	host := make([]F, 1<<vars)
	part := elements[F](s, 1<<10)
	for i := range host {
		host[i] = part[i%len(part)].Add(part[i>>10%len(part)])
	}
	table, err := device.Upload(q, host)
	if err != nil {
		b.Fatal(err)
	}
	defer table.Free()
	point := elements[E](s, vars)
	st := whir.NewStatement[W]([]whir.Claim[E]{{Weight: eqAt(point), Value: evaluate(b, k, q, table, point)}})
	run := func(q *device.Queue, i int) ([8]W, *whir.Proof[W, E]) {
		c, err := k.prover.Commit(q, p, table)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Free()
		tr, err := transcriptprover.Start(q, k.transcript, transcript.TagTest)
		if err != nil {
			b.Fatal(err)
		}
		defer tr.Free()
		var n W
		if err := errors.Join(tr.AbsorbHost(words(b, c)), tr.AbsorbHost([]W{n.FromUint64(uint64(i))})); err != nil {
			b.Fatal(err)
		}
		pf, err := c.Open(q, tr, st)
		if err != nil {
			b.Fatal(err)
		}
		return rootOf(b, c), pf
	}
	run(q, 0)
	var times []time.Duration
	var root [8]W
	var pf *whir.Proof[W, E]
	i := 0
	b.ResetTimer()
	for b.Loop() {
		i++
		start := time.Now()
		root, pf = run(q, i)
		times = append(times, time.Since(start))
	}
	b.StopTimer()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(times[0].Microseconds())/1000, "least-ms")
	enc, err := k.scheme.AppendProof(nil, p, pf)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(enc))/1024, "KiB")
	least := time.Hour
	for range 5 {
		tr := k.transcript.New(transcript.TagTest)
		var n W
		start := time.Now()
		o, err := k.scheme.Receive(tr, p, root)
		if err != nil {
			b.Fatal(err)
		}
		tr.Absorb([]W{n.FromUint64(uint64(i))})
		if err := o.Verify(st, pf); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least.Microseconds())/1000, "verify-ms")
	stages(b, q, func(q *device.Queue) { run(q, 1) })
	b.Logf("%s: %v", k.scheme.Spec.Name, p)
}

// evaluate is the value at a point, by the operations of the device.
func evaluate[W field.Base[W], F field.Element[F], E field.Element[E]](b *testing.B, k *kind[W, F, E], q *device.Queue, table device.Buffer[F], point []E) E {
	do, err := k.prover.v.ops(q)
	if err != nil {
		b.Fatal(err)
	}
	defer do.free()
	f, _ := factorsOf[E](eqAt(point))
	out := uploads(b, q, [][]E{make([]E, 1), f})
	if err := do.blockSums(out[0], 1, 0, table, out[1], 0); err != nil {
		b.Fatal(err)
	}
	v, err := out[0].Read(q)
	if err != nil {
		b.Fatal(err)
	}
	return v[0]
}

// BenchmarkVerify is the verifier on one core, for the trees' hashes.
func BenchmarkVerify(b *testing.B) {
	for _, h := range []whir.Hash{whir.Poseidon2, whir.BLAKE3, whir.SHA256} {
		b.Run(fmt.Sprint("babybear4/", h), func(b *testing.B) { benchVerify(b, newKind(BabyBear4(h), transcript.BabyBear4()), 18) })
	}
	b.Run("m31", func(b *testing.B) { benchVerify(b, kindM31(), 18) })
}

func benchVerify[W field.Base[W], F field.Element[F], E field.Element[E]](b *testing.B, k *kind[W, F, E], vars int) {
	q := queue(b)
	p, err := whir.Complete(k.scheme.Spec, vars, whir.Schedule{LogInvRate: 1, Folds: []int{6, 5}, Shrinks: []int{3}}, whir.Options{Arity: 2})
	if err != nil {
		b.Fatal(err)
	}
	s := newSource(81)
	sc := &scenario[W, F, E]{kind: k, p: p, tables: [][]F{elements[F](s, 1<<vars)}}
	point := elements[E](s, vars)
	table := uploads(b, q, sc.tables)[0]
	sc.claims = []whir.BatchClaim[E]{{Weight: eqAt(point), Values: []E{evaluate(b, k, q, table, point)}}}
	root, pf := sc.onDevice(b, q)
	st := sc.statement()
	b.ReportAllocs()
	for b.Loop() {
		o, err := k.scheme.Receive(k.transcript.New(transcript.TagTest), p, root)
		if err != nil {
			b.Fatal(err)
		}
		if err := o.Verify(st, pf); err != nil {
			b.Fatal(err)
		}
	}
}

// tracer adds up the times of kernels and stages.
type tracer struct {
	mu    sync.Mutex
	total map[string]time.Duration
	count map[string]int
}

func (t *tracer) Trace(e device.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := e.Category + " " + e.Name
	t.total[key] += e.Duration
	t.count[key]++
}

// stages logs where the time of one run goes.
func stages(b *testing.B, q *device.Queue, run func(q *device.Queue)) {
	tr := &tracer{total: map[string]time.Duration{}, count: map[string]int{}}
	traced, err := q.Device().NewQueue(device.WithTracer(context.Background(), tr))
	if err != nil {
		b.Fatal(err)
	}
	defer traced.Close()
	run(traced)
	var keys []string
	for key := range tr.total {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return int(tr.total[b] - tr.total[a]) })
	text := ""
	for _, key := range keys {
		text += fmt.Sprintf(" %.0f us %d %s;", float64(tr.total[key].Nanoseconds())/1000, tr.count[key], key)
	}
	b.Log(text)
}
