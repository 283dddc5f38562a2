package whir

import (
	"encoding/binary"
	"fmt"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/merkle"
)

// Scheme is everything the protocol needs to know about its fields and hash.
// The functions that change a slice's type share its memory.
type Scheme[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	Spec Spec
	// Hash of the trees.
	Hash *merkle.Hash[W]
	// Root generates the 2^n-th roots of unity in F; Root(n) = Root(n+1)^2.
	Root func(n int) F
	// Embed F in E, and multiply an element of E by one of F.
	Embed func(F) E
	Scale func(E, F) E
	// Symbols and Challenges take whole elements out of words; Words is the
	// inverse of Challenges.
	Symbols    func([]W) []F
	Challenges func([]W) []E
	Words      func([]E) []W
	// Evaluate, if not nil, evaluates univariate polynomials, given by coefficients
	// from the constant one up, at all points. It is for fields that have a faster
	// way than one product after the other.
	Evaluate func(coeffs []E, points []F) []E
	// Dot, if not nil, gives the sum of a[k] b[k], for many b; Inner, if not nil, that of
	// challenges. They are for fields that have vector instructions.
	Dot   func(a []E) func(b []F) E
	Inner func(a, b []E) E
}

// dot is Dot, or one product after the other.
func (s *Scheme[W, F, E]) dot(a []E) func([]F) E {
	if s.Dot != nil {
		return s.Dot(a)
	}
	return func(b []F) (sum E) {
		for k, x := range b {
			sum = sum.Add(s.Scale(a[k], x))
		}
		return sum
	}
}

// inner is Inner, or one product after the other.
func (s *Scheme[W, F, E]) inner(a, b []E) (sum E) {
	if s.Inner != nil {
		return s.Inner(a, b)
	}
	for k, x := range b {
		sum = sum.Add(a[k].Mul(x))
	}
	return sum
}

// selection is Sel of the powers of x, at r.
func (s *Scheme[W, F, E]) selection(x F, r []E) E {
	v := s.Embed(x).One()
	one, unit := v, x.One()
	for j := len(r) - 1; j >= 0; j-- {
		v = v.Mul(one.Add(s.Scale(r[j], x.Sub(unit))))
		x = x.Square()
	}
	return v
}

// evaluate is Evaluate, or Horner's rule.
func (s *Scheme[W, F, E]) evaluate(coeffs []E, points []F) []E {
	if s.Evaluate != nil {
		return s.Evaluate(coeffs, points)
	}
	out := make([]E, len(points))
	for j, x := range points {
		for b := len(coeffs) - 1; b >= 0; b-- {
			out[j] = s.Scale(out[j], x).Add(coeffs[b])
		}
	}
	return out
}

// Transcript is what the verifier needs of a transcript.
type Transcript[W field.Base[W], E any] interface {
	Absorb([]W)
	Challenge() E
	Indices(n, bits int) ([]int, error)
	CheckWork(bits int, nonce [2]W) error
}

// protocol starts what a commitment absorbs: the protocol's name and version.
const protocol = "zkwarp whir 1"

// CommitmentWords is the list that stands for a commitment in the transcript,
// to be absorbed once and before anything that depends on the commitment: the
// protocol, the fields and hash, all parameters, and the root.
func (s *Scheme[W, F, E]) CommitmentWords(p *Params, root [8]W) []W {
	var out []W
	for _, text := range []string{protocol, p.c.Spec.Name} {
		out = appendText(out, text)
	}
	var zero W
	for _, n := range p.numbers() {
		out = append(out, zero.FromUint64(uint64(n)))
	}
	return append(out, s.DigestWords(root)...)
}

// appendText appends the number of bytes, and the bytes three to a word.
func appendText[W field.Base[W]](out []W, s string) []W {
	var zero W
	out = append(out, zero.FromUint64(uint64(len(s))))
	for i := 0; i < len(s); i += 3 {
		var w uint64
		for j, c := range []byte(s[i:min(i+3, len(s))]) {
			w |= uint64(c) << (8 * j)
		}
		out = append(out, zero.FromUint64(w))
	}
	return out
}

// DigestWords is the list of field elements that stands for a digest: its own
// words, or those of its 32 bytes, as text.
func (s *Scheme[W, F, E]) DigestWords(d [8]W) []W {
	if !s.Hash.Raw() {
		return d[:]
	}
	var b []byte
	for _, w := range d {
		b = binary.LittleEndian.AppendUint32(b, uint32(w))
	}
	return appendText[W](nil, string(b))
}

// Oracle is a commitment that a transcript has absorbed: the only thing that
// claims can be verified against.
type Oracle[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	scheme *Scheme[W, F, E]
	params *Params
	root   [8]W
	tr     Transcript[W, E]
}

// Receive absorbs the commitment with the given root into tr. Where round 0 is
// in the Johnson regime, no challenge may be drawn between Receive and Verify.
func (s *Scheme[W, F, E]) Receive(tr Transcript[W, E], p *Params, root [8]W) (*Oracle[W, F, E], error) {
	if p == nil || p.c.Spec != s.Spec {
		return nil, fmt.Errorf("whir: receiving a commitment: parameters are not for %s", s.Spec.Name)
	}
	for _, w := range root {
		if !s.Hash.Raw() && uint64(w) >= s.Spec.Modulus {
			return nil, fmt.Errorf("whir: receiving a commitment: root is not canonical")
		}
	}
	tr.Absorb(s.CommitmentWords(p, root))
	return &Oracle[W, F, E]{s, p, root, tr}, nil
}
