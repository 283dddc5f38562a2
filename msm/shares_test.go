package msm

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// cost is the additions of a share, by the windows' expected entries, and what windows cost
// of which it has some buckets.
func (s share) cost(n int) float64 {
	t := 0.0
	for _, x := range s.windows.List {
		low, high := max(x.Base, s.Low), min(x.Base+x.Buckets, s.High)
		if low < high {
			t += float64(n) * (plan.Pass + float64(high-low)/float64(x.Buckets))
		}
	}
	return t + plan.ReduceProducts/plan.AccumulateProducts*float64(s.High-s.Low)
}

func TestByBuckets(t *testing.T) {
	for _, c := range []struct{ bits, sets, n, devices int }{
		{20, 0, 1 << 20, 1}, {20, 0, 1 << 20, 2}, {22, 0, 1 << 26, 4}, {22, 0, 1 << 26, 5}, {22, 0, 1 << 28, 8}, {22, 0, 1 << 26, 16}, {16, 0, 1 << 22, 32},
		{20, 2, 1 << 20, 3}, {20, 3, 1 << 20, 5}, {20, 1, 1 << 20, 7}, {4, 2, 100, 300},
	} {
		w, err := plan.Uniform(curve.BN254Fr, c.bits, c.sets, c.n)
		if err != nil {
			t.Fatal(err)
		}
		all := byBuckets(w, c.n, c.devices)
		if len(all) != c.devices || all[0].Low != 0 || all[c.devices-1].High != w.Buckets() {
			t.Fatalf("%+v: %d shares from %d to %d", c, len(all), all[0].Low, all[len(all)-1].High)
		}
		total, most := 0.0, 0.0
		for i, s := range all {
			if s.From != 0 || s.To != c.n || s.Low > s.High || i > 0 && s.Low != all[i-1].High {
				t.Fatalf("%+v: share %d is %+v", c, i, s.Range)
			}
			total += s.cost(c.n)
			most = max(most, s.cost(c.n))
		}
		// A bucket is not divided, and a window that is begun costs at least one.
		fair, one := total/float64(c.devices), 0.0
		for _, x := range w.List {
			one = max(one, float64(c.n*len(w.List))/float64(max(1, len(w.Sets())-1))*(plan.Pass+1/float64(x.Buckets)))
		}
		if most > 1.002*fair+one {
			t.Errorf("%+v: the largest share is %.4f of a fair one", c, most/fair)
		}
	}
}

// Devices that begin and end within windows have fewer buckets than those at the ends.
func TestSharesOfWindows(t *testing.T) {
	const n = 1 << 28
	w, err := plan.Split(curve.BN254Fr, 11)
	if err != nil {
		t.Fatal(err)
	}
	all := byBuckets(w, n, 4)
	width := func(i int) int { return all[i].High - all[i].Low }
	for i := 1; i <= 2; i++ {
		if width(i) >= width(0) || float64(width(i)) < 0.95*float64(width(0)) {
			t.Errorf("share %d has %d buckets, the first %d", i, width(i), width(0))
		}
	}
	for i, s := range all {
		if c := s.cost(n) / all[0].cost(n); c < 0.9999 || c > 1.0001 {
			t.Errorf("share %d costs %.5f of the first", i, c)
		}
	}
}

func TestByPoints(t *testing.T) {
	w, err := plan.Uniform(curve.BN254Fr, 10, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, s := range byPoints(w, 10, 4) {
		if s.From != at || s.To-s.From < 2 || s.To-s.From > 3 || s.Low != 0 || s.High != w.Buckets() {
			t.Errorf("%+v after %d", s.Range, at)
		}
		at = s.To
	}
	if at != 10 {
		t.Errorf("the shares end at %d", at)
	}
	// More devices than points: some have none.
	if all := byPoints(w, 2, 5); all[4].To != 2 {
		t.Errorf("%+v", all)
	}
}

func TestLead(t *testing.T) {
	for _, c := range []struct {
		n           int
		upload, add float64
		want        []int
	}{
		{50, 1, 1, nil},
		{1000, 1e-3, 1, nil}, // too short to be worth it
		{1 << 20, 4e-3, 2e-3, []int{1 << 19, 1 << 19}},   // slower than the additions: halves
		{1500, 4e-3, 8e-3, []int{480, 1020}},             // whole warps
		{1 << 20, 10e-3, 30e-3, []int{1 << 18, 3 << 18}}, // a third of the time: a quarter first
		{9 << 10, 40e-3, 4, []int{1 << 10, 8 << 10}},     // not more than eightfold
	} {
		got := lead(c.n, c.upload, c.add)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A sum for which another leaves too little memory waits until it is alone.
func TestStart(t *testing.T) {
	cpu, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	cpu.SetBudget(cpu.InUse() + 1000)
	defer cpu.SetBudget(0)
	r := &resident{dev: cpu, running: make(chan struct{}, 2)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	needs := func(n int64) func(int64) bool { return func(free int64) bool { return n <= free } }
	one, err := r.start(ctx, needs(5000))
	if err != nil {
		t.Fatal(err) // alone it may try
	}
	two, err := r.start(ctx, needs(900))
	if err != nil {
		t.Fatal(err)
	}
	two()
	started := make(chan error)
	go func() {
		stop, err := r.start(ctx, needs(5000))
		if err == nil {
			stop()
		}
		started <- err
	}()
	select {
	case err := <-started:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	one()
	if err := <-started; err != nil {
		t.Error(err)
	}
	one, _ = r.start(ctx, needs(0))
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := r.start(ctx, needs(5000)); !errors.Is(err, context.Canceled) {
		t.Errorf("waited in vain: %v", err)
	}
	one()
	if len(r.running) != 0 {
		t.Errorf("%d places are taken at the end", len(r.running))
	}
}
