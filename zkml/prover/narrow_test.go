package prover

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestNarrow keeps keys narrow, with committed and with public weights of 1, 2 and 4 bytes: proofs are those of the CPU, one after the other, side by
// side and after an eviction; between them the key takes what MemoryAs says, and nothing is left after Close.
func TestNarrow(t *testing.T) {
	p, w := storedProgram(t, [][]int{{2, 3, 5}, {3, 5}, {5}, {}})
	x := slices.Repeat([]int32{1, -2, 3}, 10)
	for _, mode := range []zkml.Mode{zkml.Committed, zkml.PublicWeights} {
		opts := quick
		opts.Mode = mode
		_, pk, err := Setup(cpu(t), p, w, &opts)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Prove(cpu(t), pk, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(mode.String(), func(t *testing.T) {
			devicetest.Each(t, func(t *testing.T, q *device.Queue) {
				d := q.Device()
				if err := preload(q); err != nil {
					t.Fatal(err)
				}
				before := inUse(d)
				r := pk.OnAs(d, Narrow)
				prove := func(q *device.Queue) {
					got, err := r.Prove(q, x, nil)
					if err != nil {
						t.Error(err)
					} else if !bytes.Equal(got.Proof, want.Proof) || !slices.Equal(got.Y, want.Y) {
						t.Error("another proof")
					}
				}
				held := func() {
					t.Helper()
					key, _, err := pk.MemoryAs(Narrow)
					if err != nil {
						t.Fatal(err)
					}
					if now := inUse(d) - before; !q.OnHost() && (r.Bytes() != key || now < key || now > key+64) {
						t.Errorf("%d bytes in use for a key of %d, expected %d", now, r.Bytes(), key)
					}
				}
				if err := r.Load(q, nil); err != nil {
					t.Fatal(err)
				}
				held()
				prove(q)
				prove(q)
				held()
				var all sync.WaitGroup
				for range 2 {
					all.Go(func() {
						own, err := d.NewQueue(context.Background())
						if err != nil {
							t.Error(err)
							return
						}
						defer own.Close()
						prove(own)
					})
				}
				all.Wait()
				held()
				r.Evict()
				prove(q) // which loads it
				held()
				ctx, cancel := context.WithCancel(context.Background())
				own, err := d.NewQueue(ctx)
				if err != nil {
					t.Fatal(err)
				}
				_, err = r.Prove(own, x, &Options{Progress: func(s Stage, done bool) {
					if s == StageMerge && !done {
						cancel()
					}
				}})
				cancel()
				if !errors.Is(err, context.Canceled) {
					t.Errorf("a cancelled proof: %v", err)
				}
				_ = own.Close()
				held()
				prove(q)
				if err := r.Close(); err != nil || inUse(d) > before {
					t.Errorf("closing: %v, %d bytes more in use", err, inUse(d)-before)
				}
			})
		})
	}
}

// TestNarrowMemory: a narrow key takes less than a wide one, and a proof of it no more than MemoryAs says; with too little there is none, the key stays
// and nothing leaks.
func TestNarrowMemory(t *testing.T) {
	wide, _, err := broad(t).pk.Memory()
	if err != nil {
		t.Fatal(err)
	}
	narrow, _, err := broad(t).pk.MemoryAs(Narrow)
	if err != nil {
		t.Fatal(err)
	}
	if 4*narrow > wide {
		t.Errorf("%d bytes of a narrow key, %d of a wide one", narrow, wide)
	}
	k := mlp(t)
	_, proof, err := k.pk.MemoryAs(Narrow)
	if err != nil {
		t.Fatal(err)
	}
	want := k.prove(t, hooks{})
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		r := k.pk.OnAs(d, Narrow)
		if err := r.Load(q, nil); err != nil {
			t.Fatal(err)
		}
		defer d.SetBudget(0)
		held := inUse(d)
		d.SetBudget(held + proof + beside)
		got, err := r.Prove(q, k.X, nil)
		if err != nil || !bytes.Equal(got.Proof, want.Proof) {
			t.Errorf("another proof, or none: %v", err)
		}
		d.SetBudget(held + 8)
		if err := r.Load(q, nil); err != nil {
			t.Errorf("loading what is there, without memory: %v", err)
		}
		d.SetBudget(held + proof/4)
		if _, err := r.Prove(q, k.X, nil); !errors.Is(err, device.ErrNoMemory) {
			t.Errorf("a proof in a quarter of its memory: %v", err)
		}
		d.SetBudget(0)
		if now := inUse(d); now > held {
			t.Errorf("%d bytes more in use after a proof without memory", now-held)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNarrowRoot: weights that are not the key's give no proof in the narrow form either.
func TestNarrowRoot(t *testing.T) {
	k := mlp(t)
	other := &graph.Weights{Data: slices.Clone(k.Weights.Data)}
	id := k.Program.Params()[0]
	values := other.Of(id).Ints()
	values[0] ^= 1
	other.Data[id] = graph.NewValues(values)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		r := (&ProvingKey{vk: k.vk, weights: other}).OnAs(q.Device(), Narrow)
		for range 2 {
			result, err := r.Prove(q, k.X, nil)
			if result != nil || err == nil || !strings.Contains(err.Error(), "the weights' commitment is not the verifying key's") {
				t.Errorf("a proof of other weights: %v", err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
