package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/whir/whirfile"
)

// packed is a table of Mersenne-31 values, two a symbol.
type packed struct {
	c      *prover.CommittedM31
	digest [8]m31.Element
	table  []m31.Element
}

func commitM31(q *device.Queue, p *whirfile.Params, tables [][]uint32) (backend, error) {
	table := elements[m31.Element](tables[0])
	b, err := device.Upload(q, table)
	if err != nil {
		return nil, err
	}
	c, err := prover.CommitTableM31(q, p.Packed(), b)
	if err != nil {
		return nil, err
	}
	root, err := c.Root()
	return &packed{c, root, table}, err
}

func (c *packed) root() whirfile.Root { return whirfile.RootOf(whir.CM31(), c.digest) }

func (c *packed) evaluate(claim whirfile.Claim) ([]whirfile.Words, error) {
	return evaluate([][]m31.Element{c.table}, claim, func(e m31.QM31, f m31.Element) m31.QM31 { return e.MulBase(f) })
}

func (c *packed) open(q *device.Queue, claims []whirfile.Claim) ([]byte, error) {
	list, err := whirfile.M31Claims(claims)
	if err != nil {
		return nil, err
	}
	words, err := c.c.Words()
	if err != nil {
		return nil, err
	}
	tr, err := started(q, transcript.M31(), words)
	if err != nil {
		return nil, err
	}
	defer tr.Free()
	pf, err := c.c.Open(q, tr, list)
	if err != nil {
		return nil, err
	}
	return c.c.Params().AppendProof(nil, pf)
}
