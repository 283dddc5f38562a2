package whirfile

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

// generic is the protocol over symbols F and challenges E.
type generic[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	self       *Scheme
	whir       *whir.Scheme[W, F, E]
	transcript *transcript.Variant[W, E]
}

// newGeneric is the scheme of the given fields and hash.
func newGeneric[W field.Base[W], F field.Element[F], E field.Element[E]](name, about string, w *whir.Scheme[W, F, E], t *transcript.Variant[W, E]) *Scheme {
	s := &Scheme{Field: name, Hash: w.Hash.Name(), About: about + "; " + hashes[w.Hash.Name()]}
	s.protocol = &generic[W, F, E]{s, w, t}
	return s
}

// hashes for people.
var hashes = map[string]string{"poseidon2": "Poseidon2", "blake3": "BLAKE3", "sha256": "SHA-256"}

func (g *generic[W, F, E]) Spec() whir.Spec { return g.whir.Spec }
func (g *generic[W, F, E]) EntryWords() int { return g.whir.Spec.SymbolWords }

func (g *generic[W, F, E]) checkRoot(root Root) error {
	_, err := g.whir.Hash.SetDigest(root[:])
	return err
}

func (g *generic[W, F, E]) choose(vars int, sched *whir.Schedule, o whir.Options) (*Params, error) {
	p, err := choose(g.Spec(), vars, sched, o)
	if err != nil {
		return nil, err
	}
	return &Params{scheme: g.self, inner: p}, nil
}

func (g *generic[W, F, E]) decodeParams(data []byte) (*Params, error) {
	p, err := whir.DecodeParams(g.Spec(), data)
	if err != nil {
		return nil, err
	}
	return &Params{scheme: g.self, inner: p}, nil
}

func (g *generic[W, F, E]) checkProof(p *Params, _ int, proof []byte) error {
	_, err := g.whir.DecodeProof(p.inner, proof)
	return err
}

func (g *generic[W, F, E]) verify(p *Params, root Root, claims []Claim, proof []byte) error {
	pf, err := g.whir.DecodeProof(p.inner, proof)
	if err != nil {
		return err
	}
	st, err := Statement[W, E](claims, p.Vars())
	if err != nil {
		return err
	}
	digest, err := g.whir.Hash.SetDigest(root[:])
	if err != nil {
		return err
	}
	o, err := g.whir.Receive(g.transcript.New(transcript.TagWHIR), p.inner, digest)
	if err != nil {
		return err
	}
	return o.Verify(st, pf)
}

// Statement is the claims, whose points have vars coordinates, as package whir
// takes them.
func Statement[W field.Base[W], E field.Element[E]](claims []Claim, vars int) (st whir.Statement[W, E], err error) {
	var batch []whir.BatchClaim[E]
	for i, c := range claims {
		point, err := Elements[E](c.Point)
		if err != nil {
			return st, fmt.Errorf("claim %d: point: %w", i, err)
		}
		values, err := Elements[E](c.Values)
		if err != nil {
			return st, fmt.Errorf("claim %d: values: %w", i, err)
		}
		var w whir.Weight[E] = whir.Eq[E]{Point: point}
		if c.Kind == Univariate {
			w = whir.Sel[E]{Point: whir.Powers(point[0], vars)}
		}
		batch = append(batch, whir.BatchClaim[E]{Weight: w, Values: values})
	}
	return whir.NewBatchStatement[W](batch), nil
}

// Elements are lists of words as challenges.
func Elements[E field.Element[E]](lists []Words) ([]E, error) {
	var zero E
	out := make([]E, len(lists))
	for i, l := range lists {
		var err error
		if out[i], err = zero.SetWords(l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func checkWords(modulus uint64, words []uint32) error {
	for i, w := range words {
		if uint64(w) >= modulus {
			return fmt.Errorf("word %d is %d, want less than %d", i, w, modulus)
		}
	}
	return nil
}
