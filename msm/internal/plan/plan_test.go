package plan

import (
	"math"
	"math/big"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/mont"
)

// best is the window of the least workload.
func best(gpus int) int {
	least := 2
	for s := 2; s <= 24; s++ {
		if Workload(1<<26, 253, gpus, 1<<16, s) < Workload(1<<26, 253, gpus, 1<<16, least) {
			least = s
		}
	}
	return least
}

func TestWorkload(t *testing.T) {
	for gpus, want := range map[int]int{1: 20, 16: 17} {
		if got := best(gpus); got != want {
			t.Errorf("%d GPUs: %d bits, not %d", gpus, got, want)
		}
	}
}

// check says whether windows are gapless and their buckets hold every digit.
func check(t *testing.T, f *mont.Field, w *Windows, n int) {
	t.Helper()
	at, lowest, highest := 0, new(big.Int), new(big.Int)
	for i, x := range w.List {
		last := i == len(w.List)-1
		if x.Shift != at || x.Bits < 1 || x.Top != last || !last && x.Buckets != 1<<(x.Bits-1) {
			t.Fatalf("%d windows: window %d is %+v at bit %d", len(w.List), i, x, at)
		}
		at += x.Bits
		most := new(big.Int).Lsh(big.NewInt(int64(x.Buckets)), uint(x.Shift))
		if !last {
			lowest.Sub(lowest, most)
			most.Sub(most, new(big.Int).Lsh(big.NewInt(1), uint(x.Shift))) // the largest is one less
		}
		highest.Add(highest, most)
		if x.Table != 0 && x.Shift-w.List[i%(w.Stride/w.List[0].Bits)].Shift != w.Stride*(x.Table/n) {
			t.Errorf("window %d of %d: %+v, copies at a distance of %d bits", i, len(w.List), x, w.Stride)
		}
	}
	if highest.Cmp(magnitude(f)) < 0 || lowest.Sign() > 0 {
		t.Errorf("%d windows do not reach %v", len(w.List), magnitude(f))
	}
	// No bucket of the top window is without use: its last is for the largest number.
	top := w.List[len(w.List)-1]
	if least := new(big.Int).Lsh(big.NewInt(int64(top.Buckets-1)), uint(top.Shift)); top.Buckets > 1 && new(big.Int).Add(least, lowest).Cmp(magnitude(f)) > 0 {
		t.Errorf("%d windows: the top one's last bucket is never used", len(w.List))
	}
}

func TestWindows(t *testing.T) {
	for _, g := range append([]*curve.Group{curve.Toy61}, curve.Groups...) {
		f := g.Scalar
		some := 0
		for count := 1; count <= f.Bits()/2; count++ {
			w, err := Split(f, count)
			if err != nil {
				continue
			}
			some++
			if len(w.List) != count {
				t.Errorf("%s: %d windows for %d", f.Name, len(w.List), count)
			}
			check(t, f, w, 0)
		}
		if some < f.Bits()/3 {
			t.Errorf("%s: only %d counts of windows", f.Name, some)
		}
		for bits := 2; bits <= MaxBits; bits++ {
			for sets := range 5 {
				w, err := Uniform(f, bits, sets, 1000)
				if err != nil {
					t.Fatal(err)
				}
				check(t, f, w, 1000)
				if n := len(w.Sets()) - 1; sets > 0 && w.Copies > 1 && n != sets || w.Copies*max(n, 1) < len(w.List) {
					t.Errorf("%s: %d bits: %d sets, %d copies for %d windows", f.Name, bits, n, w.Copies, len(w.List))
				}
				top := w.List[len(w.List)-1]
				if top.Buckets > 1<<(bits-1) {
					t.Errorf("%s: %d bits: the top window has %d buckets", f.Name, bits, top.Buckets)
				}
			}
		}
	}
	// Widths that divide the bits, a carry's window away.
	for _, c := range []struct {
		f     *mont.Field
		width int
	}{{curve.BN254Fr, 23}, {curve.BN254Fr, 11}, {curve.BLS12377Fr, 21}} {
		w, err := Full(c.f, c.width, 1000)
		if err != nil {
			t.Fatal(err)
		}
		check(t, c.f, w, 1000)
		u, err := Uniform(c.f, c.width, 1, 1000)
		if err != nil || len(u.List) != len(w.List)+1 || len(w.Sets()) != 2 || w.Copies != len(w.List) || w.Buckets() >= 2*u.Buckets() {
			t.Errorf("%s: %d bits: %d windows in %d buckets, %d copies; with a window for the carry %d in %d, %v",
				c.f.Name, c.width, len(w.List), w.Buckets(), w.Copies, len(u.List), u.Buckets(), err)
		}
		if n := u.Entries(c.f); n <= float64(len(w.List)) || n >= float64(len(u.List)) {
			t.Errorf("%s: %d bits: %v entries of %d windows, the top one a carry's", c.f.Name, c.width, n, len(u.List))
		}
	}
	if w, err := Full(curve.BN254Fr, 22, 1000); err == nil {
		t.Errorf("%d windows of 22 bits", len(w.List))
	}
	for _, count := range []int{0, 1, 9, 254} {
		if w, err := Split(curve.BN254Fr, count); err == nil {
			t.Errorf("%d windows: %v", count, w.List[0])
		}
	}
	for _, bits := range []int{-1, 0, 1, 27} {
		if _, err := Uniform(curve.BN254Fr, bits, 0, 1); err == nil {
			t.Errorf("windows of %d bits", bits)
		}
	}
}

func TestChoices(t *testing.T) {
	h100 := CardOf(device.Info{Arch: "sm_90", Units: 132})
	choose := func(p Problem) *Windows { p.Card = h100; return p.Choices()[0] }

	// The sizes of targets. At 2^26 12 windows are within a percent.
	for log, want := range map[int]int{20: 15, 22: 14, 24: 13, 26: 11, 28: 11} {
		if w := choose(Problem{Group: curve.BN254G1, N: 1 << log}); len(w.List) != want || w.Copies != 1 {
			t.Errorf("2^%d points: %d windows, not %d; %d copies", log, len(w.List), want, w.Copies)
		}
	}
	// The carry of 11 windows of 23 bits is a third of a window's digits.
	if w, err := Uniform(curve.BN254Fr, 23, 1, 1<<20); err != nil || math.Abs(w.Entries(curve.BN254Fr)-11.34) > 0.01 {
		t.Errorf("%v entries a scalar, %v", w.Entries(curve.BN254Fr), err)
	}
	// As many threads as a card has must find buckets of their own, or sums of parts of buckets
	// take as long as all else: 2^16 buckets for 2^18 points 1.65 ms, 2^17 buckets 1.25.
	if w := choose(Problem{Group: curve.BN254G1, N: 1 << 18, Tables: 40 << 30}); w.Buckets() < 1<<17 || w.Copies == 1 {
		t.Errorf("2^18 points with tables: %d copies, %d buckets", w.Copies, w.Buckets())
	}
	// Tables are used, and kept within their memory.
	for _, tables := range []int64{1 << 20, 5 << 30, 13 << 30, 60 << 30} {
		w := choose(Problem{Group: curve.BN254G1, N: 1 << 26, Tables: tables})
		if took := int64(w.Copies-1) * 64 << 26; took > tables || tables >= 13<<30 && took == 0 {
			t.Errorf("%d bytes for tables, %d taken", tables, took)
		}
	}
	// More points make wider windows, and more devices do not.
	last := 0
	for log := 4; log <= 28; log += 4 {
		w := choose(Problem{Group: curve.BLS12381G1, N: 1 << log})
		if bits := w.Buckets() / len(w.List); bits < last/2 {
			t.Errorf("2^%d points: %d buckets a window after %d", log, bits, last)
		}
		last = w.Buckets() / len(w.List)
	}
	if w := choose(Problem{Group: curve.BN254G1, N: 1 << 20, Window: 13}); w.List[0].Bits != 13 {
		t.Errorf("windows of %d bits, not the 13 asked for", w.List[0].Bits)
	}
	if w := choose(Problem{Group: curve.Toy61, N: 0}); len(w.List) == 0 {
		t.Error("no windows for no points")
	}
}
