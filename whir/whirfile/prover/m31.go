package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/whir/whirfile"
)

// packed is one table of Mersenne-31 values.
type packed struct {
	*prover.CommittedM31
	host   []m31.Element
	device device.Buffer[m31.Element]
	digest merkle.Digest
}

func uploadM31(q *device.Queue, words [][]uint32) (backend, error) {
	c := &packed{host: elements[m31.Element](words[0])}
	var err error
	c.device, err = device.Upload(q, c.host)
	return c, err
}

func (c *packed) commit(q *device.Queue, p *whirfile.Params) (err error) {
	if c.CommittedM31, err = prover.CommitTableM31(q, p.Packed(), c.device); err == nil {
		c.digest, err = c.Root()
	}
	return err
}

func (c *packed) root() whirfile.Root {
	return whirfile.Root(merkle.M31().AppendDigest(nil, c.digest))
}

func (c *packed) free() {
	if c.CommittedM31 != nil {
		c.Free()
	}
	c.device.Free()
}

func (c *packed) evaluate(claim whirfile.Claim) ([]whirfile.Words, error) {
	return evaluate([][]m31.Element{c.host}, claim, m31.QM31.MulBase)
}

func (c *packed) open(q *device.Queue, claims []whirfile.Claim) ([]byte, error) {
	list, err := whirfile.M31Claims(claims)
	if err != nil {
		return nil, err
	}
	t := transcript.New(transcript.TagWHIR)
	words, err := c.Words()
	if err != nil {
		return nil, err
	}
	t.Absorb(words)
	tr, err := transcriptprover.FromHost(q, t)
	if err != nil {
		return nil, err
	}
	defer tr.Free()
	pf, err := c.Open(q, tr, list)
	if err != nil {
		return nil, err
	}
	return c.Params().AppendProof(nil, pf)
}
