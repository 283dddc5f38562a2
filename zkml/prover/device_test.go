package prover

import (
	"errors"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/examples/digits"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

func TestMain(m *testing.M) { devicetest.Main(m, Source, ClaimsSource, FactorsSource, LeavesSource) }

// sameBytes makes keys and a proof of c on every device, compares all bytes,
// verifies, and sees that kernels ran and that memory is given back.
func sameBytes(t *testing.T, c *zkmltest.Case, opts *SetupOptions) {
	devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
		if err := preload(q); err != nil { // what it leaves stays
			t.Fatal(err)
		}
		before, launched := inUse(q.Device()), q.Stats().Launches
		vk, pk, err := Setup(q, c.Program, c.Weights, opts)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Prove(q, pk, c.X, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := zkml.Verify(vk, c.X, r.Y, r.Proof, nil); err != nil {
			t.Fatal(err)
		}
		if now := inUse(q.Device()); now != before {
			t.Errorf("%d bytes of device memory are not given back", now-before)
		}
		if launched == q.Stats().Launches && !q.OnHost() {
			t.Error("no kernel ran")
		}
		return append(vk.Encode(), r.Proof...)
	})
}

// TestSameBytes proves programs of every kind, among them perceptrons of odd
// widths.
func TestSameBytes(t *testing.T) {
	cases := zkmltest.Cases()
	for _, width := range []int{1, 3, 5, 7, 33, 100} {
		cases = append(cases, zkmltest.MLP(100+uint64(width), 1, width, width, width))
	}
	for seed := range uint64(12) {
		cases = append(cases, zkmltest.Wide(200+seed))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { sameBytes(t, c, &quick) })
	}
}

// TestSameBytesDigits proves what the model that ships reads in a picture, with
// the parameters and the work of real keys.
func TestSameBytesDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator takes seconds")
	}
	m, err := onnx.Parse(digits.Model, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := digits.Samples()
	if err != nil {
		t.Fatal(err)
	}
	calibration, _, err := quant.Calibrate(m, samples, quant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, w, err := quant.Build(m, calibration)
	if err != nil {
		t.Fatal(err)
	}
	x, err := quant.QuantizeInput(p, samples[0])
	if err != nil {
		t.Fatal(err)
	}
	sameBytes(t, &zkmltest.Case{Name: "digits", Program: p, Weights: w, X: x}, nil)
}

// beside is more than sums of parts in small proofs take.
const beside = 1 << 17

// least is the memory that a proof cannot do without, the key's included.
func least(t *testing.T, k *keyed) int64 {
	l, err := k.pk.layout()
	if err != nil {
		t.Fatal(err)
	}
	key, proof := l.least()
	return key + proof
}

// unchecked proves without asking for memory first.
func unchecked(q *device.Queue, k *keyed) (*Result, error) {
	l, err := k.pk.layout()
	if err != nil {
		return nil, err
	}
	key, err := k.pk.load(q, l, nil, Wide)
	if err != nil {
		return nil, err
	}
	defer key.free()
	return prove(q, k.pk, l, key, k.X, new(Options))
}

// TestMemoryBudget runs out of memory at every allocation in turn; nothing may
// leak.
func TestMemoryBudget(t *testing.T) {
	k := mlp(t)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if err := preload(q); err != nil { // what it leaves stays
			t.Fatal(err)
		}
		d := q.Device()
		before := inUse(d)
		defer d.SetBudget(0)
		failed := 0
		for budget := int64(64); budget < 1<<22; budget += budget / 8 {
			d.SetBudget(before + budget)
			_, err := unchecked(q, k)
			if err != nil {
				failed++
				if !errors.Is(err, device.ErrNoMemory) {
					t.Fatalf("budget %d: %v", budget, err)
				}
			}
			if now := inUse(d); now != before {
				t.Fatalf("budget %d: %d bytes are not given back (%v)", budget, now-before, err)
			}
			if err == nil {
				if least := least(t, k); budget < least || budget > 2*least+beside {
					t.Errorf("%d bytes were enough, asked for at least %d", budget, least)
				}
				break
			}
		}
		if failed < 10 {
			t.Errorf("only %d budgets were too small", failed)
		}
	})
}

// TestMemoryAskedFirst: what cannot fit is refused before anything is launched,
// with the bytes needed; a bound that is met refuses nothing.
func TestMemoryAskedFirst(t *testing.T) {
	k := mlp(t)
	least := least(t, k)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		defer d.SetBudget(0)
		d.SetBudget(inUse(d) + least - 1)
		before := q.Stats()
		_, err := Prove(q, k.pk, k.X, nil)
		var failure *device.Error
		if !errors.As(err, &failure) || !errors.Is(err, device.ErrNoMemory) || failure.Bytes != least {
			t.Fatalf("want a refusal naming %d bytes, got %v", least, err)
		}
		if q.Stats() != before {
			t.Errorf("work was done before the refusal: %+v, then %+v", before, q.Stats())
		}
		d.SetBudget(inUse(d) + 2*least + beside)
		if _, err := Prove(q, k.pk, k.X, nil); err != nil {
			t.Fatal(err)
		}
	})
}
