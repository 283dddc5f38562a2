package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/whir/whirfile"
)

// backends by the name of their scheme.
var backends = map[string]func(q *device.Queue, p *whirfile.Params, tables [][]uint32) (backend, error){
	"m31-poseidon2":  commitM31,
	"cm31-poseidon2": commitCM31,
}

func elements(words []uint32) []m31.Element {
	out := make([]m31.Element, len(words))
	for i, w := range words {
		out[i] = m31.Element(w)
	}
	return out
}

type packed struct {
	*prover.Committed
	table []m31.Element
}

func commitM31(q *device.Queue, p *whirfile.Params, tables [][]uint32) (backend, error) {
	table := elements(tables[0])
	c, err := prover.CommitM31(q, p.Packed(), table)
	if err != nil {
		return nil, err
	}
	return &packed{c, table}, nil
}

func (c *packed) root() whirfile.Root { return whirfile.RootOf(whir.CM31(), c.Root()) }

func (c *packed) evaluate(claim whirfile.Claim) ([]whirfile.Words, error) {
	return evaluate([][]m31.Element{c.table}, claim, func(e m31.QM31, f m31.Element) m31.QM31 { return e.MulBase(f) })
}

func (c *packed) open(q *device.Queue, claims []whirfile.Claim) ([]byte, error) {
	list, err := whirfile.M31Claims(claims)
	if err != nil {
		return nil, err
	}
	tr := transcript.New(transcript.TagWHIR)
	tr.Absorb(c.Words())
	pf, err := prover.OpenM31(q, tr, c.Committed, list)
	if err != nil {
		return nil, err
	}
	return c.Params().AppendProof(nil, pf)
}

type pairs struct {
	*prover.CommittedCM31
	params *whirfile.Params
	tables [][]m31.CM31
}

func commitCM31(q *device.Queue, p *whirfile.Params, tables [][]uint32) (backend, error) {
	b := &pairs{params: p}
	for _, t := range tables {
		b.tables = append(b.tables, m31.Pairs(elements(t)))
	}
	var err error
	b.CommittedCM31, err = prover.CommitCM31(q, p.Inner(), b.tables...)
	return b, err
}

func (c *pairs) root() whirfile.Root { return whirfile.RootOf(whir.CM31(), c.Root()) }

func (c *pairs) evaluate(claim whirfile.Claim) ([]whirfile.Words, error) {
	return evaluate(c.tables, claim, m31.QM31.MulCM31)
}

func (c *pairs) open(q *device.Queue, claims []whirfile.Claim) ([]byte, error) {
	st, err := whirfile.Statement[m31.Element, m31.QM31](claims, c.params.Vars())
	if err != nil {
		return nil, err
	}
	tr := transcript.New(transcript.TagWHIR)
	tr.Absorb(c.Words())
	pf, err := prover.OpenCM31(q, tr, c.CommittedCM31, st)
	if err != nil {
		return nil, err
	}
	return whir.CM31().AppendProof(nil, c.params.Inner(), pf)
}
