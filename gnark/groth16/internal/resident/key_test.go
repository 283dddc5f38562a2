package resident

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/utils"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm/bn254"
)

type (
	g1 = curve.G1Affine
	g2 = curve.G2Affine
)

// proof is a key of points with known logarithms, values of a proof, and its sums.
type proof struct {
	q    Queries[g1, g2, fr.Element]
	v    Values[fr.Element]
	h    []fr.Element
	want Sums[g1, g2]
}

func random(r *rand.Rand, n int) []fr.Element {
	out := make([]fr.Element, n)
	for i := range out {
		out[i].SetUint64(r.Uint64()).Inverse(&out[i])
	}
	return out
}

// example has so many wires, of which those that a and b say are at infinity in A and B, and
// those in K are from wire k on, but for some that proofs tell.
func example(r *rand.Rand, n, wires, k int, a, b func(i int) bool, out []int) *proof {
	p := &proof{}
	_, _, gen1, gen2 := curve.Generators()
	p.v.Wires = random(r, wires)
	if wires > 4 {
		p.v.Wires[2], p.v.Wires[3] = fr.Element{}, fr.One()
	}
	dot := func(logs, scalars []fr.Element) (sum fr.Element) {
		var x fr.Element
		for i := range logs {
			sum.Add(&sum, x.Mul(&logs[i], &scalars[i]))
		}
		return sum
	}
	multiply := func(x fr.Element) g1 { return curve.BatchScalarMultiplicationG1(&gen1, []fr.Element{x})[0] }
	p.q = Queries[g1, g2, fr.Element]{G1: bn254.G1, G2: bn254.G2, InfinityA: make([]bool, wires), InfinityB: make([]bool, wires), N: uint64(n)}
	var inA, inB []fr.Element
	for i := range wires {
		if p.q.InfinityA[i] = a(i); !a(i) {
			inA = append(inA, p.v.Wires[i])
		}
		if p.q.InfinityB[i] = b(i); !b(i) {
			inB = append(inB, p.v.Wires[i])
		}
	}
	logs := random(r, len(inA))
	p.q.A, p.want.A = curve.BatchScalarMultiplicationG1(&gen1, logs), multiply(dot(logs, inA))
	logs = random(r, len(inB))
	p.q.B, p.q.B2, p.want.B = curve.BatchScalarMultiplicationG1(&gen1, logs), curve.BatchScalarMultiplicationG2(&gen2, logs), multiply(dot(logs, inB))
	p.want.B2 = curve.BatchScalarMultiplicationG2(&gen2, []fr.Element{dot(logs, inB)})[0]
	list := All(k, wires)
	if out == nil {
		p.q.KnownK = &list
	} else {
		list = Except(k, wires, out)
	}
	p.v.K = &list
	logs = random(r, list.N)
	p.q.K, p.want.K = curve.BatchScalarMultiplicationG1(&gen1, logs), multiply(dot(logs, scalarsOf(&list, p.v.Wires)))

	// The points of Z are tⁱ for the index i that has its bits reversed, so that the sum is
	// h(t).
	domain := fft.NewDomain(uint64(n))
	p.q.Generator, p.q.Coset = new(big.Int), new(big.Int)
	domain.Generator.BigInt(p.q.Generator)
	domain.FrMultiplicativeGen.BigInt(p.q.Coset)
	given := n - n/8
	p.v.A, p.v.B, p.v.C = random(r, given), random(r, given), make([]fr.Element, given)
	for i := range p.v.C {
		p.v.C[i].Mul(&p.v.A[i], &p.v.B[i])
	}
	point := fr.NewElement(12345)
	powers := make([]fr.Element, n)
	powers[0] = fr.One()
	for i := 1; i < n; i++ {
		powers[i].Mul(&powers[i-1], &point)
	}
	var at [3]fr.Element // of A, B and C at t
	var polynomials [3][]fr.Element
	for i, v := range [][]fr.Element{p.v.A, p.v.B, p.v.C} {
		f := append(slices.Clone(v), make([]fr.Element, n-given)...)
		domain.FFTInverse(f, fft.DIF)
		utils.BitReverse(f)
		at[i], polynomials[i] = dot(f, powers), f
	}
	var h, z fr.Element
	one := fr.One()
	z.Exp(point, big.NewInt(int64(n))).Sub(&z, &one).Inverse(&z)
	h.Mul(&at[0], &at[1]).Sub(&h, &at[2]).Mul(&h, &z)
	p.want.Z = multiply(h)
	// The upper half of the product of A and B is h.
	p.h = make([]fr.Element, n)
	var x fr.Element
	for i := range n {
		for j := n - i; j < n; j++ {
			p.h[i+j-n].Add(&p.h[i+j-n], x.Mul(&polynomials[0][i], &polynomials[1][j]))
		}
	}
	utils.BitReverse(p.h)
	utils.BitReverse(powers)
	p.q.Z, p.h = curve.BatchScalarMultiplicationG1(&gen1, powers)[:n-1], p.h[:n-1]
	return p
}

// sums checks a key's sums.
func (p *proof) sums(t *testing.T, name string, k *Key[g1, g2, fr.Element]) {
	t.Helper()
	var b g1
	var b2 g2
	cpu := func() ([]fr.Element, error) { return slices.Clone(p.h), nil }
	got, err := k.Sum(context.Background(), p.v, cpu, func(x g1, y g2) error { b, b2 = x, y; return nil })
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if *got != p.want || b != p.want.B || b2 != p.want.B2 {
		t.Errorf("%s: A %v, B %v %v, in time %v %v, K %v, Z %v", name, got.A == p.want.A, got.B == p.want.B, got.B2 == p.want.B2,
			b == p.want.B, b2 == p.want.B2, got.K == p.want.K, got.Z == p.want.Z)
	}
}

func never(int) bool  { return false }
func always(int) bool { return true }

// The sums of proofs are right on one device and on several, for queries whose wires are
// hardly the same, nearly, or the same, for wires in no query, and for K's that proofs tell.
func TestSums(t *testing.T) {
	for _, name := range []string{"simt", "cuda"} {
		t.Run(name, func(t *testing.T) { sumsOn(t, devicetest.Open(t, name)) })
	}
}

func sumsOn(t *testing.T, d *device.Device) {
	r := rand.New(rand.NewPCG(5, 6))
	some := func(n int) func(int) bool { return func(i int) bool { return i*7%n == 0 } }
	for _, c := range []struct {
		name    string
		p       *proof
		devices []int
		bundles int // of a device that has all
	}{
		{"all wires in all", example(r, 32, 40, 3, never, never, nil), []int{1, 3}, 1},
		{"nearly all", example(r, 16, 100, 4, some(60), some(99), nil), []int{1}, 1},
		{"few in B", example(r, 16, 40, 3, some(30), func(i int) bool { return i%5 > 0 }, nil), []int{2}, 2},
		{"none in B", example(r, 16, 40, 3, never, always, nil), []int{1}, 2},
		{"committed", example(r, 16, 30, 3, some(9), some(20), []int{7, 8, 20}), []int{1, 2}, 3},
		{"one wire", example(r, 2, 1, 1, never, never, nil), []int{1, 4}, 2},
	} {
		for _, devices := range c.devices {
			name := fmt.Sprintf("%s, %d devices", c.name, devices)
			before := d.InUse()
			place, err := NewPlace(slices.Repeat([]*device.Device{d}, devices), 0)
			if err != nil {
				t.Fatal(err)
			}
			place.share, place.Serial = 1, devices == 2
			k, err := Load[*g1, *g2](place, c.p.q)
			if err != nil {
				t.Fatal(err)
			}
			if !place.Whole() || place.Bytes() == 0 || devices == 1 && len(k.shares[0].bundles) != c.bundles {
				t.Errorf("%s: whole %v, %d bytes, %d bundles", name, place.Whole(), place.Bytes(), len(k.shares[0].bundles))
			}
			c.p.sums(t, name, k)
			if c.devices[0] == 1 && c.p.q.KnownK == nil {
				c.p.sums(t, name+", again", k)
			}
			k.Close()
			if left := d.InUse() - before; left != 0 {
				t.Errorf("%s: %d bytes are left on the device", name, left)
			}
		}
	}
}

// Sums are right where points, or scalars, have no room, and where somebody else takes it
// later; in the end it is an error that says how much is wanted.
func TestRoom(t *testing.T) {
	d := devicetest.Open(t, "simt")
	r := rand.New(rand.NewPCG(7, 8))
	p := example(r, 32, 48, 3, never, func(i int) bool { return i%8 == 0 }, nil)
	for _, memory := range []int64{1, 64 * 110, 1 << 40} {
		place, err := NewPlace([]*device.Device{d}, memory)
		if err != nil {
			t.Fatal(err)
		}
		place.share, place.tile = 1, 20
		k, err := Load[*g1, *g2](place, p.q)
		if err != nil {
			t.Fatal(err)
		}
		if place.Whole() != (memory == 1<<40) || place.Bytes() > memory {
			t.Errorf("%d bytes: %d taken, whole %v", memory, place.Bytes(), place.Whole())
		}
		p.sums(t, fmt.Sprintf("%d bytes for points", memory), k)
		if memory == 1<<40 {
			k.inTurn = true
			p.sums(t, "wires before values", k)
		} else if memory > 1 {
			k.fromHost = true
			p.sums(t, "scalars of the host", k)
		}
		k.Close()
	}
	defer d.SetBudget(0)
	failed := false
	for _, room := range []int64{16 << 20, 2 << 20, 1 << 10} {
		d.SetBudget(d.InUse() + room)
		place, err := NewPlace([]*device.Device{d}, 0)
		if err != nil {
			t.Fatal(err)
		}
		place.share = 1
		k, err := Load[*g1, *g2](place, p.q)
		if err != nil {
			t.Fatalf("room of %d bytes: %v", room, err)
		}
		_, err = k.Sum(t.Context(), p.v, func() ([]fr.Element, error) { return p.h, nil }, nil)
		var e *device.Error
		switch {
		case err == nil && failed:
			t.Errorf("room of %d bytes does, more did not", room)
		case err == nil:
			p.sums(t, fmt.Sprintf("room of %d bytes", room), k)
		case !errors.As(err, &e) || !errors.Is(err, device.ErrNoMemory) || e.Bytes <= room:
			t.Errorf("room of %d bytes: %v", room, err)
		default:
			failed = true
		}
		if err == nil {
			// Now the memory for transforms and scalars is somebody else's.
			d.SetBudget(d.InUse() + room/2)
			if _, err := k.Sum(t.Context(), p.v, func() ([]fr.Element, error) { return slices.Clone(p.h), nil }, nil); err != nil && !errors.Is(err, device.ErrNoMemory) {
				t.Errorf("half of %d bytes: %v", room, err)
			}
		}
		k.Close()
	}
	if !failed {
		t.Error("a kilobyte of memory does")
	}
}

// A failure of what a proof calls, and the caller's context, end its sums; a domain of
// another kind is for the CPU; and scalars that are none are found.
func TestSumsFail(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	p := example(r, 64, 40, 3, never, never, nil)
	for _, name := range []string{"cpu", "simt"} {
		d := devicetest.Open(t, name)
		place, err := NewPlace([]*device.Device{d}, 0)
		if err != nil {
			t.Fatal(err)
		}
		q := p.q
		q.Coset = big.NewInt(7)
		k, err := Load[*g1, *g2](place, q)
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		p.sums(t, name, k)
		mine := errors.New("mine")
		h := func() ([]fr.Element, error) { return p.h, nil }
		if _, err := k.Sum(t.Context(), p.v, func() ([]fr.Element, error) { return nil, mine }, nil); !errors.Is(err, mine) {
			t.Errorf("%s: h fails: %v", name, err)
		}
		if _, err := k.Sum(t.Context(), p.v, h, func(g1, g2) error { return mine }); !errors.Is(err, mine) {
			t.Errorf("%s: B fails: %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := k.Sum(ctx, p.v, h, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", name, err)
		}
		bad := p.v
		bad.Wires = slices.Clone(bad.Wires)
		bad.Wires[30] = fr.Element{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
		if _, err := k.Sum(t.Context(), bad, h, nil); err == nil || !strings.Contains(err.Error(), "sum over query") {
			t.Errorf("%s: a scalar above the order: %v", name, err)
		}
		p.sums(t, name+" after failures", k)
	}
}

// Where memory runs short after h was computed on the host, in place of the values that it is
// made of, it is not computed once more of what is left of them.
func TestQuotientOnce(t *testing.T) {
	d := devicetest.Open(t, "simt")
	p := example(rand.New(rand.NewPCG(9, 10)), 2, 1, 1, never, never, nil)
	p.q.WithoutTransforms = true
	place, err := NewPlace([]*device.Device{d}, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Load[*g1, *g2](place, p.q)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	calls, short := 0, error(&device.Error{Device: d.Name(), Op: "sum", Class: device.ErrNoMemory})
	got, err := k.Sum(t.Context(), p.v, func() ([]fr.Element, error) {
		calls++
		return p.h, nil
	}, func(g1, g2) error {
		err := short
		short = nil
		return err
	})
	if err != nil || *got != p.want || calls != 1 {
		t.Errorf("h was computed %d times, sums right %v, error %v", calls, got != nil && *got == p.want, err)
	}
}

// Scalars that cannot be picked leave nothing on the device, whose memory may be what is short.
func TestPickFails(t *testing.T) {
	d := devicetest.Open(t, "simt")
	q := devicetest.Queue(t, d)
	list := Except(0, 9, []int{4})
	w := &work[g1, g2, fr.Element]{v: Values[fr.Element]{Wires: make([]fr.Element, 9), K: &list}}
	b := &bundle[fr.Element]{unknown: true, members: []member[fr.Element]{&points[g1, fr.Element]{n: list.N}}}
	wires := devicetest.Upload(t, q, w.v.Wires)
	before := d.InUse()
	d.SetBudget(before + int64(list.N)*32) // and nothing for indices
	defer d.SetBudget(0)
	if _, err := w.pick(q, &share[fr.Element]{dev: d, hi: 9}, b, wires); !errors.Is(err, device.ErrNoMemory) {
		t.Errorf("error %v", err)
	}
	if left := d.InUse() - before; left != 0 {
		t.Errorf("%d bytes are left on the device", left)
	}
}
