// Package bn254 is polynomial commitments over BN254. It is the text that the
// packages of the other curves are made from.
package bn254

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"sync"
	"sync/atomic"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	gnark "github.com/consensys/gnark-crypto/ecc/bn254/kzg"
	fiatshamir "github.com/consensys/gnark-crypto/fiat-shamir"

	"github.com/zkwarp/zkwarp/gnark/kzg"
	"github.com/zkwarp/zkwarp/gnark/kzg/internal/srs"
	"github.com/zkwarp/zkwarp/internal/parallel"
	group "github.com/zkwarp/zkwarp/msm/bn254"
)

// Committer commits to polynomials over BN254, and opens commitments, with the points of a
// reference string, which stay on its devices. It is safe for concurrent use.
type Committer struct {
	points *srs.Points[curve.G1Affine, fr.Element]
	vk     *gnark.VerifyingKey // nil: openings are not verified
	memory sync.Pool           // *[]fr.Element, for quotients
}

var _ gnark.Committer = (*Committer)(nil)

// New uploads the points of a key, which must not change before Close. They are taken to be
// in the group, which gnark-crypto's ReadFrom sees to and UnsafeReadFrom and ReadDump do
// not. Of a reference string in Lagrange form it is the key that commits to polynomials by
// their values; openings need one in monomial form.
func New(pk gnark.ProvingKey, opts ...kzg.Option) (*Committer, error) {
	o, err := srs.Choose(opts)
	if err != nil {
		return nil, err
	}
	c := &Committer{}
	if o.VK != nil {
		vk, ok := o.VK.(gnark.VerifyingKey)
		if !ok {
			return nil, fmt.Errorf("%w: the proving key is over %s, the verifying key is a %T", kzg.ErrInput, curve.ID, o.VK)
		}
		c.vk = &vk
	}
	if c.points, err = srs.New(group.G1, pk.G1, o); err != nil {
		return nil, err
	}
	return c, nil
}

// WithVerifyingKey makes BatchOpenSinglePoint verify each proof before it returns it. A
// commitment cannot be checked like that (see [kzg.WithCheck]), nor can Open's proof, which is
// not given the commitment: of these only that they are points of the group.
func WithVerifyingKey(vk gnark.VerifyingKey) kzg.Option {
	return func(o *srs.Options) error { o.VK = vk; return nil }
}

// Len is the number of points: the largest number of coefficients of a polynomial.
func (c *Committer) Len() int { return c.points.Len() }

// Bytes is how much of each device's memory the points take, 0 on the CPU.
func (c *Committer) Bytes() int64 { return c.points.Bytes() }

// Close gives the memory back, once commitments under way are done.
func (c *Committer) Close() { c.points.Close() }

// Commit is the commitment to a polynomial, Σ p[i] G[i] over the key's points G. That to
// no coefficients at all is infinity.
func (c *Committer) Commit(p []fr.Element) (gnark.Digest, error) {
	return c.CommitContext(context.Background(), p)
}

// CommitContext is Commit until ctx ends.
func (c *Committer) CommitContext(ctx context.Context, p []fr.Element) (gnark.Digest, error) {
	if err := c.fits("polynomial", p); err != nil {
		return gnark.Digest{}, err
	}
	digest, err := c.points.Sum(ctx, p)
	if err != nil || !c.points.Checked() {
		return digest, err
	}
	one := []gnark.Digest{digest}
	err = c.check(ctx, [][]fr.Element{p}, one)
	return one[0], err
}

// CommitMany is Commit for several polynomials. The coefficients of one come to the device
// while those before are worked on.
func (c *Committer) CommitMany(ctx context.Context, polynomials [][]fr.Element) ([]gnark.Digest, error) {
	for i, p := range polynomials {
		if err := c.fits(fmt.Sprintf("polynomial %d", i), p); err != nil {
			return nil, err
		}
	}
	digests, err := c.points.SumMany(ctx, polynomials)
	if err != nil || !c.points.Checked() {
		return digests, err
	}
	if err := c.check(ctx, polynomials, digests); err != nil {
		return nil, err
	}
	return digests, nil
}

// check compares the commitment to a random combination of polynomials with that of their
// digests, which it makes again on the CPU where they differ.
func (c *Committer) check(ctx context.Context, polynomials [][]fr.Element, digests []gnark.Digest) error {
	most := 0
	for _, p := range polynomials {
		most = max(most, len(p))
	}
	if most == 0 {
		return nil
	}
	var gamma fr.Element
	if _, err := gamma.SetRandom(); err != nil {
		return fmt.Errorf("kzg: check of commitments: %w", err)
	}
	folded, free := c.buffer(most)
	defer free()
	// A factor for the first one too: its own sum again would tell less.
	if err := fold(ctx, folded, append([][]fr.Element{nil}, polynomials...), &gamma); err != nil {
		return err
	}
	want, err := c.points.Sum(ctx, folded)
	if err != nil {
		return fmt.Errorf("check of commitments: %w", err)
	}
	powers := make([]fr.Element, len(digests))
	power := gamma
	for i := range powers {
		powers[i] = power
		power.Mul(&power, &gamma)
	}
	var got gnark.Digest
	if _, err := got.MultiExp(digests, powers, ecc.MultiExpConfig{}); err != nil {
		return fmt.Errorf("kzg: check of commitments: %w", err)
	}
	if got == want {
		return nil
	}
	c.points.Fault(true, errors.New("commitments are not those of polynomials that they should be of"))
	for i, p := range polynomials {
		if digests[i], err = c.points.SumOnCPU(ctx, p); err != nil {
			return fmt.Errorf("polynomial %d: %w", i, err)
		}
	}
	return nil
}

func (c *Committer) fits(what string, p []fr.Element) error {
	if n := c.points.Len(); len(p) > n {
		return fmt.Errorf("%w: %s: %d coefficients, the reference string has %d points: %w", kzg.ErrInput, what, len(p), n, gnark.ErrInvalidPolynomialSize)
	}
	return nil
}

// modulus is fr's, in the words that elements have.
var modulus = func() (m fr.Element) {
	b := fr.Modulus().FillBytes(make([]byte, fr.Bytes))
	for i := range m {
		m[i] = binary.BigEndian.Uint64(b[fr.Bytes-8*(i+1):])
	}
	return m
}()

// reduced refuses coefficients whose words are not below the modulus, as Commit does: those of
// a quotient tell of them too late, or not at all.
func reduced(what string, p []fr.Element) error {
	var first atomic.Int64
	first.Store(int64(len(p)))
	parallel.For(len(p), 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			j := len(modulus) - 1
			for j > 0 && p[i][j] == modulus[j] {
				j--
			}
			if p[i][j] < modulus[j] {
				continue
			}
			for at := first.Load(); int64(i) < at && !first.CompareAndSwap(at, int64(i)); {
				at = first.Load()
			}
			return
		}
	})
	if i := first.Load(); i < int64(len(p)) {
		return fmt.Errorf("%w: %s: coefficient %d is not below the modulus", kzg.ErrInput, what, i)
	}
	return nil
}

// Open proves the value of a polynomial at a point: it is gnark-crypto's Open. Verify,
// which takes the commitment too, is gnark-crypto's.
func (c *Committer) Open(ctx context.Context, p []fr.Element, point fr.Element) (gnark.OpeningProof, error) {
	if err := c.fits("polynomial", p); err != nil {
		return gnark.OpeningProof{}, err
	}
	if err := reduced("polynomial", p); err != nil {
		return gnark.OpeningProof{}, err
	}
	quotient, free := c.buffer(len(p))
	defer free()
	value, err := divide(ctx, quotient, p, &point)
	if err != nil {
		return gnark.OpeningProof{}, err
	}
	h, err := c.points.Sum(ctx, quotient[min(1, len(p)):])
	if err != nil {
		return gnark.OpeningProof{}, fmt.Errorf("quotient: %w", err)
	}
	return gnark.OpeningProof{H: h, ClaimedValue: value}, nil
}

// BatchOpenSinglePoint proves the values of polynomials, to which digests are the
// commitments, at one point: it is gnark-crypto's BatchOpenSinglePoint. The challenge that
// they are folded with is made with hf, of the point, digests, values and data.
//
// With a verifying key the proof is verified before it is returned. One that fails because
// of a device is made again on the CPU, and the fault logged; where the digests are not
// those of the polynomials that is an error.
func (c *Committer) BatchOpenSinglePoint(ctx context.Context, polynomials [][]fr.Element, digests []gnark.Digest, point fr.Element, hf hash.Hash, data ...[]byte) (gnark.BatchOpeningProof, error) {
	proof, err := c.batchOpen(ctx, polynomials, digests, point, hf, data)
	if err != nil {
		return gnark.BatchOpeningProof{}, err
	}
	return proof, nil
}

func (c *Committer) batchOpen(ctx context.Context, polynomials [][]fr.Element, digests []gnark.Digest, point fr.Element, hf hash.Hash, data [][]byte) (proof gnark.BatchOpeningProof, err error) {
	switch {
	case len(digests) != len(polynomials):
		return proof, fmt.Errorf("%w: %d digests of %d polynomials: %w", kzg.ErrInput, len(digests), len(polynomials), gnark.ErrInvalidNbDigests)
	case len(polynomials) == 0:
		return proof, fmt.Errorf("%w: no polynomials: %w", kzg.ErrInput, gnark.ErrZeroNbDigests)
	case hf == nil:
		return proof, fmt.Errorf("%w: no hash function", kzg.ErrInput)
	}
	most := 0
	for i, p := range polynomials {
		name := fmt.Sprintf("polynomial %d", i)
		if err := cmp.Or(c.fits(name, p), reduced(name, p)); err != nil {
			return proof, err
		}
		most = max(most, len(p))
	}
	proof.ClaimedValues = make([]fr.Element, len(polynomials))
	for i, p := range polynomials {
		if proof.ClaimedValues[i], err = evaluate(ctx, p, &point); err != nil {
			return proof, err
		}
	}
	gamma, err := challenge(point, digests, proof.ClaimedValues, hf, data)
	if err != nil {
		return proof, fmt.Errorf("challenge: %w", err)
	}
	folded, free := c.buffer(most)
	defer free()
	if err := fold(ctx, folded, polynomials, &gamma); err != nil {
		return proof, err
	}
	if _, err := divide(ctx, folded, folded, &point); err != nil {
		return proof, err
	}
	quotient := folded[min(1, most):]
	if proof.H, err = c.points.Sum(ctx, quotient); err != nil {
		return proof, fmt.Errorf("quotient: %w", err)
	}
	if c.vk == nil {
		return proof, nil
	}
	verify := func() error {
		return gnark.BatchVerifySinglePoint(digests, &proof, point, hf, *c.vk, data...)
	}
	failed := verify()
	if failed == nil {
		return proof, nil
	}
	again, err := c.points.SumOnCPU(ctx, quotient)
	if err != nil {
		return proof, fmt.Errorf("quotient: %w", err)
	}
	if again != proof.H {
		c.points.Fault(true, fmt.Errorf("an opening proof does not verify: %w", failed))
		proof.H = again
		failed = verify()
	}
	if failed != nil {
		return proof, fmt.Errorf("%w: the digests are not those of the polynomials, or the verifying key is of another reference string: %w", kzg.ErrInput, failed)
	}
	return proof, nil
}

// buffer is memory for n elements, of any values, until free.
func (c *Committer) buffer(n int) (b []fr.Element, free func()) {
	kept, ok := c.memory.Get().(*[]fr.Element)
	if !ok || cap(*kept) < n {
		fresh := make([]fr.Element, n)
		kept = &fresh
	}
	return (*kept)[:n], func() { c.memory.Put(kept) }
}

// challenge is what polynomials are folded with, as gnark-crypto derives it.
func challenge(point fr.Element, digests []gnark.Digest, values []fr.Element, hf hash.Hash, data [][]byte) (fr.Element, error) {
	const name = "gamma"
	t := fiatshamir.NewTranscript(hf, name)
	var err error
	bind := func(b []byte) { err = errors.Join(err, t.Bind(name, b)) }
	bind(point.Marshal())
	for i := range digests {
		bind(digests[i].Marshal())
	}
	for i := range values {
		bind(values[i].Marshal())
	}
	for _, b := range data {
		bind(b)
	}
	if err != nil {
		return fr.Element{}, err
	}
	bytes, err := t.ComputeChallenge(name)
	if err != nil {
		return fr.Element{}, err
	}
	var gamma fr.Element
	gamma.SetBytes(bytes)
	return gamma, nil
}
