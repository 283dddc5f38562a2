package prover_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/binarytest"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
)

// TestSharedMemory proves about tables and columns that are the same memory.
func TestSharedMemory(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, kind := range kinds {
			s := binary.Shape{Vars: 6, Degree: 3, Kind: kind}
			r := &reference{in: binarytest.NewInstance(3, s)}
			for j := range r.in.Bits {
				r.in.Bits[j] = r.in.Bits[0]
			}
			for j := range r.in.Ext {
				r.in.Ext[j] = r.in.Ext[0]
			}
			r.in.Claim.Value = r.in.Sum()
			tr := newTranscript()
			r.proof = binarytest.Prove(tr, r.in, binarytest.Cheat{})
			in := upload(t, q, r.in)
			for j := range in.Bits {
				in.Bits[j] = in.Bits[0]
			}
			for j := range in.Ext {
				in.Ext[j] = in.Ext[0]
			}
			for _, a := range prover.Algorithms() {
				if prover.Supports(kind, a) != nil {
					continue
				}
				t.Run(fmt.Sprint(kind, a), func(t *testing.T) {
					proof, _, err := prover.Prove(context.Background(), q, newTranscript(), in, r.in.Claim.Value, prover.Options{Algorithm: a})
					if errors.Is(err, prover.ErrNotOnDevice) {
						t.Skip(err)
					}
					if err != nil {
						t.Fatal(err)
					}
					if !slices.EqualFunc(proof.Rounds, r.proof.Rounds, slices.Equal) || !slices.Equal(proof.Evals, r.proof.Evals) {
						t.Fatal("not the naive prover's proof")
					}
				})
			}
		}
	})
}

// TestConcurrently proves from the same buffers on several queues at a time.
func TestConcurrently(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		s := binary.Shape{Vars: 9, Degree: 3, Kind: binary.ExtBits}
		if q.Device().Kind() == device.SIMT {
			s.Vars = 6
		}
		r := refer(5, s)
		in := upload(t, q, r.in)
		if err := q.Sync(); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		errs := make(chan error, 6)
		for i := range 6 {
			own := devicetest.Queue(t, q.Device())
			wg.Go(func() {
				proof, _, err := prover.Prove(context.Background(), own, newTranscript(), in, r.in.Claim.Value, prover.Options{Algorithm: prover.Algorithm(i % 5)})
				if err == nil && !slices.EqualFunc(proof.Rounds, r.proof.Rounds, slices.Equal) {
					err = fmt.Errorf("prover %d: not the naive prover's proof", i)
				}
				if !errors.Is(err, prover.ErrNotOnDevice) {
					errs <- err
				}
			})
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// TestCancel stops provers before and during their work; the transcript stays.
func TestCancel(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		in, value := bigInstance(t, q, binary.Shape{Vars: 12, Degree: 3, Kind: binary.ExtBits})
		for _, a := range prover.Algorithms() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			tr := newTranscript()
			if _, _, err := prover.Prove(ctx, q, tr, in, value, prover.Options{Algorithm: a}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v: error %v, want context.Canceled", a, err)
			}
			if tr.State() != newTranscript().State() {
				t.Errorf("%v: the transcript has changed", a)
			}
		}
	})
	d := devicetest.Open(t, "cpu")
	q := devicetest.Queue(t, d)
	in, value := bigInstance(t, q, binary.Shape{Vars: 18, Degree: 4, Kind: binary.ExtBits})
	ctx := &endsAt{Context: context.Background()}
	ctx.left.Store(6) // the cores look, between parts of a table
	if _, _, err := prover.Prove(ctx, q, newTranscript(), in, value, prover.Options{Algorithm: prover.BDT2}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if d.InUse() < 1<<22 {
		t.Errorf("%d bytes in use: the caller's tables are gone", d.InUse())
	}
}

// endsAt is a context that is done from the look at it with that number on.
type endsAt struct {
	context.Context
	left atomic.Int64
}

func (c *endsAt) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelAnywhere stops provers at each look that they take at the context: nothing is
// kept, and the transcript stays.
func TestCancelAnywhere(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, kind := range kinds {
			claimed := binarytest.NewInstance(12, binary.Shape{Vars: 12, Degree: 3, Kind: kind})
			in, value := upload(t, q, claimed), claimed.Claim.Value
			for _, a := range prover.Algorithms() {
				if prover.Supports(kind, a) != nil {
					continue
				}
				before, looks := q.Device().InUse(), int64(0)
				for ; ; looks++ {
					ctx, tr := &endsAt{Context: context.Background()}, newTranscript()
					ctx.left.Store(looks)
					_, _, err := prover.Prove(ctx, q, tr, in, value, prover.Options{Algorithm: a})
					if now := q.Device().InUse(); now != before {
						t.Fatalf("%v, %v: %d bytes are kept when stopped at look %d", kind, a, now-before, looks)
					}
					if err == nil {
						break
					}
					if !errors.Is(err, context.Canceled) {
						t.Fatalf("%v, %v: error %v, want context.Canceled", kind, a, err)
					}
					if tr.State() != newTranscript().State() {
						t.Fatalf("%v, %v: the transcript has changed when stopped at look %d", kind, a, looks)
					}
				}
				if looks < 4 {
					t.Errorf("%v, %v: %d looks at the context, want at least 4", kind, a, looks)
				}
			}
		}
	})
}

// TestMemory proves within a budget that is too small: an error of one line, and nothing kept.
func TestMemory(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		for _, kind := range kinds {
			claimed := binarytest.NewInstance(12, binary.Shape{Vars: 12, Degree: 3, Kind: kind})
			in, value := upload(t, q, claimed), claimed.Claim.Value
			before := d.InUse()
			d.SetBudget(before + 4096)
			defer d.SetBudget(0)
			for _, a := range prover.Algorithms() {
				if prover.Supports(kind, a) != nil {
					continue
				}
				_, _, err := prover.Prove(context.Background(), q, newTranscript(), in, value, prover.Options{Algorithm: a})
				var e *device.Error
				if !errors.Is(err, device.ErrNoMemory) || !errors.As(err, &e) || e.Bytes == 0 || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, %v: error %v, want device.ErrNoMemory with its bytes", kind, a, err)
				}
				if d.InUse() != before {
					t.Errorf("%v, %v: %d bytes are kept", kind, a, d.InUse()-before)
				}
			}
			d.SetBudget(0)
		}
	})
}

// TestBadInput asks for proofs of what is no claim.
func TestBadInput(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		s := binary.Shape{Vars: 4, Degree: 3, Kind: binary.ExtBits}
		good := func() prover.Instance { return upload(t, q, binarytest.NewInstance(1, s)) }
		prove := func(in prover.Instance, a prover.Algorithm) error {
			_, _, err := prover.Prove(context.Background(), q, newTranscript(), in, gf2.One(), prover.Options{Algorithm: a})
			return err
		}
		misfits := map[string]struct {
			change    func(*prover.Instance)
			want, got int
		}{
			"tables":              {func(in *prover.Instance) { in.Ext = nil }, 1, 0},
			"columns":             {func(in *prover.Instance) { in.Bits = in.Bits[:1] }, 2, 1},
			"coordinates of z":    {func(in *prover.Instance) { in.Z = make([]gf2.Element, 3) }, 0, 3},
			"elements of table 0": {func(in *prover.Instance) { in.Ext[0] = in.Ext[0].Slice(0, 15) }, 16, 15},
			"words of column 1":   {func(in *prover.Instance) { in.Bits[1] = in.Bits[1].Slice(0, 0) }, 1, 0},
		}
		for what, c := range misfits {
			in := good()
			c.change(&in)
			var e *prover.InstanceError
			if err := prove(in, prover.Window); !errors.As(err, &e) || e.What != what || e.Want != c.want || e.Got != c.got {
				t.Errorf("%s: error %v", what, err)
			}
		}
		in := good()
		in.Bits[1] = devicetest.Upload(t, q, []uint32{1 << 16})
		var padding *gf2.PaddingError
		if err := prove(in, prover.Window); !errors.As(err, &padding) || padding.Word != 1<<16 {
			t.Errorf("a bit above 2^n: error %v", err)
		}
		for _, vars := range []int{0, -1, 41} {
			in := good()
			in.Vars = vars
			var e *binary.RangeError
			if err := prove(in, prover.Window); !errors.As(err, &e) || !errors.Is(err, binary.ErrShape) {
				t.Errorf("%d variables: error %v", vars, err)
			}
		}
		for _, degree := range []int{1, 6} {
			in := good()
			in.Degree = degree
			var e *binary.RangeError
			if err := prove(in, prover.Window); !errors.As(err, &e) {
				t.Errorf("degree %d: error %v", degree, err)
			}
		}
		var e *prover.AlgorithmError
		for _, a := range []prover.Algorithm{-1, 5} {
			if err := prove(good(), a); !errors.As(err, &e) || e.Got != a {
				t.Errorf("algorithm %d: error %v", a, err)
			}
		}
		all := upload(t, q, binarytest.NewInstance(1, binary.Shape{Vars: 4, Degree: 3, Kind: binary.AllExt}))
		for _, a := range []prover.Algorithm{prover.BDT2, prover.SumCATS1, prover.SumCATS2} {
			if err := prove(all, a); !errors.As(err, &e) || e.Got != a || e.Kind != binary.AllExt {
				t.Errorf("%v without bits: error %v", a, err)
			}
		}
		freed := good()
		freed.Ext[0].Free()
		if err := prove(freed, prover.Window); !errors.Is(err, device.ErrUsage) {
			t.Errorf("a table given back: error %v", err)
		}
	})
}

func TestAlgorithmNames(t *testing.T) {
	for _, a := range prover.Algorithms() {
		if got, err := prover.ParseAlgorithm(a.String()); err != nil || got != a {
			t.Errorf("%v is parsed as %v, %v", a, got, err)
		}
	}
	var e *prover.AlgorithmNameError
	if _, err := prover.ParseAlgorithm("bdt3"); !errors.As(err, &e) || e.Got != "bdt3" {
		t.Errorf("bdt3: error %v", err)
	}
}
