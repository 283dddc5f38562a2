// Package bn254 makes keys of Groth16 over BN254.
package bn254

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"sync"

	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/pedersen"
	groth16 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/internal/setup/internal/shared"
	"github.com/zkwarp/zkwarp/internal/parallel"
	msm "github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
)

// trapdoor is what a setup draws. Who knows it can prove anything.
type trapdoor struct {
	tau, alpha, beta, gamma, delta fr.Element
	gammaInv, deltaInv             fr.Element

	commitments curve.G2Affine // the base of the commitments' keys
	sigmas      []*big.Int     // of each commitment
}

// draw is a trapdoor for a system with so many commitments. It takes the bytes that gnark
// takes, in the same order.
func draw(random io.Reader, commitments int) (*trapdoor, error) {
	t := &trapdoor{}
	for _, e := range []*fr.Element{&t.tau, &t.alpha, &t.beta, &t.gamma, &t.delta} {
		for e.IsZero() {
			if err := element(random, e); err != nil {
				return nil, err
			}
		}
	}
	t.gammaInv.Inverse(&t.gamma)
	t.deltaInv.Inverse(&t.delta)
	var seed [fr.Bytes]byte
	if _, err := io.ReadFull(random, seed[:]); err != nil {
		return nil, err
	}
	var err error
	if t.commitments, err = curve.HashToG2(seed[:], []byte("random on g2")); err != nil {
		return nil, err
	}
	one := big.NewInt(1)
	for range commitments {
		sigma, err := rand.Int(random, new(big.Int).Sub(fr.Modulus(), one))
		if err != nil {
			return nil, err
		}
		t.sigmas = append(t.sigmas, sigma.Add(sigma, one))
	}
	return t, nil
}

// element takes a uniform element: words in Montgomery form, the lowest byte first, until they
// are below the modulus.
func element(random io.Reader, e *fr.Element) error {
	const size = (fr.Bits + 7) / 8
	var b [fr.Limbs * 8]byte
	for {
		if _, err := io.ReadFull(random, b[:size]); err != nil {
			return err
		}
		if fr.Bits%8 != 0 {
			b[size-1] &= 1<<(fr.Bits%8) - 1
		}
		words := new(big.Int)
		for i := fr.Limbs - 1; i >= 0; i-- {
			e[i] = binary.LittleEndian.Uint64(b[8*i:])
			words.Or(words.Lsh(words, 64), new(big.Int).SetUint64(e[i]))
		}
		if words.Cmp(fr.Modulus()) < 0 {
			return nil
		}
	}
}

// Run is setup.Run.
func Run(ctx context.Context, r1cs *cs.R1CS, o *shared.Options) (*groth16.ProvingKey, *groth16.VerifyingKey, error) {
	wires, err := shared.NewWires(&r1cs.System)
	if err != nil {
		return nil, nil, err
	}
	n := uint64(r1cs.GetNbConstraints())
	if _, err := fft.Generator(n); err != nil {
		return nil, nil, fmt.Errorf("%w: there is no domain for %d constraints: %w", shared.ErrSystem, n, err)
	}
	t, err := draw(o.Random, len(wires.Commitments))
	if err != nil {
		return nil, nil, fmt.Errorf("randomness: %w", err)
	}
	// The domain's tables take some cores a while, and only the prover needs them.
	tables := make(chan *fft.Domain, 1)
	go func() {
		defer o.Stage(ctx, "domain")()
		if o.NoTables {
			tables <- fft.NewDomain(n, fft.WithoutPrecompute())
			return
		}
		tables <- fft.NewDomain(n)
	}()
	s := &scalars{trapdoor: t, wires: wires, domain: fft.NewDomain(n, fft.WithoutPrecompute())}
	if err := s.evaluate(ctx, r1cs, o); err != nil {
		return nil, nil, err
	}
	var pk *groth16.ProvingKey
	var vk *groth16.VerifyingKey
	err = device.Run(o.Device, "groth16", int(s.domain.Cardinality), func(dev *device.Device) error {
		pk, vk = &groth16.ProvingKey{}, &groth16.VerifyingKey{}
		if err := s.inG1(ctx, dev, pk, vk, o); err != nil {
			return err
		}
		return s.inG2(ctx, dev, pk, vk, o)
	})
	if err != nil {
		return nil, nil, err
	}
	pk.InfinityA, pk.InfinityB = s.infinityA, s.infinityB
	pk.NbInfinityA, pk.NbInfinityB = uint64(wires.N-len(s.a)), uint64(wires.N-len(s.b))
	info := wires.Commitments
	vk.PublicAndCommitmentCommitted = info.GetPublicAndCommitmentCommitted(info.CommitmentIndexes(), wires.Public)
	if err := vk.Precompute(); err != nil {
		return nil, nil, err
	}
	pk.Domain = *<-tables
	return pk, vk, nil
}

// scalars are the logarithms of a key's points.
type scalars struct {
	trapdoor *trapdoor
	wires    *shared.Wires
	domain   *fft.Domain // without tables

	a, b, k              []fr.Element // without those that have no point
	infinityA, infinityB []bool
	public               []fr.Element   // of the verifying key's K
	committed            [][]fr.Element // of each commitment
}

// localWires are those from the first on, one and the statement's among them, which many
// constraints have: each worker has sums of its own for them.
const localWires = 1 << 9

// evaluate computes the logarithms. It keeps three elements a wire.
func (s *scalars) evaluate(ctx context.Context, r1cs *cs.R1CS, o *shared.Options) error {
	defer o.Stage(ctx, "constraints")()
	n := s.wires.N
	s.a, s.b, s.k = make([]fr.Element, n), make([]fr.Element, n), make([]fr.Element, n)
	if err := s.walk(ctx, r1cs, o.Progress); err != nil {
		return err
	}
	s.split()
	return ctx.Err()
}

// sums are the values at tau of the wires' polynomials.
type sums [3][]fr.Element

// walk adds up, for every wire, its coefficients times the values at tau of the Lagrange
// polynomials of the constraints that it is in. Of C they go to k.
func (s *scalars) walk(ctx context.Context, r1cs *cs.R1CS, progress shared.Progress) error {
	all := sums{s.a, s.b, s.k}
	n := s.domain.Cardinality
	// (tau^n - 1) / n; polynomial j at tau is that times w^j / (tau - w^j).
	var vanishing, one fr.Element
	one.SetOne()
	vanishing.Exp(s.trapdoor.tau, new(big.Int).SetUint64(n)).Sub(&vanishing, &one).Mul(&vanishing, &s.domain.CardinalityInv)
	// A lock is of 16 wires next to each other, and of others far away.
	locks := make([]sync.Mutex, 1<<14)
	local := min(localWires, s.wires.N)
	rooms := sync.Pool{New: func() any {
		return &sums{make([]fr.Element, local), make([]fr.Element, local), make([]fr.Element, local)}
	}}
	report := func(done int) { progress.Report("constraints", done, r1cs.GetNbConstraints()) }
	return shared.Constraints(ctx, &r1cs.System, report, func(first, n int, next func() *constraint.R1C) error {
		values := s.lagrange(&vanishing, first, n)
		own := rooms.Get().(*sums)
		for i := range values {
			c := next()
			if c == nil {
				return fmt.Errorf("%w: constraint %d is missing", shared.ErrSystem, first+i)
			}
			for k, e := range [3]constraint.LinearExpression{c.L, c.R, c.O} {
				for _, term := range e {
					id, wire := term.CoeffID(), term.WireID()
					if id < 0 || id >= len(r1cs.Coefficients) || wire < 0 || wire >= s.wires.N {
						return fmt.Errorf("%w: constraint %d: coefficient %d of %d, wire %d of %d", shared.ErrSystem, first+i, id, len(r1cs.Coefficients), wire, s.wires.N)
					}
					v := values[i]
					switch id {
					case constraint.CoeffIdZero:
						continue
					case constraint.CoeffIdOne:
					case constraint.CoeffIdMinusOne:
						v.Neg(&v)
					default:
						v.Mul(&v, &r1cs.Coefficients[id])
					}
					if wire < local {
						own[k][wire].Add(&own[k][wire], &v)
						continue
					}
					l := &locks[wire>>4%len(locks)]
					l.Lock()
					all[k][wire].Add(&all[k][wire], &v)
					l.Unlock()
				}
			}
		}
		for k := range own {
			for wire := range own[k] {
				e := &own[k][wire]
				if e.IsZero() {
					continue
				}
				l := &locks[wire>>4%len(locks)]
				l.Lock()
				all[k][wire].Add(&all[k][wire], e)
				l.Unlock()
				e.SetZero()
			}
		}
		rooms.Put(own)
		return nil
	})
}

// lagrange is the values at tau of n Lagrange polynomials from number first on.
func (s *scalars) lagrange(vanishing *fr.Element, first, n int) []fr.Element {
	w := power(&s.domain.Generator, uint64(first))
	numbers, differences := make([]fr.Element, n), make([]fr.Element, n)
	for i := range n {
		numbers[i].Mul(&w, vanishing)
		differences[i].Sub(&s.trapdoor.tau, &w)
		w.Mul(&w, &s.domain.Generator)
	}
	for i, d := range fr.BatchInvert(differences) {
		numbers[i].Mul(&numbers[i], &d)
	}
	return numbers
}

func power(x *fr.Element, k uint64) fr.Element {
	var r fr.Element
	return *r.Exp(*x, new(big.Int).SetUint64(k))
}

// split makes the logarithms of the queries of what walk made.
func (s *scalars) split() {
	t, w := s.trapdoor, s.wires
	s.infinityA, s.infinityB = make([]bool, w.N), make([]bool, w.N)
	// beta A + alpha B + C goes to k, over delta; that of the few wires that have it over
	// gamma is mended after.
	parallel.For(w.N, 1<<10, func(lo, hi int) {
		var u, v fr.Element
		for i := lo; i < hi; i++ {
			s.infinityA[i], s.infinityB[i] = s.a[i].IsZero(), s.b[i].IsZero()
			u.Mul(&s.a[i], &t.beta)
			v.Mul(&s.b[i], &t.alpha)
			u.Add(&u, &v).Add(&u, &s.k[i])
			s.k[i].Mul(&u, &t.deltaInv)
		}
	})
	var mend fr.Element
	mend.Mul(&t.delta, &t.gammaInv)
	other := make([]bool, w.N)
	over := func(wire int) fr.Element {
		other[wire] = true
		var v fr.Element
		return *v.Mul(&s.k[wire], &mend)
	}
	for wire := range w.Public {
		s.public = append(s.public, over(wire))
	}
	s.committed = make([][]fr.Element, len(w.Commitments))
	for _, p := range w.Special {
		v := over(p.Wire)
		if p.Commitment < 0 {
			s.public = append(s.public, v)
		} else {
			s.committed[p.Commitment] = append(s.committed[p.Commitment], v)
		}
	}
	s.a, s.b, s.k = shared.Compact(s.a, s.infinityA), shared.Compact(s.b, s.infinityB), shared.Compact(s.k, other)
}

// quotient makes the logarithms of query Z in the key's order, bit-reversed: that at place j
// is (tau^n - 1)/delta tau^i, for j's bits i in reverse. It is the product of one of the
// low bits of j and one of the high ones.
func (s *scalars) quotient() func(to []fr.Element, from int) error {
	all := bits.TrailingZeros64(s.domain.Cardinality)
	lows := min(12, all)
	highs := all - lows
	reverse := func(v, width int) uint64 { return bits.Reverse64(uint64(v)) >> (64 - width) }
	low, high := make([]fr.Element, 1<<lows), make([]fr.Element, 1<<highs)
	// tau^(2^highs), whose powers the low bits select
	step := power(&s.trapdoor.tau, 1<<highs)
	fill(low, &step, lows, reverse)
	fill(high, &s.trapdoor.tau, highs, reverse)
	var one, z fr.Element
	one.SetOne()
	z.Exp(s.trapdoor.tau, new(big.Int).SetUint64(s.domain.Cardinality)).Sub(&z, &one).Mul(&z, &s.trapdoor.deltaInv)
	for i := range low {
		low[i].Mul(&low[i], &z)
	}
	return func(to []fr.Element, from int) error {
		parallel.For(len(to), 1<<12, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				j := from + i
				to[i].Mul(&low[j&(1<<lows-1)], &high[j>>lows])
			}
		})
		return nil
	}
}

// fill sets to[j] to x^i for j's width bits i in reverse.
func fill(to []fr.Element, x *fr.Element, width int, reverse func(v, width int) uint64) {
	var v fr.Element
	v.SetOne()
	for i := range to {
		to[reverse(i, width)] = v
		v.Mul(&v, x)
	}
}

// inG1 makes the points of the first group.
func (s *scalars) inG1(ctx context.Context, dev *device.Device, pk *groth16.ProvingKey, vk *groth16.VerifyingKey, o *shared.Options) error {
	defer o.Stage(ctx, "points in G1")()
	t := s.trapdoor
	_, _, base, _ := curve.Generators()
	// The few: alpha, beta, delta, the verifying key's K, and the commitments' keys.
	few := append([]fr.Element{t.alpha, t.beta, t.delta}, s.public...)
	for i, list := range s.committed {
		var sigma fr.Element
		sigma.SetBigInt(t.sigmas[i])
		few = append(few, list...)
		for _, v := range list {
			few = append(few, *v.Mul(&v, &sigma))
		}
	}
	// h has one coefficient fewer than the domain has elements.
	quotient := int(s.domain.Cardinality) - 1
	done, all := 0, len(few)+len(s.a)+len(s.b)+len(s.k)+quotient
	table, err := fixedbase.New(dev, msm.G1, msm.G1Multiples, base, fixedbase.Options{N: all})
	if err != nil {
		return err
	}
	defer table.Close()
	multiply := func(name string, n int, scalars func(to []fr.Element, from int) error) ([]curve.G1Affine, error) {
		points := make([]curve.G1Affine, n)
		err := table.MultiplyFunc(ctx, points, func(to []fr.Element, from int) error {
			o.Progress.Report("points in G1", done+from, all)
			return scalars(to, from)
		})
		done += n
		if err == nil && dev.Kind() != device.CPU {
			defer o.Stage(ctx, "check of "+name+" in G1")()
			err = check(ctx, dev, msm.G1, base, name, points, scalars)
		}
		return points, err
	}
	points, err := multiply("K of the verifier", len(few), given(few))
	if err != nil {
		return err
	}
	take := func(n int) []curve.G1Affine {
		list := points[:n:n]
		points = points[n:]
		return list
	}
	three := take(3)
	pk.G1.Alpha, pk.G1.Beta, pk.G1.Delta = three[0], three[1], three[2]
	vk.G1.Alpha, vk.G1.Beta, vk.G1.Delta = three[0], three[1], three[2]
	vk.G1.K = take(len(s.public))
	for i, list := range s.committed {
		pk.CommitmentKeys = append(pk.CommitmentKeys, pedersen.ProvingKey{Basis: take(len(list)), BasisExpSigma: take(len(list))})
		key := pedersen.VerifyingKey{G: t.commitments}
		key.GSigmaNeg.ScalarMultiplication(&t.commitments, new(big.Int).Neg(t.sigmas[i]))
		vk.CommitmentKeys = append(vk.CommitmentKeys, key)
	}
	if pk.G1.A, err = multiply("A", len(s.a), given(s.a)); err != nil {
		return err
	}
	if pk.G1.B, err = multiply("B", len(s.b), given(s.b)); err != nil {
		return err
	}
	if pk.G1.K, err = multiply("K", len(s.k), given(s.k)); err != nil {
		return err
	}
	pk.G1.Z, err = multiply("Z", quotient, s.quotient())
	return err
}

// inG2 makes the points of the second group.
func (s *scalars) inG2(ctx context.Context, dev *device.Device, pk *groth16.ProvingKey, vk *groth16.VerifyingKey, o *shared.Options) error {
	defer o.Stage(ctx, "points in G2")()
	t := s.trapdoor
	_, _, _, base := curve.Generators()
	table, err := fixedbase.New(dev, msm.G2, msm.G2Multiples, base, fixedbase.Options{N: len(s.b) + 3})
	if err != nil {
		return err
	}
	defer table.Close()
	// The few that the verifier needs are not a device's, and need no check.
	three := curve.BatchScalarMultiplicationG2(&base, []fr.Element{t.beta, t.delta, t.gamma})
	pk.G2.Beta, pk.G2.Delta = three[0], three[1]
	vk.G2.Beta, vk.G2.Delta, vk.G2.Gamma = three[0], three[1], three[2]
	pk.G2.B = make([]curve.G2Affine, len(s.b))
	scalars := given(s.b)
	err = table.MultiplyFunc(ctx, pk.G2.B, func(to []fr.Element, from int) error {
		o.Progress.Report("points in G2", from, len(s.b))
		return scalars(to, from)
	})
	if err == nil && dev.Kind() != device.CPU {
		table.Close()
		defer o.Stage(ctx, "check of B in G2")()
		err = check(ctx, dev, msm.G2, base, "B", pk.G2.B, scalars)
	}
	return err
}

// given is scalars that are there, for MultiplyFunc.
func given(list []fr.Element) func(to []fr.Element, from int) error {
	return func(to []fr.Element, from int) error {
		parallel.For(len(to), 1<<14, func(lo, hi int) { copy(to[lo:hi], list[from+lo:from+hi]) })
		return nil
	}
}
