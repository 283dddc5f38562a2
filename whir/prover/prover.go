// Package prover commits to tables and opens them by the protocol of package
// whir, on the device where the tables lie: an opening is a chain of launches
// that waits for the host twice, once for the indices that were drawn and once
// for the rows at them. The host's own operations give the same proofs.
package prover

import (
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/merkle"
	merkleprover "github.com/zkwarp/zkwarp/merkle/prover"
	ntt "github.com/zkwarp/zkwarp/ntt/prover"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// Tabled is a caller's own weight that the prover can use.
type Tabled[E any] interface {
	whir.Weight[E]
	// AddTo adds coeff times the weight's table to dst.
	AddTo(dst []E, coeff E)
}

// variant is one instance of the protocol with all that its prover runs on.
type variant[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	scheme  *whir.Scheme[W, F, E]
	units   *unit     // kernels
	field   ntt.Field // of the transforms
	vectors vectors[W, F, E]
}

// ops are the operations on q's device.
func (v *variant[W, F, E]) ops(q *device.Queue) (ops[W, F, E], error) {
	if q.OnHost() {
		return host[W, F, E]{v, q}, nil
	}
	return newOnDevice[W, F, E](q, v.units)
}

// Prover commits to tables and opens them, for one choice of fields and hash.
type Prover[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	v *variant[W, F, E]
}

// Scheme is the protocol that the prover's proofs are verified by.
func (p *Prover[W, F, E]) Scheme() *whir.Scheme[W, F, E] { return p.v.scheme }

// Commit enqueues the commitment to p.Batch() tables of 2^p.Vars() symbols, which
// must not change while it is in use. It fails before any work if the device has
// not the memory for the commitment.
func (p *Prover[W, F, E]) Commit(q *device.Queue, params *whir.Params, tables ...device.Buffer[F]) (*Committed[W, F, E], error) {
	return commit(q, p.v, params, tables, tamper[W, E]{})
}

// Committed is a batch of tables with their codewords and tree, all on the
// device. It keeps the tables.
type Committed[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	v      *variant[W, F, E]
	q      *device.Queue
	params *whir.Params
	tables []device.Buffer[F]
	tree   *oracle[W] // whose words are not there once they were shed
	lent   bool       // the tree is another commitment's
	tamper tamper[W, E]

	reading sync.Mutex
	root    *[8]W // once it was read
}

// oracle is a committed matrix of codewords, column by column, with its tree.
type oracle[W field.Base[W]] struct {
	words  device.Buffer[W]
	layout merkle.Layout
	tree   *merkleprover.TreeOf[W]
}

func (o *oracle[W]) free() {
	o.words.Free()
	if o.tree != nil {
		o.tree.Free()
	}
}

// tamper lets the tests of this package cheat, on the host. Its zero value does
// nothing.
type tamper[W field.Base[W], E any] struct {
	codeword func(round int, code []W)      // before a tree is built: columns of reversed codewords
	table    func(round int, g []E)         // before a folded table is committed
	answer   func(round, sample int, y E) E // an out-of-domain answer
	fold     func(round, j int, atZero, lead E) (E, E)
	final    func(g, w []E)
}

// commitBytes is the memory of round i's codewords and tree.
func commitBytes(p *whir.Params, i int) int64 { return codeBytes(p, i) + treeBytes(p, i) }

func codeBytes(p *whir.Params, i int) int64 { return 4 * int64(p.RowWords(i)) << p.LogLeaves(i) }

func treeBytes(p *whir.Params, i int) int64 {
	return 32 << p.LogLeaves(i) * int64(p.Arity()) / int64(p.Arity()-1)
}

func commit[W field.Base[W], F field.Element[F], E field.Element[E]](q *device.Queue, v *variant[W, F, E], p *whir.Params, tables []device.Buffer[F], t tamper[W, E]) (*Committed[W, F, E], error) {
	if p == nil || p.Spec() != v.scheme.Spec {
		return nil, fmt.Errorf("whir: commit: parameters are not for %s", v.scheme.Spec.Name)
	}
	if len(tables) != p.Batch() {
		return nil, fmt.Errorf("whir: commit: %d tables, want %d", len(tables), p.Batch())
	}
	for _, table := range tables {
		if table.Len() != 1<<p.Vars() {
			return nil, fmt.Errorf("whir: commit: table of %d symbols, want 2^%d", table.Len(), p.Vars())
		}
		if err := table.Use(q); err != nil {
			return nil, fmt.Errorf("whir: commit: %w", err)
		}
	}
	if err := q.Device().CheckMemory(commitBytes(p, 0)); err != nil {
		return nil, fmt.Errorf("whir: commit to %d tables of 2^%d symbols: %w", p.Batch(), p.Vars(), err)
	}
	defer q.Span("whir commit")()
	c := &Committed[W, F, E]{v: v, q: q, params: p, tables: tables, tamper: t}
	code, err := c.encode(q)
	if err == nil {
		c.tree, err = c.hash(q, 0, device.View[W](code), v.scheme.Spec.SymbolWords)
	}
	if err != nil {
		code.Free()
		return nil, fmt.Errorf("whir: commit: %w", err)
	}
	return c, nil
}

// encode enqueues the codewords of the tables.
func (c *Committed[W, F, E]) encode(q *device.Queue) (code device.Buffer[F], err error) {
	p := c.params
	fold, logLeaves := p.Round(0).Fold, p.LogLeaves(0)
	part := 1 << (fold + logLeaves)
	if code, err = device.Alloc[F](q, part*len(c.tables)); err != nil {
		return code, err
	}
	for a, table := range c.tables {
		if err = ntt.Encode(q, c.v.field, code.Slice(a*part, (a+1)*part), table, 1<<fold, logLeaves, p.Vars()-fold); err != nil {
			break
		}
	}
	return code, err
}

// hash enqueues the tree of round i's codewords.
func (c *Committed[W, F, E]) hash(q *device.Queue, i int, words device.Buffer[W], symbol int) (*oracle[W], error) {
	if c.tamper.codeword != nil {
		c.tamper.codeword(i, words.Host())
	}
	p := c.params
	o := &oracle[W]{words: words, layout: merkle.Layout{Columns: true, Symbol: symbol, Reversed: true}}
	var err error
	o.tree, err = merkleprover.Build(q, c.v.scheme.Hash, words, merkle.Shape{Rows: 1 << p.LogLeaves(i), RowWords: p.RowWords(i), Arity: p.Arity()}, o.layout)
	return o, err
}

// Params of the commitment.
func (c *Committed[W, F, E]) Params() *whir.Params { return c.params }

// Root waits, at the first call, for the root of the tree on the queue that
// committed.
func (c *Committed[W, F, E]) Root() ([8]W, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.root == nil {
		root := new([8]W)
		if err := c.tree.tree.Root().CopyTo(c.q, root[:]); err != nil {
			return [8]W{}, fmt.Errorf("whir: commit: %w", err)
		}
		c.root = root
	}
	return *c.root, nil
}

// Words waits for the list that stands for the commitment in the transcript.
func (c *Committed[W, F, E]) Words() ([]W, error) {
	root, err := c.Root()
	if err != nil {
		return nil, err
	}
	return c.v.scheme.CommitmentWords(c.params, root), nil
}

// Free gives the memory of the codewords and the tree back. The tables are the
// caller's.
func (c *Committed[W, F, E]) Free() {
	if !c.lent {
		c.tree.free()
	}
}

// shed gives the memory of the codewords back.
func (c *Committed[W, F, E]) shed() {
	c.tree.words.Free()
	c.tree.words = device.Buffer[W]{}
}

// over is the commitment with its tables at other places, without codewords.
func (c *Committed[W, F, E]) over(tables []device.Buffer[F]) (*Committed[W, F, E], error) {
	root, err := c.Root()
	if err != nil {
		return nil, err
	}
	tree := &oracle[W]{layout: c.tree.layout, tree: c.tree.tree}
	return &Committed[W, F, E]{v: c.v, q: c.q, params: c.params, tables: tables, tree: tree, lent: true, tamper: c.tamper, root: &root}, nil
}

// Open proves that the tables satisfy the statement. The transcript must have
// absorbed the commitment's Words. The statement is not checked: the proof of a
// false one does not verify. The queue is one of the commitment's device, and may
// be another one than has committed once the Root was read.
func (c *Committed[W, F, E]) Open(q *device.Queue, tr *transcriptprover.Of[W, E], st whir.Statement[W, E]) (*whir.Proof[W, E], error) {
	if err := tr.Use(q); err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	return c.open(q, tr, st)
}
