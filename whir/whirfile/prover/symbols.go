package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/whir/whirfile"
)

// backends by the name of their scheme.
var backends = map[string]func(q *device.Queue, p *whirfile.Params, tables [][]uint32) (backend, error){
	"m31-poseidon2":  commitM31,
	"cm31-poseidon2": symbolsOf(prover.CM31(whir.Poseidon2), transcript.M31()),
}

// elements of the base field, for canonical words.
func elements[W field.Base[W]](words []uint32) []W {
	var zero W
	out := make([]W, len(words))
	for i, w := range words {
		out[i] = zero.FromUint64(uint64(w))
	}
	return out
}

// started is a transcript that has absorbed a commitment's words.
func started[W field.Base[W], E field.Element[E]](q *device.Queue, v *transcript.Variant[W, E], words []W) (*transcriptprover.Of[W, E], error) {
	tr, err := transcriptprover.Start(q, v, transcript.TagWHIR)
	if err != nil {
		return nil, err
	}
	return tr, tr.AbsorbHost(words)
}

// symbols are tables of symbols.
type symbols[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	c          *prover.Committed[W, F, E]
	scheme     *whir.Scheme[W, F, E]
	transcript *transcript.Variant[W, E]
	params     *whirfile.Params
	digest     [8]W
	tables     [][]F
}

func symbolsOf[W field.Base[W], F field.Element[F], E field.Element[E]](p *prover.Prover[W, F, E], v *transcript.Variant[W, E]) func(q *device.Queue, params *whirfile.Params, tables [][]uint32) (backend, error) {
	return func(q *device.Queue, params *whirfile.Params, tables [][]uint32) (backend, error) {
		s := &symbols[W, F, E]{scheme: p.Scheme(), transcript: v, params: params}
		var buffers []device.Buffer[F]
		for _, t := range tables {
			table := s.scheme.Symbols(elements[W](t))
			b, err := device.Upload(q, table)
			if err != nil {
				return nil, err
			}
			s.tables, buffers = append(s.tables, table), append(buffers, b)
		}
		var err error
		if s.c, err = p.Commit(q, params.Inner(), buffers...); err != nil {
			return nil, err
		}
		s.digest, err = s.c.Root()
		return s, err
	}
}

func (s *symbols[W, F, E]) root() whirfile.Root { return whirfile.RootOf(s.scheme, s.digest) }

func (s *symbols[W, F, E]) evaluate(claim whirfile.Claim) ([]whirfile.Words, error) {
	return evaluate(s.tables, claim, s.scheme.Scale)
}

func (s *symbols[W, F, E]) open(q *device.Queue, claims []whirfile.Claim) ([]byte, error) {
	st, err := whirfile.Statement[W, E](claims, s.params.Vars())
	if err != nil {
		return nil, err
	}
	words, err := s.c.Words()
	if err != nil {
		return nil, err
	}
	tr, err := started(q, s.transcript, words)
	if err != nil {
		return nil, err
	}
	defer tr.Free()
	pf, err := s.c.Open(q, tr, st)
	if err != nil {
		return nil, err
	}
	return s.scheme.AppendProof(nil, s.params.Inner(), pf)
}
