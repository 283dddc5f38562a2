package whir

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
)

// A table of 2^n Mersenne-31 values is committed as one of 2^(n-1) symbols of
// CM31, f[2b] + i f[2b+1], which is the same memory. With f0 and f1 for the
// even and the odd entries, a claim f(r, s) = v whose last coordinate is s
// turns into two claims about the symbols: the prover states y0 = f0(r) and
// y1 = f1(r), the verifier checks v = (1-s) y0 + s y1, and
//
//	F(r)   = y0 + i y1
//	F(r')  = (y0 - i y1)'
//
// where ' undoes the Frobenius map x -> x^P, which takes i to -i. The two
// determine y0 and y1.

// M31Params are parameters for tables of Mersenne-31 values.
type M31Params struct {
	vars  int
	inner *Params
}

// NewM31Params makes parameters for tables of 2^vars values, vars >= 1, out of
// parameters over CM31. Those have one variable less, or 1 for vars = 1. Round
// 0 must be within the unique decoding radius, so that challenges may be drawn
// between commitment and opening.
func NewM31Params(vars int, p *Params) (*M31Params, error) {
	if p == nil || p.c.Spec != SpecCM31() {
		return nil, fmt.Errorf("whir: parameters are not over CM31")
	}
	if p.Batch() != 1 {
		return nil, fmt.Errorf("whir: parameters over CM31 for a batch of %d tables", p.Batch())
	}
	if vars < 1 || p.Vars() != max(vars-1, 1) {
		return nil, fmt.Errorf("whir: parameters over CM31 for 2^%d symbols do not fit 2^%d values", p.Vars(), vars)
	}
	if p.Round(0).Multiplicity != Unique {
		return nil, fmt.Errorf("whir: round 0 is not within the unique decoding radius")
	}
	if p.c.Claims%2 != 0 {
		return nil, fmt.Errorf("whir: %d claims over CM31, want two a claim", p.c.Claims)
	}
	return &M31Params{vars, p}, nil
}

// ChooseM31 finds parameters for tables of 2^vars Mersenne-31 values.
// o.Claims counts claims about such tables; o.JohnsonStart is not allowed.
func ChooseM31(vars int, o Options) (*M31Params, error) {
	if vars < 1 {
		return nil, fmt.Errorf("whir: choosing parameters: tables of 2^%d values, want at least 2", vars)
	}
	o.Claims = 2 * max(o.Claims, 1) // before the other defaults, which apply once
	p, err := Choose(SpecCM31(), max(vars-1, 1), o)
	if err != nil {
		return nil, err
	}
	return NewM31Params(vars, p)
}

// Vars is log2 of the number of values in a table.
func (p *M31Params) Vars() int { return p.vars }

// Inner is the parameters over CM31.
func (p *M31Params) Inner() *Params { return p.inner }

// Security is the report of an opening.
func (p *M31Params) Security() Report { return p.inner.Security() }

func (p *M31Params) String() string {
	return fmt.Sprintf("2^%d M31 values as %v", p.vars, p.inner)
}

// AppendBinary appends the encoding of the parameters.
func (p *M31Params) AppendBinary(dst []byte) []byte {
	return p.inner.AppendBinary(append(dst, byte(p.vars)))
}

// DecodeM31Params undoes AppendBinary, checking the parameters.
func DecodeM31Params(data []byte) (*M31Params, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("%w: no parameters", ErrEncoding)
	}
	inner, err := DecodeParams(SpecCM31(), data[1:])
	if err != nil {
		return nil, err
	}
	return NewM31Params(int(data[0]), inner)
}

// M31Claim says that the multilinear polynomial of a table of Mersenne-31
// values has Value at Point.
type M31Claim struct {
	Point []m31.QM31
	Value m31.QM31
}

// M31Proof is an opening of a table of Mersenne-31 values.
type M31Proof struct {
	// Halves are, for each claim, the values of the even and of the odd entries
	// at the claim's point without its last coordinate.
	Halves [][2]m31.QM31
	Proof  ProofCM31
}

// M31Oracle is a commitment that a transcript has absorbed.
type M31Oracle struct {
	params *M31Params
	oracle *OracleCM31
}

// TranscriptM31 is what verifying needs of a transcript; package transcript's
// is one.
type TranscriptM31 = Transcript[m31.Element, m31.QM31]

// CommitmentWords is the list that stands for a commitment in the transcript.
func (p *M31Params) CommitmentWords(root merkle.Digest) []m31.Element {
	return append([]m31.Element{m31.Element(p.vars)}, CM31().CommitmentWords(p.inner, root)...)
}

// ReceiveM31 absorbs the commitment with the given root into tr. Do so where
// the protocol receives the commitment: before any challenge that the
// committed table must not depend on.
func ReceiveM31(tr TranscriptM31, p *M31Params, root merkle.Digest) (*M31Oracle, error) {
	if p == nil {
		return nil, fmt.Errorf("whir: receiving a commitment: no parameters")
	}
	if err := m31.CheckCanonical(root[:]); err != nil {
		return nil, fmt.Errorf("whir: receiving a commitment: root: %w", err)
	}
	tr.Absorb(p.CommitmentWords(root))
	return &M31Oracle{p, &OracleCM31{CM31(), p.inner, root, tr}}, nil
}

// Verify checks that the committed table satisfies the claims. It returns
// nil, or an *Error that names the check that failed.
func (o *M31Oracle) Verify(claims []M31Claim, pf *M31Proof) error { return o.Begin(claims, pf)() }

// Begin is the half of Verify that needs the transcript, and returns the other one
// (Oracle.Begin).
func (o *M31Oracle) Begin(claims []M31Claim, pf *M31Proof) (finish func() error) {
	failed := func(err error) func() error { return func() error { return err } }
	if pf == nil {
		return failed(failf(-1, CheckShape, "no proof"))
	}
	st, err := o.params.Statement(claims, pf.Halves)
	if err != nil {
		return failed(err)
	}
	return o.oracle.Begin(st, &pf.Proof)
}

// Statement checks the claims against their halves and turns them into claims
// about symbols.
func (p *M31Params) Statement(claims []M31Claim, halves [][2]m31.QM31) (StatementCM31, error) {
	var st StatementCM31
	if n := p.inner.c.Claims / 2; len(claims) > n {
		return st, failf(-1, CheckStatement, "%d claims, parameters allow %d", len(claims), n)
	}
	if len(halves) != len(claims) {
		return st, failf(-1, CheckShape, "%d pairs of halves for %d claims", len(halves), len(claims))
	}
	st.words = append(st.words, m31.Element(len(claims)))
	add := func(e ...m31.QM31) error {
		w := m31.Words(e)
		st.words = append(st.words, w...)
		return m31.CheckCanonical(w)
	}
	for i, c := range claims {
		if len(c.Point) != p.vars {
			return st, failf(-1, CheckStatement, "claim %d has %d variables, want %d", i, len(c.Point), p.vars)
		}
		y0, y1 := halves[i][0], halves[i][1]
		if err := first(add(c.Point...), add(c.Value, y0, y1)); err != nil {
			return st, fail(-1, CheckEncoding, err)
		}
		last := c.Point[p.vars-1]
		if y0.Add(last.Mul(y1.Sub(y0))) != c.Value {
			return st, failf(-1, CheckPacking, "claim %d", i)
		}
		// A table of one symbol is padded by another, 0.
		point := make([]m31.QM31, p.inner.Vars())
		copy(point[len(point)-(p.vars-1):], c.Point)
		conj := make([]m31.QM31, len(point))
		for j, r := range point {
			conj[j] = r.FrobeniusInverse()
		}
		st.claims = append(st.claims,
			BatchClaim[m31.QM31]{Eq[m31.QM31]{point}, []m31.QM31{y0.Add(y1.MulI())}},
			BatchClaim[m31.QM31]{Eq[m31.QM31]{conj}, []m31.QM31{y0.Sub(y1.MulI()).FrobeniusInverse()}})
	}
	return st, nil
}

// AppendProof appends the encoding of a proof: the halves, then the opening.
func (p *M31Params) AppendProof(dst []byte, pf *M31Proof) ([]byte, error) {
	for _, h := range pf.Halves {
		dst = m31.AppendBytes(dst, m31.Words(h[:]))
	}
	return CM31().AppendProof(dst, p.inner, &pf.Proof)
}

// DecodeProof decodes a proof, for the given number of claims, of exactly the
// given bytes.
func (p *M31Params) DecodeProof(claims int, data []byte) (*M31Proof, error) {
	const pair = 2 * 16
	if claims < 0 || len(data)/pair < claims {
		return nil, fmt.Errorf("%w: halves of %d claims in %d bytes", ErrEncoding, claims, len(data))
	}
	pf := &M31Proof{Halves: make([][2]m31.QM31, claims)}
	for i := range pf.Halves {
		if err := m31.DecodeQM31(pf.Halves[i][:], data[i*pair:(i+1)*pair]); err != nil {
			return nil, fmt.Errorf("%w: halves of claim %d: %w", ErrEncoding, i, err)
		}
	}
	inner, err := CM31().DecodeProof(p.inner, data[claims*pair:])
	if err != nil {
		return nil, err
	}
	pf.Proof = *inner
	return pf, nil
}
