package prover

import (
	_ "embed"
	"math/bits"
	"slices"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	merkleprover "github.com/zkwarp/zkwarp/merkle/prover"
	additive "github.com/zkwarp/zkwarp/ntt/additive/prover"
	"github.com/zkwarp/zkwarp/transcript/tower"
	towerprover "github.com/zkwarp/zkwarp/transcript/tower/prover"
)

//go:embed fribinius.cu
var text string

var source = &kernel.Source{Name: "fribinius/prover/fribinius.cu", Text: text, Headers: []*kernel.Source{kernel.PTX, gf2.Header, gf2.PolyvalHeader, towerprover.Header}}

// Sources holds the kernels of this package.
func Sources() []*kernel.Source { return []*kernel.Source{source} }

// AllSources are those that Commit and Open launch, to preload them: Sources, and those of
// the packages that they use.
func AllSources() []*kernel.Source {
	return append([]*kernel.Source{source, additive.Source, towerprover.Source}, merkleprover.SourcesOf(fribinius.Hash())...)
}

const (
	threads     = 128
	halvesBlock = 512
	// blocksPerUnit is how many blocks of loops a multiprocessor gets: as many as
	// there are at once.
	blocksPerUnit = 8
	// maxBlocks bounds the sums that a round's end adds up.
	maxBlocks = 1 << 12
	// tailEntries is the size of tables from which on one block does the rounds.
	tailEntries = 1 << 10
	tailThreads = tailEntries / 2
)

func launch(q *device.Queue, name string, blocks, size int, args ...device.Arg) error {
	return q.Launch(device.Kernel{Source: source, Name: name}, device.D1(blocks), device.D1(size), 0, args...)
}

// blocksFor is the number of blocks of a loop over n.
func blocksFor(q *device.Queue, n int) int {
	return max(1, min(device.Blocks(n, threads), blocksPerUnit*q.Device().Info().Units, maxBlocks))
}

// expandDevice makes the table as the product of two small ones, in POLYVAL's basis.
func expandDevice(q *device.Queue, dst device.Buffer[gf2.Element], z []gf2.Element) error {
	n := len(z)
	low := (n + 1) / 2
	coordinates := make([]gf2.Polyval, n+1) // never empty
	gf2.ToPolyval(coordinates[1:], z)
	point, err := device.Upload(q, coordinates)
	if err != nil {
		return err
	}
	defer point.Free()
	halves, err := device.Alloc[gf2.Element](q, 1<<low+1<<(n-low))
	if err != nil {
		return err
	}
	defer halves.Free()
	if err := launch(q, "fribinius_eq_halves", 2, halvesBlock, halves.Arg(), point.Slice(1, n+1).Arg(), device.U32(n), device.U32(low)); err != nil {
		return err
	}
	return launch(q, "fribinius_eq", device.Blocks(dst.Len(), threads), threads, dst.Arg(), halves.Arg(), device.U32(n), device.U32(low))
}

// partialDevice waits for the sums. The sums of elements in POLYVAL's basis are in that, too.
func partialDevice(q *device.Queue, eq, message device.Buffer[gf2.Element]) ([]gf2.Element, error) {
	n := eq.Len()
	each := max(threads, device.Blocks(n, blocksPerUnit*q.Device().Info().Units*threads)*threads)
	blocks := device.Blocks(n, each)
	sums, err := device.Alloc[gf2.Element](q, 128*(blocks+1))
	if err != nil {
		return nil, err
	}
	defer sums.Free()
	if err := launch(q, "fribinius_partial", blocks, threads, sums.Slice(128, sums.Len()).Arg(), eq.Arg(), message.Arg(), device.U64(n), device.U32(each)); err != nil {
		return nil, err
	}
	const words = 512
	if err := launch(q, "fribinius_reduce", words/threads, threads, sums.Arg(), sums.Slice(128, sums.Len()).Arg(), device.U32(blocks), device.U32(words)); err != nil {
		return nil, err
	}
	found, err := device.View[gf2.Polyval](sums.Slice(0, 128)).Read(q)
	out := make([]gf2.Element, len(found))
	gf2.FromPolyval(out, found)
	return out, err
}

// nibbles is a linear map for kernels: at 16i + v the value at the element with v in its
// i-th four bits.
func nibbles(m *gf2.Matrix) []gf2.Element {
	t := make([]gf2.Element, 512)
	for n := range 32 {
		for x := 1; x < 16; x++ {
			t[16*n+x] = t[16*n+x&(x-1)].Add(m.Columns[4*n+bits.TrailingZeros(uint(x))])
		}
	}
	return t
}

// polyvalWeigher is weigher from POLYVAL's basis.
func polyvalWeigher(batch []gf2.Element) *gf2.Matrix {
	m, inverse := weigher(batch), gf2.PolyvalInverse()
	gf2.Apply(m.Columns[:], inverse.Columns[:], &gf2.Matrix{Columns: m.Columns})
	return m
}

// polyvalMaps are the maps to POLYVAL's basis and from it, one behind the other.
var polyvalMaps = sync.OnceValue(func() []gf2.Element {
	to, from := gf2.PolyvalTables()
	return slices.Concat(to, from)
})

// chain is the sum-check of an opening in a device's memory: nothing of it waits for the
// host. Tables are folded from buffer to buffer, as the blocks of a launch have no order;
// they are in POLYVAL's basis from the first round on.
type chain struct {
	o          *opening
	tr         *towerprover.Transcript
	weight     device.Buffer[gf2.Element]
	message    device.Buffer[gf2.Element]
	spare      [2][2]device.Buffer[gf2.Element] // weights and messages
	converted  device.Buffer[gf2.Element]       // the message, in POLYVAL's basis at first and back in the tower's later
	tables     device.Buffer[gf2.Element]       // of the weights, to POLYVAL's basis, and from it
	sums       device.Buffer[uint32]
	challenges device.Buffer[gf2.Element]
	results    device.Buffer[uint32]      // what the host reads in the end: all of
	sent       device.Buffer[gf2.Element] // the rounds' messages, and then the final one
	roots      device.Buffer[uint32]      // of the layers but the first
	state      device.Buffer[uint32]      // of the transcript
	rounds     int                        // sent so far
	pending    bool                       // the tables are not folded by the last challenge yet
}

// foldDevice is foldHost.
func (o *opening) foldDevice(batch []gf2.Element) error {
	defer o.q.Span("sum-check")()
	c := &chain{o: o, weight: o.eq, message: o.c.message}
	defer c.free()
	if err := c.alloc(batch); err != nil {
		return err
	}
	if err := c.run(); err != nil {
		return err
	}
	return c.read()
}

func (c *chain) free() {
	if c.tr != nil {
		c.tr.Free()
	}
	for _, pair := range c.spare {
		pair[0].Free()
		pair[1].Free()
	}
	c.converted.Free()
	c.tables.Free()
	c.sums.Free()
	c.challenges.Free()
	c.results.Free()
}

func (c *chain) alloc(batch []gf2.Element) (err error) {
	q, n := c.o.q, c.o.p.MessageVars()
	if c.tr, err = towerprover.FromHost(q, c.o.tr); err != nil {
		return err
	}
	for i := range c.spare {
		for j := range c.spare[i] {
			if c.spare[i][j], err = device.Alloc[gf2.Element](q, 1<<max(0, n-1-i)); err != nil {
				return err
			}
		}
	}
	if c.converted, err = device.Alloc[gf2.Element](q, 1<<n); err != nil {
		return err
	}
	if c.tables, err = device.Upload(q, slices.Concat(nibbles(polyvalWeigher(batch)), polyvalMaps())); err != nil {
		return err
	}
	if c.sums, err = device.Alloc[uint32](q, 8*maxBlocks); err != nil {
		return err
	}
	if c.challenges, err = device.Alloc[gf2.Element](q, n+1); err != nil {
		return err
	}
	sent, roots := 4*(2*n+1<<c.o.p.FinalVars()), 8*len(c.o.proof.Roots)
	if c.results, err = device.Alloc[uint32](q, sent+roots+len(tower.State{})); err != nil {
		return err
	}
	c.sent = device.View[gf2.Element](c.results.Slice(0, sent))
	c.roots = c.results.Slice(sent, sent+roots)
	c.state = c.results.Slice(sent+roots, c.results.Len())
	return nil
}

// prepare enqueues the next round's sums, which begins with the fold by the last round's
// challenge: then message is what that leaves.
func (c *chain) prepare() error {
	q := c.o.q
	if c.rounds == 0 {
		n := c.message.Len()
		err := launch(q, "fribinius_begin", blocksFor(q, n/2), threads, c.sums.Arg(), c.weight.Arg(), c.converted.Arg(), c.message.Arg(), c.tables.Slice(0, 1024).Arg(), device.U64(n))
		c.message = c.converted
		return err
	}
	if !c.pending {
		return nil
	}
	n := c.message.Len() / 2
	to := c.spare[0]
	if device.Overlap(to[0], c.weight) {
		to = c.spare[1]
	}
	w, m := to[0].Slice(0, n), to[1].Slice(0, n)
	err := launch(q, "fribinius_fold", blocksFor(q, (n+1)/2), threads, c.sums.Arg(), w.Arg(), m.Arg(), c.weight.Arg(), c.message.Arg(),
		c.challenges.Slice(c.rounds-1, c.rounds).Arg(), device.U64(n))
	c.weight, c.message, c.pending = w, m, false
	return err
}

// send enqueues a round's end.
func (c *chain) send() error {
	i := c.rounds
	pairs := c.message.Len() / 2
	c.rounds, c.pending = c.rounds+1, true
	return launch(c.o.q, "fribinius_round", 1, threads, c.tr.State().Arg(), c.sent.Slice(2*i, 2*i+2).Arg(), c.challenges.Slice(i, i+1).Arg(),
		c.sums.Arg(), c.tables.Slice(512, 1536).Arg(), device.U32(blocksFor(c.o.q, pairs)))
}

// tail enqueues several rounds on small tables by one launch, after prepare.
func (c *chain) tail(rounds int) error {
	i, n := c.rounds, c.message.Len()
	err := launch(c.o.q, "fribinius_tail", 1, tailThreads, c.tr.State().Arg(), c.sent.Slice(2*i, 2*(i+rounds)).Arg(), c.weight.Arg(), c.message.Arg(),
		c.tables.Slice(512, 1536).Arg(), device.U32(n), device.U32(rounds))
	c.rounds += rounds
	c.weight, c.message = c.weight.Slice(0, n>>rounds), c.message.Slice(0, n>>rounds)
	return err
}

// group enqueues the rounds from one word to the next, of which the first is prepared.
func (c *chain) group(rounds int) error {
	if rounds > 0 && c.message.Len() <= tailEntries {
		return c.tail(rounds)
	}
	for f := range rounds {
		if f > 0 {
			if err := c.prepare(); err != nil {
				return err
			}
		}
		if err := c.send(); err != nil {
			return err
		}
	}
	return nil
}

// convert enqueues the conversion of the message to dst. Before the first round it is in the
// tower's basis already.
func (c *chain) convert(dst device.Buffer[gf2.Element]) error {
	if c.rounds == 0 {
		return device.Copy(c.o.q, dst, c.message)
	}
	n := dst.Len()
	return launch(c.o.q, "fribinius_convert", blocksFor(c.o.q, n), threads, dst.Arg(), c.message.Arg(), c.tables.Slice(1024, 1536).Arg(), device.U64(n))
}

func (c *chain) run() error {
	o := c.o
	for i, l := range o.p.Layers() {
		if l.Fold > 0 {
			if err := c.prepare(); err != nil {
				return err
			}
		}
		if i > 0 {
			if err := c.layer(i); err != nil {
				return err
			}
		}
		if err := c.group(l.Fold); err != nil {
			return err
		}
	}
	n := o.p.MessageVars()
	if c.rounds > 0 {
		if err := c.prepare(); err != nil {
			return err
		}
	}
	final := c.sent.Slice(2*n, c.sent.Len())
	if err := c.convert(final); err != nil {
		return err
	}
	if err := c.tr.Absorb(final); err != nil {
		return err
	}
	if err := c.group(o.p.FinalVars()); err != nil {
		return err
	}
	return o.err()
}

// layer enqueues a layer's word, its tree, and the absorption of its root. The word is
// the message's codeword, which is what folding the word before would give, by a
// fraction of the products.
func (c *chain) layer(i int) error {
	o := c.o
	word, err := device.Alloc[gf2.Element](o.q, c.message.Len()<<o.p.LogInvRate())
	if err != nil {
		return err
	}
	o.layers = append(o.layers, layer{word: word})
	// What is in there is of use no more after the first fold: messages of two layers are
	// larger than tail's tables, so that this one was folded to another buffer.
	message := c.converted.Slice(0, c.message.Len())
	if err := c.convert(message); err != nil {
		return err
	}
	if err := o.c.encoder.Encode(word, message); err != nil {
		return err
	}
	if o.layers[i].tree, err = hashTree(o.q, o.p, i, word); err != nil {
		return err
	}
	root := device.View[uint32](o.layers[i].tree.Root())
	if err := device.Copy(o.q, c.roots.Slice(8*i-8, 8*i), root); err != nil {
		return err
	}
	return c.tr.AbsorbWords(root)
}

// read waits for what was sent, and takes the host's transcript along.
func (c *chain) read() error {
	o, n := c.o, c.o.p.MessageVars()
	if err := device.Copy(o.q, c.state, c.tr.State()); err != nil {
		return err
	}
	words, err := c.results.Read(o.q)
	if err != nil {
		return err
	}
	elements := make([]gf2.Element, c.sent.Len())
	for i := range elements {
		elements[i] = gf2.Element{Lo: uint64(words[0]) | uint64(words[1])<<32, Hi: uint64(words[2]) | uint64(words[3])<<32}
		words = words[4:]
	}
	for i := range n {
		o.proof.Rounds = append(o.proof.Rounds, fribinius.Round{AtZero: elements[2*i], Lead: elements[2*i+1]})
	}
	o.proof.Final = elements[2*n:]
	for i := range o.proof.Roots {
		words = words[copy(o.proof.Roots[i][:], words):]
	}
	tr, err := tower.FromState(tower.State(words))
	if err != nil {
		return err
	}
	*o.tr = *tr
	return nil
}
