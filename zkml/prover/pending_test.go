package prover

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// broad has a key of 2^18 words, which takes the host some time to commit to.
var broad = once(func() *zkmltest.Case { return zkmltest.MLP(1, 1, 256, 512, 10) })

// pending is broad on the host, and what is quick on the emulator.
func pending(t *testing.T, q *device.Queue) *keyed {
	if q.OnHost() {
		return broad(t)
	}
	return mlp(t)
}

// eachProved runs a test on every device, with a key that nothing is kept of and a proof with it by the host.
func eachProved(t *testing.T, of func(*testing.T, *device.Queue) *keyed, f func(*testing.T, *device.Queue, *keyed, *Result)) {
	t.Helper()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		k := of(t, q)
		want := k.prove(t, hooks{})
		k.pk.Forget()
		f(t, q, k, want)
	})
}

// leaves compiles what the first proof on a device leaves there. The function that it returns fails the test if more memory is in use than now.
func leaves(t *testing.T, q *device.Queue) func() {
	t.Helper()
	if err := preload(q); err != nil {
		t.Fatal(err)
	}
	before := inUse(q.Device())
	return func() {
		t.Helper()
		if now := inUse(q.Device()); now > before {
			t.Errorf("%d bytes more in use", now-before)
		}
	}
}

// spoiled is a proving key whose weights are not the verifying key's: one of the stack's words is another one, within its bounds.
func spoiled(t *testing.T, k *keyed) *ProvingKey {
	t.Helper()
	pl, err := plan.ForProgram(k.Program, plan.Commits{})
	if err != nil {
		t.Fatal(err)
	}
	stack := pl.StackParams(k.Program, k.Weights)
	stack[0] = m31.FromInt(stack[0].Int() ^ 1)
	return &ProvingKey{vk: k.vk, weights: k.Weights, stack: stack}
}

// TestPendingRoot proves with weights that are not the key's: the key is loaded before that can be known, no proof is given out, and the second
// attempt says the same as the first.
func TestPendingRoot(t *testing.T) {
	k := mlp(t)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		left := leaves(t, q)
		r, err := spoiled(t, k).Load(q)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Wait(q.Context()); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "the weights' commitment is not the verifying key's") {
			t.Errorf("waiting for a commitment to other weights: %v", err)
		}
		for range 2 {
			result, err := r.Prove(q, k.X, nil)
			if result != nil || !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "openings: the proving key is spoiled: the weights' commitment is not the verifying key's") {
				t.Errorf("a proof of other weights: %v", err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		left()
	})
}

// TestForgedRoot makes a key whose commitment alone, with the proof that goes with it, is to other weights than its digest says, each of them within
// its bounds: it decodes, and its own proof holds.
func TestForgedRoot(t *testing.T) {
	k := mlp(t)
	opts := quick
	opts.hooks.params = func(_ *plan.Plan, stack []m31.Element) { stack[0] = m31.FromInt(stack[0].Int() ^ 1) }
	_, forged, err := Setup(cpu(t), k.Program, k.Weights, &opts)
	if err != nil {
		t.Fatal(err)
	}
	data, err := forged.Encode()
	if err != nil {
		t.Fatal(err)
	}
	pk, err := DecodeProvingKey(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := pk.VerifyingKey().Check(); err != nil || pk.VerifyingKey().WeightsDigest() != k.vk.WeightsDigest() || pk.VerifyingKey().Root() == k.vk.Root() {
		t.Fatalf("the key is not what the test is about: %v", err)
	}
	if err := pk.CheckRoot(cpu(t)); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "the weights' commitment is not the verifying key's") {
		t.Errorf("a key with the root of other weights: %v", err)
	}
	if err := k.pk.CheckRoot(cpu(t)); err != nil {
		t.Error(err)
	}
}

// TestPendingMemory loads a key where there is room for its words and not for the commitment to them: that is known at once.
func TestPendingMemory(t *testing.T) {
	k := mlp(t)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if q.OnHost() {
			t.Skip("a goroutine gets the memory")
		}
		left := leaves(t, q)
		d, before := q.Device(), inUse(q.Device())
		r, err := k.pk.Load(q)
		if err != nil {
			t.Fatal(err)
		}
		all := r.Bytes()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		d.SetBudget(before + all - 8)
		defer d.SetBudget(0)
		if _, err := k.pk.Load(q); !errors.Is(err, device.ErrNoMemory) || !strings.Contains(err.Error(), "commit to the parameters") {
			t.Errorf("want no memory for the commitment, got %v", err)
		}
		left()
	})
}

// TestPendingClosed closes a key, and gives it up, while its commitment is being made, and takes it again. On the host no commitment is left behind by
// one that nobody waited for.
func TestPendingClosed(t *testing.T) {
	eachProved(t, pending, func(t *testing.T, q *device.Queue, k *keyed, want *Result) {
		left := leaves(t, q)
		for _, end := range []func(*Resident){func(r *Resident) { _ = r.Close() }, (*Resident).Evict, (*Resident).Drop} {
			r, err := k.pk.Load(q)
			if err != nil {
				t.Fatal(err)
			}
			if q.OnHost() && !r.key.committed.making() {
				t.Error("the commitment was there before Load returned")
			}
			end(r)
			left()
			if k.pk.committed != nil {
				t.Error("a commitment is left that nobody waited for")
			}
		}
		got, err := Prove(q, k.pk, k.X, nil)
		if err != nil || !bytes.Equal(got.Proof, want.Proof) {
			t.Errorf("another proof afterwards, or none: %v", err)
		}
		k.pk.Forget()
	})
}

// TestPendingShared gives up a key that is loaded once more, as where one key proves two parts of a chain, while its commitment is being made
// and when it is there: the other goes on with it, and gives its memory back.
func TestPendingShared(t *testing.T) {
	small := func(t *testing.T, _ *device.Queue) *keyed { return mlp(t) }
	eachProved(t, small, func(t *testing.T, q *device.Queue, k *keyed, want *Result) {
		left := leaves(t, q)
		for _, wait := range []bool{false, true} {
			first, err := k.pk.Load(q)
			if err != nil {
				t.Fatal(err)
			}
			second, err := k.pk.Load(q)
			if err != nil {
				t.Fatal(err)
			}
			if wait {
				if err := second.Wait(q.Context()); err != nil {
					t.Fatal(err)
				}
			}
			first.Drop()
			got, err := second.Prove(q, k.X, nil)
			if err != nil || !bytes.Equal(got.Proof, want.Proof) {
				t.Errorf("another proof with a key that was given up elsewhere, or none: %v", err)
			}
			if err := second.Close(); err != nil {
				t.Fatal(err)
			}
			left()
		}
	})
}

// TestPendingCancelled cancels the proof that began the commitment while another one, which shares it, goes on.
func TestPendingCancelled(t *testing.T) {
	eachProved(t, pending, func(t *testing.T, q *device.Queue, k *keyed, want *Result) {
		r := k.pk.On(q.Device())
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		first, err := q.Device().NewQueue(ctx)
		if err != nil {
			t.Fatal(err)
		}
		begun := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			_, err := r.Prove(first, k.X, &Options{Progress: func(s Stage, done bool) {
				if s == StageForward && !done {
					close(begun)
					<-ctx.Done()
				}
			}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled proof: %v", err)
			}
		})
		<-begun
		got, err := r.Prove(q, k.X, &Options{Progress: func(s Stage, done bool) {
			if s == StageCommit && !done {
				cancel()
			}
		}})
		if err != nil || !bytes.Equal(got.Proof, want.Proof) {
			t.Errorf("another proof beside a cancelled one, or none: %v", err)
		}
		all.Wait()
		_ = first.Close()
		r.Drop()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
