package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// mergeLayout is where the messages of the claim merging lie, and what it proves.
type mergeLayout struct {
	homes                        []plan.Home // stacks with claims
	claims, rounds, evals, point int
	stacksAt                     int               // of zkml_combine
	stacks                       *sumprover.Stacks // nil without claims
	descAt, factors              int               // its descriptors and tables of eq
}

// merge lays out the claim merging.
func (p *placer) merge() error {
	l := p.layout
	pl, m, st := l.plan, &l.merge, &l.mergeStep
	var combine words
	var stacks []sumprover.Stack
	for _, h := range pl.Order() {
		stack := &pl.Stacks[h]
		if len(stack.Evals) == 0 {
			continue
		}
		in := sumprover.Stack{Vars: stack.Vars, Used: 1 << stack.Vars}
		if h < plan.FirstCommitted { // the statement's have salts
			last := stack.Polys[len(stack.Polys)-1]
			in.Used = pl.Polys[last].Offset + 1<<pl.Polys[last].Vars
		}
		var values []int
		for i, id := range stack.Evals {
			e := &pl.Evals[id]
			in.Claims = append(in.Claims, sumprover.StackClaim{At: pl.Polys[e.Poly].Offset, Point: e.Point, Power: i})
			values = append(values, l.values[id])
		}
		at := p.take(1)
		if len(stacks) == 0 {
			m.claims = at
		}
		combine.add(uint64(l.desc.list(values)), uint64(len(values)), uint64(at))
		m.homes, stacks = append(m.homes, h), append(stacks, in)
	}
	if len(stacks) > 0 {
		var err error
		if m.stacks, err = sumprover.NewStacks(stacks); err != nil {
			return fmt.Errorf("claim merging: %w", err)
		}
		m.factors = st.scratch
		for _, t := range m.stacks.Tables {
			st.tables = append(st.tables, eqTable{m.factors + t.At, t.Point, t.Power})
		}
		st.scratch += m.stacks.Factors
		m.descAt = l.desc.add(m.stacks.Desc...)
	}
	st.finish(l)
	shapes := pl.MergeShapes()
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	m.rounds, m.evals, m.point = p.take(n*d), p.take(sumcheck.Evaluations(shapes)), p.take(n)
	m.stacksAt = l.desc.add(combine...)
	return nil
}
