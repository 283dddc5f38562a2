package circom

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// faulty is a runner whose proofs are of other numbers than they should be.
type faulty struct{ runner }

func (f faulty) prove(ctx context.Context, w []Element, r, s *big.Int) (Proof, error) {
	p, err := f.runner.prove(ctx, w, r, s)
	if err == nil {
		p.A = p.C
	}
	return p, err
}

// failing is a runner that has an error.
type failing struct {
	runner
	err error
}

func (f failing) prove(context.Context, []Element, *big.Int, *big.Int) (Proof, error) {
	return Proof{}, f.err
}

// Where the choice of the device was the prover's the CPU helps a device that fails, else
// not, and never where the mistake is another.
func TestDeviceFails(t *testing.T) {
	key, err := OpenZKey("testdata/multiplier_bn128.zkey")
	if err != nil {
		t.Fatal(err)
	}
	w, err := OpenWitness("testdata/multiplier_bn128.wtns")
	if err != nil {
		t.Fatal(err)
	}
	run, err := key.provingKey.on(key, []*device.Device{devicetest.Open(t, "cpu")})
	if err != nil {
		t.Fatal(err)
	}
	defer run.close()
	for _, c := range []struct {
		device string
		err    error
		helps  bool
	}{
		{"auto", device.ErrNoMemory, true}, {"auto", device.ErrFault, true}, {"auto", device.ErrUsage, false}, {"auto", context.Canceled, false},
		{"simt", device.ErrNoMemory, false}, {"simt", device.ErrFault, false},
	} {
		var log bytes.Buffer
		o := Options{Device: c.device, Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(&log, nil))}
		p := &Prover{key: key, o: o, dev: devicetest.Open(t, "simt"), run: failing{run, c.err}}
		proof, err := p.Prove(t.Context(), w)
		if !c.helps {
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), "simt") || log.Len() > 0 {
				t.Errorf("%s, %v: %v; log %q", c.device, c.err, err, &log)
			}
			continue
		}
		if err == nil {
			err = Verify(key.VerifyingKey(), w.Public(key.NumPublic()), proof)
		}
		if err != nil || !strings.Contains(log.String(), c.err.Error()) {
			t.Errorf("%s, %v: %v; log %q", c.device, c.err, err, &log)
		}
	}
}

// A wrong proof of a device does not come out: the CPU makes it again, and the log says so.
func TestFaultOfDevice(t *testing.T) {
	key, err := OpenZKey("testdata/multiplier_bn128.zkey")
	if err != nil {
		t.Fatal(err)
	}
	w, err := OpenWitness("testdata/multiplier_bn128.wtns")
	if err != nil {
		t.Fatal(err)
	}
	run, err := key.provingKey.on(key, []*device.Device{devicetest.Open(t, "cpu")})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o := Options{Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(&log, nil))}
	p := &Prover{key: key, o: o, dev: devicetest.Open(t, "simt"), run: faulty{run}}
	defer p.Close()
	proof, err := p.Prove(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(key.VerifyingKey(), w.Public(key.NumPublic()), proof); err != nil {
		t.Error(err)
	}
	if s := log.String(); !strings.Contains(s, "simt") || !strings.Contains(s, "pairing equation") || !strings.Contains(s, "multiplier_bn128.zkey") {
		t.Errorf("log: %q", s)
	}

	// If it is the witness, nothing is logged; the CPU itself is not asked twice.
	log.Reset()
	w.Values[2] = Element{5}
	for _, dev := range []string{"simt", "cpu"} {
		p.dev = devicetest.Open(t, dev)
		if _, err := p.Prove(t.Context(), w); !errors.Is(err, ErrUnsatisfied) || !strings.Contains(err.Error(), "multiplier_bn128.zkey") {
			t.Errorf("%s: %v", dev, err)
		}
	}
	if log.Len() > 0 {
		t.Errorf("log: %q", &log)
	}
}

// Devices share the sums, and the proof is that of one.
func TestSeveralDevices(t *testing.T) {
	key, err := OpenZKey("testdata/chain_bn128.zkey")
	if err != nil {
		t.Fatal(err)
	}
	w, err := OpenWitness("testdata/chain_bn128.wtns")
	if err != nil {
		t.Fatal(err)
	}
	var want Proof
	simt := func() *device.Device { return devicetest.Open(t, "simt") }
	for i, devices := range [][]*device.Device{{devicetest.Open(t, "cpu")}, {simt(), simt(), simt()}} {
		run, err := key.provingKey.on(key, devices)
		if err != nil {
			t.Fatal(err)
		}
		got, err := run.prove(t.Context(), w.Values, big.NewInt(123), big.NewInt(456))
		run.close()
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = got
		} else if !reflect.DeepEqual(got, want) {
			t.Error("another proof than the CPU's")
		}
	}
}

// Points on the curve but not of prime order are refused, in proofs and in keys.
func TestOutsideOfSubgroup(t *testing.T) {
	key, err := OpenZKey("testdata/multiplier_bn128.zkey")
	if err != nil {
		t.Fatal(err)
	}
	proof, err := OpenJSON[Proof]("testdata/multiplier_bn128.proof.json")
	if err != nil {
		t.Fatal(err)
	}
	public, err := OpenJSON[Public]("testdata/multiplier_bn128.public.json")
	if err != nil {
		t.Fatal(err)
	}
	// Nearly no point of the twist is of prime order.
	_, _, _, g := bn254.Generators()
	var b, p bn254.E2
	b.Square(&g.X).Mul(&b, &g.X)
	p.Square(&g.Y)
	b.Sub(&p, &b) // y² = x³ + b
	q := bn254.G2Affine{}
	for q.X.A1.SetOne(); ; q.X.A0.Add(&q.X.A0, &q.X.A1) {
		p.Square(&q.X).Mul(&p, &q.X).Add(&p, &b)
		if p.Legendre() == 1 {
			q.Y.Sqrt(&p)
			break
		}
	}
	if !q.IsOnCurve() || q.IsInSubGroup() {
		t.Fatal("not such a point")
	}
	number := func(x interface{ BigInt(*big.Int) *big.Int }) *big.Int { return x.BigInt(new(big.Int)) }
	point := G2{{number(&q.X.A0), number(&q.X.A1)}, {number(&q.Y.A0), number(&q.Y.A1)}}

	const says = "it is not in the subgroup of prime order"
	bad := proof
	bad.B = point
	if err := Verify(key.VerifyingKey(), public, bad); !errors.Is(err, ErrProof) || !strings.Contains(err.Error(), "pi_b: "+says) {
		t.Error(err)
	}
	vk := *key.VerifyingKey()
	vk.Delta = point
	if err := Verify(&vk, public, proof); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "vk_delta_2: "+says) {
		t.Error(err)
	}

	// On y² = x³ + 4 of BLS12-381, (0, 2) has order 3.
	if key, err = OpenZKey("testdata/multiplier_bls12381.zkey"); err != nil {
		t.Fatal(err)
	}
	if proof, err = OpenJSON[Proof]("testdata/multiplier_bls12381.proof.json"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pi_a", "pi_c"} {
		bad, small := proof, G1{new(big.Int), big.NewInt(2)}
		if name == "pi_a" {
			bad.A = small
		} else {
			bad.C = small
		}
		if err := Verify(key.VerifyingKey(), public, bad); !errors.Is(err, ErrProof) || !strings.Contains(err.Error(), name+": "+says) {
			t.Error(err)
		}
	}
}
