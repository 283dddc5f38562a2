package chunks

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Committing says what of a program's inputs and outputs, and of what its parts hand on, is going to be committed instead of public.
type Committing struct {
	Inputs, Outputs []graph.TensorID
	// Boundaries is what CommitBoundaries has committed.
	Boundaries bool
}

// Plan chooses where to cut a program so that no part has more than limit committed entries: padded parameters, and padded columns. However large the
// limit is, every part is one that can be proved: neither its parameters nor its columns nor the leaves of its lookups exceed 2^29, with those of the inputs
// that c says are committed, and of these and of committed outputs there are no more than a proof can have. A nil c is nothing. Among the
// places that these limits leave it takes one with the fewest values at the boundary, in the last quarter of what fits. It returns positions for
// Cut, none if everything fits one part.
func Plan(p *graph.Program, limit int64, c *Committing) ([]int, error) {
	if err := given.Check(given.Arg{Name: "program", Given: p != nil}); err != nil {
		return nil, fmt.Errorf("plan of parts: %w", err)
	}
	cross := crossing(p)
	ends := endsToCommit(p, c)
	var before []int
	for first := 0; first < len(p.Ops); {
		end, size, beyond := fill(p, first, limit, ends)
		if end == first {
			return nil, fmt.Errorf("operation %d (%s) alone needs %s, the limit is %d committed entries in all and 2^%d of each kind", first, p.Ops[first].Kind(), size, limit, plan.MaxVars)
		}
		if end == len(p.Ops) {
			break
		}
		best := -1
		for at := end; at > first && (at > end-(end-first)/4 || best < 0); at-- {
			if cross[at] >= 0 && !beyond[at-first] && (best < 0 || cross[at] < cross[best]) {
				best = at
			}
		}
		if best < 0 {
			return nil, fmt.Errorf("no boundary between operations %d and %d can be an input, within the limits", first, end)
		}
		before = append(before, best)
		first = best
	}
	return before, nil
}

// size is what a run of operations commits to and looks up.
type size struct {
	params, columns int64 // padded entries
	ends            int64 // of the limbs of committed inputs, which lie beside the columns
	tensors         int   // committed inputs and outputs
	leaves          int64 // of the lookups, tables included
	limbs           int64 // leaves of the proof that the parameters are within their bounds
}

func (s *size) String() string {
	text := fmt.Sprintf("%d committed entries of parameters, %d of columns and %d leaves", s.params, s.columns, s.leaves)
	if s.tensors > 0 {
		text += fmt.Sprintf(", with %d committed inputs and outputs and %d entries of their limbs", s.tensors, s.ends)
	}
	return text
}

func (s *size) fits(limit int64) bool {
	const most = 1 << plan.MaxVars
	return s.params+s.columns <= limit && max(s.params, s.columns+s.ends, s.leaves, s.limbs) <= most && s.tensors <= plan.MaxCommitted
}

// fill returns the end of the longest run of operations within the limits, and the size of the run with one more. The limits take what the run hands on
// into account if that is committed, where it ends, but not what is read within it: beyond says which runs, by their
// number of operations, are beyond the limits for what they hand on.
func fill(p *graph.Program, first int, limit int64, ends *endsSize) (end int, s *size, beyond []bool) {
	beyond = []bool{true}
	run := ends.run(first)
	s = &size{limbs: 1 << 17} // the tables for the bounds of parameters have at most 2^16 rows, and then at most as many again
	params, tables, ranges := map[graph.TensorID]bool{}, map[int]bool{}, map[int]bool{}
	for end = first; end < len(p.Ops); end++ {
		op := p.Ops[end]
		for _, id := range op.Inputs() {
			if t := p.Tensor(id); t.Kind == graph.Param && !params[id] {
				params[id] = true
				n := int64(1) << graph.Vars(t.Shape)
				s.params += n
				s.limbs += n * int64(plan.LimbCount(t))
			}
		}
		for _, id := range op.Outputs() {
			if t := p.Tensor(id); t.Kind == graph.Column {
				s.columns += int64(1) << graph.Vars(t.Shape)
			}
		}
		rows := func(bits int) {
			if !ranges[bits] {
				ranges[bits] = true
				s.leaves += int64(1) << bits
			}
		}
		lookups := func(x graph.TensorID, blocks int64) { s.leaves += blocks << graph.Vars(p.Tensor(x).Shape) }
		switch op := op.(type) {
		case graph.Lookup:
			if lookups(op.X, 1); op.Shift > 0 {
				lookups(op.X, 1)
				rows(int(op.Shift))
			}
		case graph.Pair:
			lookups(op.Y, 1)
		case graph.Threshold:
			lookups(op.X, 5)
			rows(14)
			rows(16)
		}
		if k, ok := graph.TableOf(op); ok && !tables[k] {
			tables[k] = true
			s.leaves += int64(p.Tables[k].Rows())
		}
		handed := run.add(s, end, rows)
		if !s.fits(limit) {
			return end, s, beyond
		}
		beyond = append(beyond, s.tensors+handed > plan.MaxCommitted)
	}
	return end, s, beyond
}

// crossing returns, for a cut before each operation, the number of values that would cross it; -1 where one of them cannot be an input.
func crossing(p *graph.Program) []int {
	last := make([]int, len(p.Tensors))
	for i, op := range p.Ops {
		for _, id := range op.Inputs() {
			last[id] = i
		}
	}
	count := make([]int, len(p.Ops)+1)
	for i, op := range p.Ops {
		for _, id := range op.Outputs() {
			t := p.Tensor(id)
			for at := i + 1; at <= last[id]; at++ {
				if t.Lo > 0 || t.Hi < 0 {
					count[at] = -1
				} else if count[at] >= 0 {
					count[at] += t.Len()
				}
			}
		}
	}
	return count
}

// endsSize knows which tensors will be committed where a part begins or ends.
type endsSize struct {
	p           *graph.Program
	boundaries  bool
	given, made map[graph.TensorID]bool // of the program's own inputs and outputs, those that are committed
	outputs     map[graph.TensorID]bool // of the program
	last        []int                   // operation that reads a tensor last, or -1
	by          []int                   // operation that makes it, or -1
}

func endsToCommit(p *graph.Program, c *Committing) *endsSize {
	if c == nil {
		return nil
	}
	set := func(ids []graph.TensorID) map[graph.TensorID]bool {
		m := map[graph.TensorID]bool{}
		for _, id := range ids {
			m[id] = true
		}
		return m
	}
	e := &endsSize{p: p, boundaries: c.Boundaries, given: set(c.Inputs), made: set(c.Outputs), outputs: set(p.Outputs)}
	e.last, e.by = slices.Repeat([]int{-1}, len(p.Tensors)), slices.Repeat([]int{-1}, len(p.Tensors))
	for i, op := range p.Ops {
		for _, id := range op.Inputs() {
			e.last[id] = i
		}
		for _, id := range op.Outputs() {
			e.by[id] = i
		}
	}
	return e
}

// committed says whether a tensor that an operation makes is committed where parts hand it on.
func (e *endsSize) committed(id graph.TensorID) bool {
	return e.made[id] || e.boundaries && !e.outputs[id]
}

// endsRun follows a run of operations that begins somewhere.
type endsRun struct {
	*endsSize
	first  int
	in     map[graph.TensorID]bool
	handed int // how much the run has made that is committed if the run ends here
}

func (e *endsSize) run(first int) *endsRun {
	if e == nil {
		return nil
	}
	return &endsRun{endsSize: e, first: first, in: map[graph.TensorID]bool{}}
}

// add adds operation i. What it makes is an output of the run as long as somebody behind the run reads it, and is counted as that; outputs of the
// program are in s.
func (r *endsRun) add(s *size, i int, rows func(bits int)) (handed int) {
	if r == nil {
		return 0
	}
	op := r.p.Ops[i]
	for _, id := range op.Outputs() {
		switch {
		case r.made[id]:
			s.tensors++
		case r.last[id] > i && r.committed(id):
			r.handed++
		}
	}
	done := map[graph.TensorID]bool{}
	for _, id := range op.Inputs() {
		t := r.p.Tensor(id)
		if t.Kind == graph.Param || done[id] {
			continue
		}
		done[id] = true
		inside := r.by[id] >= r.first
		switch {
		case inside && r.last[id] == i && r.committed(id) && !r.made[id]:
			r.handed--
		case inside || r.in[id]:
		case t.Kind == graph.Input && r.given[id], t.Kind != graph.Input && r.committed(id):
			r.in[id] = true
			s.tensors++
			more := plan.SizeOfInput(r.p, id)
			s.ends += more.Limbs
			s.leaves += more.Leaves
			for _, bits := range more.Widths {
				rows(bits)
			}
		}
	}
	return r.handed
}
