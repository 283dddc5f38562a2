package circom

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
)

// Options are choices of a prover. The zero value is right for most.
type Options struct {
	// Device is where the sums and transforms run: "auto" if it is empty, which is a GPU if
	// there is one and the circuit is large enough for it; "cuda:all" shares each sum among
	// all GPUs, of which the first does the transforms. See device.OpenList.
	Device string
	// Rand is where the two numbers that hide the witness come from, 48 bytes each:
	// crypto/rand if it is nil. Two proofs of different witnesses with the same numbers
	// tell about the witnesses. It must be safe for concurrent use if the Prover is used so.
	Rand io.Reader
	// Log takes reports of devices that failed or computed a wrong proof: slog's default if it
	// is nil.
	Log *slog.Logger
}

// Prover has a key's points on a device, for any number of proofs. It is safe for
// concurrent use.
type Prover struct {
	key *ZKey
	o   Options

	mu     sync.RWMutex
	closed bool
	dev    *device.Device // the first, for reports
	run    runner
}

// runner makes proofs with the types of a curve.
type runner interface {
	// prove makes a proof with the numbers r and s.
	prove(ctx context.Context, w []Element, r, s *big.Int) (Proof, error)
	close()
}

// Prove makes a proof that verifies with key.VerifyingKey() and witness.Public: NewProver,
// Prove and Close.
func Prove(ctx context.Context, key *ZKey, witness *Witness, o Options) (Proof, error) {
	if err := key.matches(witness); err != nil {
		return Proof{}, err // before the key's points go to the device
	}
	p, err := NewProver(key, o)
	if err != nil {
		return Proof{}, err
	}
	defer p.Close()
	return p.Prove(ctx, witness)
}

func (k *ZKey) matches(w *Witness) error {
	if k == nil {
		return fmt.Errorf("circom: %w: no key", ErrMismatch)
	}
	return sameCircuit("key", k.Curve(), k.wires, k.sys, w)
}

// NewProver puts the key's points on a device.
func NewProver(key *ZKey, o Options) (*Prover, error) {
	if key == nil {
		return nil, fmt.Errorf("circom: %w: no key", ErrMismatch)
	}
	if o.Device == "" {
		o.Device = "auto"
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	name := o.Device
	if device.Automatic(name) && !device.Prefer("groth16", key.domain) {
		name = "cpu"
	}
	devices, err := device.OpenList(name)
	if err != nil {
		return nil, fmt.Errorf("circom: %w", err)
	}
	p := &Prover{key: key, o: o, dev: devices[0]}
	if p.run, err = key.provingKey.on(key, devices); err != nil && p.replaceable(err) {
		o.Log.Warn("circom: the GPU failed, going on with the CPU", "device", p.dev.Name(), "key", key.name, "reason", err)
		if p.dev, err = device.Open("cpu"); err != nil {
			return nil, fmt.Errorf("circom: %w", err)
		}
		p.run, err = key.provingKey.on(key, []*device.Device{p.dev})
	}
	if err != nil {
		return nil, fmt.Errorf("circom: %s on %s: %w", key.name, p.dev.Name(), err)
	}
	return p, nil
}

// replaceable says whether the CPU is to do what the device could not: where the choice of
// the device is the program's, and the failure is the device's.
func (p *Prover) replaceable(err error) bool {
	return device.Automatic(p.o.Device) && p.dev.Kind() != device.CPU &&
		(errors.Is(err, device.ErrNoMemory) || errors.Is(err, device.ErrFault) || errors.Is(err, device.ErrUnavailable))
}

// Close gives the device's memory back, once running proofs are done.
func (p *Prover) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.run.close()
	}
}

// Prove makes a proof. It is verified before it is returned. If it is not valid and the
// device is not the CPU, or if a device that was chosen automatically fails, the CPU makes it
// again with the same numbers, and the fault is logged where that one is valid; a witness
// that does not satisfy the circuit is an ErrUnsatisfied, of which R1CS.Check tells the
// constraint. When ctx is done Prove stops with its error.
func (p *Prover) Prove(ctx context.Context, w *Witness) (Proof, error) {
	if err := p.key.matches(w); err != nil {
		return Proof{}, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return Proof{}, ErrClosed
	}
	r, err := number(p.o.Rand, p.key.sys.curve().r)
	if err != nil {
		return Proof{}, err
	}
	s, err := number(p.o.Rand, p.key.sys.curve().r)
	if err != nil {
		return Proof{}, err
	}
	public := w.Public(p.key.public)
	proof, err := p.run.prove(ctx, w.Values, r, s)
	fault := err
	if err == nil {
		if fault = Verify(p.key.vk, public, proof); fault == nil {
			return proof, nil
		}
	} else if !p.replaceable(err) {
		return Proof{}, fmt.Errorf("circom: proof on %s: %w", p.dev.Name(), err)
	}
	if p.dev.Kind() != device.CPU {
		if proof, err = p.onCPU(ctx, w.Values, r, s); err != nil {
			return Proof{}, err
		}
		if Verify(p.key.vk, public, proof) == nil {
			p.o.Log.Error("circom: a proof failed on the device, the CPU made it again", "device", p.dev.Name(), "key", p.key.name, "reason", fault)
			return proof, nil
		}
	}
	return Proof{}, fmt.Errorf("circom: %w, or %s is of no setup: the proof is not valid", ErrUnsatisfied, p.key.name)
}

func (p *Prover) onCPU(ctx context.Context, w []Element, r, s *big.Int) (Proof, error) {
	cpu, err := device.Open("cpu")
	if err != nil {
		return Proof{}, fmt.Errorf("circom: %w", err)
	}
	run, err := p.key.provingKey.on(p.key, []*device.Device{cpu})
	if err != nil {
		return Proof{}, fmt.Errorf("circom: %s on the CPU: %w", p.key.name, err)
	}
	defer run.close()
	proof, err := run.prove(ctx, w, r, s)
	if err != nil {
		return Proof{}, fmt.Errorf("circom: proof on the CPU: %w", err)
	}
	return proof, nil
}

// number is a number below the order, which 48 bytes give with a bias below 2^-128.
func number(r io.Reader, order *big.Int) (*big.Int, error) {
	b := make([]byte, 48)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("circom: random numbers: %w", err)
	}
	x := new(big.Int).SetBytes(b)
	return x.Mod(x, order), nil
}

// resident is a key on a device.
type resident[G, H, S any] struct {
	key            *key[G, H, S]
	public         int
	quotient       quotient[G, S]
	a1, b1, c1, h1 *msm.Bases[G, S]
	b2             *msm.Bases[H, S]
}

// on implements provingKey.
func (k *key[G, H, S]) on(z *ZKey, devices []*device.Device) (runner, error) {
	p := k.pairing
	r := &resident[G, H, S]{key: k, public: z.public}
	var err error
	if r.quotient, err = p.quotientOn(devices, z.domain, k.shift); err != nil {
		return nil, err
	}
	options := func(like *msm.Digits) msm.Options {
		o := msm.Options{Digits: like}
		if len(devices) > 1 {
			o.Devices = devices
		}
		return o
	}
	bases := func(points []G, like *msm.Digits) *msm.Bases[G, S] {
		if err != nil {
			return nil
		}
		var b *msm.Bases[G, S]
		b, err = msm.New(devices[0], p.sum1, points, options(like))
		return b
	}
	// A, B1 and B2 are over the same scalars, which are sorted once.
	if r.a1 = bases(k.a1, nil); err == nil {
		r.b1 = bases(k.b1, r.a1.Digits())
	}
	if err == nil {
		r.b2, err = msm.New(devices[0], p.sum2, k.b2, options(r.a1.Digits()))
	}
	r.c1, r.h1 = bases(k.c1, nil), bases(k.h1, nil)
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *resident[G, H, S]) close() {
	for _, b := range []*msm.Bases[G, S]{r.a1, r.b1, r.c1, r.h1} {
		if b != nil {
			b.Close()
		}
	}
	if r.b2 != nil {
		r.b2.Close()
	}
	if r.quotient != nil {
		r.quotient.close()
	}
}

// prove implements runner: with the sums A, B1, B2 over all wires, C over those that are
// not public, and H,
//
//	pi_a = alpha + A + r delta
//	pi_b = beta + B2 + s delta
//	pi_c = C + H + s pi_a + r (beta + B1 + s delta) - r s delta
func (r *resident[G, H, S]) prove(ctx context.Context, values []Element, rnd, snd *big.Int) (Proof, error) {
	k, p := r.key, r.key.pairing
	w := p.montgomery(values)

	// While a device is at the other sums, the CPU and its transforms are at H.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	last := make(chan G, 1)
	go func() {
		h, err := r.h(ctx, w)
		if err != nil {
			cancel(fmt.Errorf("H: %w", err))
		}
		last <- h
	}()
	a, b1, b2, c, err := r.sums(ctx, w)
	if err != nil {
		cancel(err)
	}
	h := <-last // also where something failed: nothing is left behind
	if err := context.Cause(ctx); err != nil {
		return Proof{}, err
	}

	g := p.g1
	a = g.add(g.add(k.alpha, a), g.mul(k.delta, rnd))
	b1 = g.add(g.add(k.beta, b1), g.mul(k.delta, snd))
	b2 = p.g2.add(p.g2.add(k.beta2, b2), p.g2.mul(k.delta2, snd))
	rs := new(big.Int).Mul(rnd, snd)
	rs.Mod(rs, p.c.r)
	c = g.add(g.add(c, h), g.add(g.mul(a, snd), g.mul(b1, rnd)))
	c = g.add(c, g.neg(g.mul(k.delta, rs)))
	return Proof{
		Curve: p.c.id,
		A:     G1(g.coordinates(p.c, &a)),
		B:     g2(p.g2.coordinates(p.c, &b2)),
		C:     G1(g.coordinates(p.c, &c)),
	}, nil
}

func (r *resident[G, H, S]) sums(ctx context.Context, w []S) (a, b1 G, b2 H, c G, err error) {
	sorted, err := r.a1.Prepare(ctx, w)
	if err != nil {
		return a, b1, b2, c, fmt.Errorf("witness: %w", err)
	}
	defer sorted.Close()
	if a, err = r.a1.SumPrepared(ctx, sorted); err != nil {
		return a, b1, b2, c, fmt.Errorf("A: %w", err)
	}
	if b1, err = r.b1.SumPrepared(ctx, sorted); err != nil {
		return a, b1, b2, c, fmt.Errorf("B1: %w", err)
	}
	if b2, err = r.b2.SumPrepared(ctx, sorted); err != nil {
		return a, b1, b2, c, fmt.Errorf("B2: %w", err)
	}
	if c, err = r.c1.Sum(ctx, w[r.public+1:]); err != nil {
		return a, b1, b2, c, fmt.Errorf("C: %w", err)
	}
	return a, b1, b2, c, nil
}
