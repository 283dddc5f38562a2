package whirfile

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

// packed is the protocol for one table of Mersenne-31 values.
type packed struct{ self *Scheme }

func packedM31() *Scheme {
	s := &Scheme{Field: "m31", Hash: "poseidon2", About: "Mersenne-31: values, two to a symbol, challenges of degree 4; Poseidon2"}
	s.protocol = packed{s}
	return s
}

func (packed) Spec() whir.Spec { return whir.SpecCM31() }
func (packed) EntryWords() int { return 1 }

func (packed) checkRoot(root Root) error {
	_, err := merkle.M31().SetDigest(root[:])
	return err
}

func (g packed) choose(vars int, sched *whir.Schedule, o whir.Options) (*Params, error) {
	if o.Batch > 1 {
		return nil, fmt.Errorf("field m31 commits to one table, not to %d: field cm31 takes several, of pairs", o.Batch)
	}
	if vars < 1 {
		return nil, fmt.Errorf("tables of 2^%d values, want at least 2", vars)
	}
	o.Claims = 2 * max(o.Claims, 1)
	inner, err := choose(whir.SpecCM31(), max(vars-1, 1), sched, o)
	if err != nil {
		return nil, err
	}
	p, err := whir.NewM31Params(vars, inner)
	return g.params(p, err)
}

func (g packed) params(p *whir.M31Params, err error) (*Params, error) {
	if err != nil {
		return nil, err
	}
	return &Params{scheme: g.self, inner: p.Inner(), packed: p}, nil
}

func (g packed) decodeParams(data []byte) (*Params, error) {
	return g.params(whir.DecodeM31Params(data))
}

func (packed) checkProof(p *Params, claims int, proof []byte) error {
	_, err := p.packed.DecodeProof(claims, proof)
	return err
}

func (packed) verify(p *Params, root Root, claims []Claim, proof []byte) error {
	pf, err := p.packed.DecodeProof(len(claims), proof)
	if err != nil {
		return err
	}
	list, err := M31Claims(claims)
	if err != nil {
		return err
	}
	digest, err := merkle.M31().SetDigest(root[:])
	if err != nil {
		return err
	}
	o, err := whir.ReceiveM31(transcript.New(transcript.TagWHIR), p.packed, digest)
	if err != nil {
		return err
	}
	return o.Verify(list, pf)
}

// M31Claims are evaluations of one table as package whir takes them.
func M31Claims(claims []Claim) ([]whir.M31Claim, error) {
	var out []whir.M31Claim
	for i, c := range claims {
		point, err := Elements[m31.QM31](c.Point)
		if err != nil {
			return nil, fmt.Errorf("claim %d: point: %w", i, err)
		}
		values, err := Elements[m31.QM31](c.Values)
		if err != nil {
			return nil, fmt.Errorf("claim %d: values: %w", i, err)
		}
		out = append(out, whir.M31Claim{Point: point, Value: values[0]})
	}
	return out, nil
}
