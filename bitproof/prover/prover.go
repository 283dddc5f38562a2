// Package prover makes proofs of package bitproof, on any device.
package prover

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/bitproof"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
	friprover "github.com/zkwarp/zkwarp/fribinius/prover"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/binary/prover"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// Sources are the package's translation units.
func Sources() []*kernel.Source { return []*kernel.Source{Source} }

// AllSources are those that Prove launches, to preload them: Sources, and those of the
// sum-check and the commitment.
func AllSources() []*kernel.Source {
	return slices.Concat(Sources(), sumprover.DefaultSources(), friprover.AllSources())
}

// ColumnsError is a number of columns, or a column's length in words, that is not
// the statement's.
type ColumnsError struct {
	What      string
	Got, Want int
}

func (e *ColumnsError) Error() string {
	return fmt.Sprintf("%s: got %d, want %d", e.What, e.Got, e.Want)
}

// Columns of a statement on a device.
type Columns struct {
	params *bitproof.Params
	table  device.Buffer[uint32] // all columns one after the other, and zeros
}

// Upload copies columns of packed bits, in the statement's order, to q's device: bit x
// of a column is bit x%32 of word x/32.
func Upload(q *device.Queue, p *bitproof.Params, columns [][]uint32) (*Columns, error) {
	s := p.Statement()
	if len(columns) != len(s.Names) {
		return nil, &ColumnsError{"columns", len(columns), len(s.Names)}
	}
	words := s.ColumnWords()
	for j, c := range columns {
		if len(c) != words {
			return nil, &ColumnsError{"words of column " + s.Names[j], len(c), words}
		}
	}
	c, err := newColumns(q, p)
	if err != nil {
		return nil, err
	}
	for j, column := range columns {
		if err := c.table.Slice(j*words, (j+1)*words).CopyFrom(q, column); err != nil {
			c.Free()
			return nil, err
		}
	}
	return c, nil
}

// newColumns is columns that are all zero.
func newColumns(q *device.Queue, p *bitproof.Params) (*Columns, error) {
	s := p.Statement()
	table, err := device.Alloc[uint32](q, s.ColumnWords()<<s.ColumnVars())
	if err != nil {
		return nil, err
	}
	c := &Columns{p, table}
	if err := table.Zero(q); err != nil {
		c.Free()
		return nil, err
	}
	return c, nil
}

// Free gives the columns' memory back.
func (c *Columns) Free() { c.table.Free() }

// Options of Prove.
type Options struct {
	// Stage, if set, is told what begins, one of Stages.
	Stage func(name string)
	// Unchecked proves even where a gate does not hold, to show that nobody accepts that.
	Unchecked bool
}

// Stages of Prove, in their order; without AND gates the third and fourth are left out.
func Stages() []string { return []string{"commit", "gates", "zero-check", "join", "open"} }

// Prove proves that the columns obey their statement. Where they do not, the error
// is a GateError. Work stops with ctx's error.
func Prove(ctx context.Context, q *device.Queue, c *Columns, o Options) (*bitproof.Proof, error) {
	end := func() {}
	stage := func(name string) error {
		end()
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.Stage != nil {
			if err := q.Sync(); err != nil { // so that stages' times are their own
				return err
			}
			o.Stage(name)
		}
		end = q.Span(name)
		return nil
	}
	defer func() { end() }()

	if err := stage("commit"); err != nil {
		return nil, err
	}
	p := c.params
	committed, root, err := friprover.Commit(ctx, q, p.Commitment(), c.table)
	if err != nil {
		return nil, fmt.Errorf("committing: %w", err)
	}
	defer committed.Free()
	pr := &proving{ctx: ctx, q: q, p: p, s: p.Statement(), table: c.table, committed: committed, stage: stage, unchecked: o.Unchecked, proof: &bitproof.Proof{Root: root}}
	if err := pr.run(); err != nil {
		return nil, err
	}
	return pr.proof, nil
}

// proving is one proof in the making.
type proving struct {
	ctx       context.Context
	q         *device.Queue
	p         *bitproof.Params
	s         *bitproof.Statement
	table     device.Buffer[uint32]
	committed *friprover.Committed
	stage     func(string) error
	unchecked bool
	proof     *bitproof.Proof
}

func (pr *proving) run() error {
	if err := pr.stage("gates"); err != nil {
		return err
	}
	q, s := pr.q, pr.s
	var left, right device.Buffer[uint32]
	shape, ands := pr.p.GateShape()
	if ands {
		for _, b := range []*device.Buffer[uint32]{&left, &right} {
			var err error
			if *b, err = device.Alloc[uint32](q, shape.Words()); err != nil {
				return err
			}
			defer b.Free()
		}
	}
	err := factors(q, s, pr.table, left, right)
	var broken *GateError
	if err != nil && (!pr.unchecked || !errors.As(err, &broken)) {
		return err
	}
	tr := pr.p.Start(pr.proof.Root)
	z := tr.Challenges(s.GateVars() + s.Vars)
	zg, zx := z[:s.GateVars()], z[s.GateVars():]
	if pr.proof.AtZ, err = sumprover.EvaluateBits(q, pr.table, len(s.Names), zx); err != nil {
		return err
	}
	tr.Absorb(pr.proof.AtZ)
	if !ands {
		return pr.open(tr, append(tr.Challenges(s.ColumnVars()), zx...))
	}

	if err := pr.stage("zero-check"); err != nil {
		return err
	}
	value := s.OutAt(zg, pr.proof.AtZ)
	instance := sumprover.Instance{Shape: shape, Z: z, Bits: []device.Buffer[uint32]{left, right}}
	gates, r, err := sumprover.Prove(pr.ctx, q, tr, instance, value, sumprover.Options{})
	if err != nil {
		return fmt.Errorf("zero-check: %w", err)
	}
	pr.proof.Gates = gates
	rx := r.Point[s.GateVars():]
	if pr.proof.AtGates, err = sumprover.EvaluateBits(q, pr.table, len(s.Names), rx); err != nil {
		return err
	}
	tr.Absorb(pr.proof.AtGates)

	if err := pr.stage("join"); err != nil {
		return err
	}
	rho := tr.Challenges(s.ColumnVars())
	gamma := tr.Challenge()
	point, err := pr.join(tr, rho, zx, rx, gamma)
	if err != nil {
		return err
	}
	return pr.open(tr, append(rho, point...))
}

// join brings the claims at both points together, and returns the point that is left.
func (pr *proving) join(tr *tower.Transcript, rho, z, r []gf2.Element, gamma gf2.Element) ([]gf2.Element, error) {
	rows := 1 << pr.s.Vars
	tables := make([]device.Buffer[gf2.Element], 2)
	for i := range tables {
		var err error
		if tables[i], err = device.Alloc[gf2.Element](pr.q, rows); err != nil {
			return nil, err
		}
		defer tables[i].Free()
	}
	eq := bitproof.EqTable(rho)
	if err := join(pr.q, pr.s, tables[0], tables[1], pr.table, eq, z, r, gamma); err != nil {
		return nil, err
	}
	var value gf2.Element
	for j, w := range eq[:len(pr.s.Names)] {
		value = value.Add(w.Mul(pr.proof.AtZ[j].Add(gamma.Mul(pr.proof.AtGates[j]))))
	}
	shape, _ := pr.p.JoinShape()
	joined, result, err := sumprover.Prove(pr.ctx, pr.q, tr, sumprover.Instance{Shape: shape, Ext: tables}, value, sumprover.Options{})
	if err != nil {
		return nil, fmt.Errorf("joining points: %w", err)
	}
	pr.proof.Join = joined
	return result.Point, nil
}

// open opens the commitment at a point of all its variables.
func (pr *proving) open(tr *tower.Transcript, point []gf2.Element) error {
	if err := pr.stage("open"); err != nil {
		return err
	}
	opening, _, err := pr.committed.Open(pr.ctx, tr, point)
	if err != nil {
		return fmt.Errorf("opening: %w", err)
	}
	pr.proof.Opening = opening
	return nil
}
