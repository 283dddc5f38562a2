package prover

import (
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/whir/whirfile"
)

// maker puts tables of words on the device.
type maker func(q *device.Queue, tables [][]uint32) (backend, error)

// backends by the name of their scheme.
var backends = sync.OnceValue(func() map[string]maker {
	out := map[string]maker{"m31-poseidon2": uploadM31}
	for _, h := range []whir.Hash{whir.Poseidon2, whir.BLAKE3, whir.SHA256} {
		add(out, "babybear4", prover.BabyBear4(h), transcript.BabyBear4())
		add(out, "babybear5", prover.BabyBear5(h), transcript.BabyBear5())
		add(out, "koalabear4", prover.KoalaBear4(h), transcript.KoalaBear4())
		add(out, "koalabear5", prover.KoalaBear5(h), transcript.KoalaBear5())
		add(out, "cm31", prover.CM31(h), transcript.M31())
	}
	return out
})

func add[W field.Base[W], F field.Element[F], E field.Element[E]](to map[string]maker, name string, p *prover.Prover[W, F, E], t *transcript.Variant[W, E]) {
	to[name+"-"+p.Scheme().Hash.Name()] = func(q *device.Queue, words [][]uint32) (backend, error) {
		return upload(q, p, t, words)
	}
}

// tables are committed tables of symbols F.
type tables[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	*prover.Committed[W, F, E]
	prover  *prover.Prover[W, F, E]
	scheme  *whir.Scheme[W, F, E]
	variant *transcript.Variant[W, E]
	host    [][]F
	device  []device.Buffer[F]
	digest  merkle.DigestOf[W]
}

func upload[W field.Base[W], F field.Element[F], E field.Element[E]](q *device.Queue, p *prover.Prover[W, F, E], t *transcript.Variant[W, E], words [][]uint32) (backend, error) {
	c := &tables[W, F, E]{prover: p, scheme: p.Scheme(), variant: t}
	for _, w := range words {
		symbols := c.scheme.Symbols(elements[W](w))
		b, err := device.Upload(q, symbols)
		if err != nil {
			c.free()
			return nil, err
		}
		c.host, c.device = append(c.host, symbols), append(c.device, b)
	}
	return c, nil
}

func (c *tables[W, F, E]) commit(q *device.Queue, p *whirfile.Params) (err error) {
	if c.Committed, err = c.prover.Commit(q, p.Inner(), c.device...); err == nil {
		c.digest, err = c.Root()
	}
	return err
}

// elements are words in the field's form.
func elements[W field.Base[W]](words []uint32) []W {
	var zero W
	out := make([]W, len(words))
	parallel.For(len(out), 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = zero.FromUint64(uint64(words[i]))
		}
	})
	return out
}

func (c *tables[W, F, E]) root() whirfile.Root {
	return whirfile.Root(c.scheme.Hash.AppendDigest(nil, c.digest))
}

func (c *tables[W, F, E]) free() {
	if c.Committed != nil {
		c.Free()
	}
	for _, b := range c.device {
		b.Free()
	}
}

func (c *tables[W, F, E]) evaluate(claim whirfile.Claim) ([]whirfile.Words, error) {
	return evaluate(c.host, claim, c.scheme.Scale)
}

func (c *tables[W, F, E]) open(q *device.Queue, claims []whirfile.Claim) ([]byte, error) {
	p := c.Params()
	st, err := whirfile.Statement[W, E](claims, p.Vars())
	if err != nil {
		return nil, err
	}
	t := c.variant.New(transcript.TagWHIR)
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
	pf, err := c.Open(q, tr, st)
	if err != nil {
		return nil, err
	}
	return c.scheme.AppendProof(nil, p, pf)
}
