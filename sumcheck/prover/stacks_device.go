package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

// stacksRun is one run of a plan.
type stacksRun struct {
	*Stacks
	q       *device.Queue
	tr      *transcript.Transcript
	desc    device.Buffer[uint64]
	factors device.Buffer[m31.QM31]
	words   []device.Buffer[m31.Element]
	values  device.Buffer[m31.QM31]
	out     Output
	lim     limits

	tables device.Buffer[m31.QM31]
}

// Run is the package's Run for the plan's batch: it proves on the device alone, and does
// not wait for it. factors has what Tables asks for, desc what Desc is, unless that is the host; words are the
// stacks' tables, on a device other than the host at multiples of 16 bytes. Evaluations
// are the words' and the weights', stack by stack.
func (p *Stacks) Run(q *device.Queue, tr *transcript.Transcript, desc device.Buffer[uint64], factors device.Buffer[m31.QM31], words []device.Buffer[m31.Element], values device.Buffer[m31.QM31], out Output) error {
	return p.run(q, tr, desc, factors, words, values, out, usual(q))
}

func (p *Stacks) run(q *device.Queue, tr *transcript.Transcript, desc device.Buffer[uint64], factors device.Buffer[m31.QM31], words []device.Buffer[m31.Element], values device.Buffer[m31.QM31], out Output, lim limits) error {
	n := len(p.stacks)
	if len(words) != n || values.Len() != n || factors.Len() < p.Factors || desc.Len() < len(p.Desc) && !q.OnHost() ||
		out.Rounds.Len() != 2*p.n || out.Evals.Len() != 2*n || out.Point.Len() != p.n {
		return fmt.Errorf("%w: buffers do not fit %d stacks", sumcheck.ErrShape, n)
	}
	err := errors.Join(tr.Use(q), desc.Use(q), factors.Use(q), values.Use(q), out.Rounds.Use(q), out.Evals.Use(q), out.Point.Use(q))
	for i, w := range words {
		if w.Len() != 1<<p.stacks[i].Vars {
			return fmt.Errorf("%w: stack %d of %d words, want 2^%d", sumcheck.ErrShape, i, w.Len(), p.stacks[i].Vars)
		}
		if w.Address()%16 != 0 {
			return fmt.Errorf("%w: stack %d is at %d, not at a multiple of 16 bytes", sumcheck.ErrShape, i, w.Address())
		}
		err = errors.Join(err, w.Use(q))
	}
	if err != nil {
		return fmt.Errorf("sumcheck: transcript, stacks and proof: %w", err)
	}
	r := &stacksRun{Stacks: p, q: q, tr: tr, desc: desc, factors: factors, words: words, values: values, out: out, lim: lim}
	if r.tables, err = device.Alloc[m31.QM31](q, p.elements); err != nil {
		return fmt.Errorf("sumcheck: stacks: %w", err)
	}
	defer r.tables.Free()
	if err := r.tables.Slice(0, p.zeroed).Zero(q); err != nil {
		return fmt.Errorf("sumcheck: stacks: %w", err)
	}
	if q.OnHost() {
		return r.onHost()
	}
	return r.onDevice()
}

// head and tail are the output's parts for the rounds on rows and for those after.
func (r *stacksRun) head() Output {
	return Output{Rounds: r.out.Rounds.Slice(0, 2*r.first), Point: r.out.Point.Slice(0, r.first), Evals: r.tables.Slice(r.evals, r.evals+2*len(r.instances))}
}

func (r *stacksRun) tail() Output {
	return Output{Rounds: r.out.Rounds.Slice(2*r.first, 2*r.n), Point: r.out.Point.Slice(r.first, r.n), Evals: r.out.Evals}
}

func (r *stacksRun) table(at, vars int) device.Buffer[m31.QM31] {
	return r.tables.Slice(at, at+1<<vars)
}

func (r *stacksRun) instance(in *stackInstance) Instance {
	weight := r.tables
	if in.factor {
		weight = r.factors
	}
	return Instance{Shape: sumcheck.Product(in.vars, 2), Tables: []Table{Ext(r.table(in.words, in.vars)), Ext(weight.Slice(in.weight, in.weight+1<<in.vars))}}
}

// rest is the batch that is left once rows are bound.
func (r *stacksRun) rest() (out []Instance) {
	for i := range r.stacks {
		st := &r.stacks[i]
		if !st.large() {
			out = append(out, r.instance(&st.rows[0].instance))
			continue
		}
		out = append(out, Instance{Shape: sumcheck.Product(r.high, 2), Tables: []Table{Ext(r.table(st.words, r.high)), Ext(r.table(st.weight, r.high))}})
	}
	return out
}

func (r *stacksRun) launch(name string, grid device.Dim, args ...device.Arg) error {
	return r.q.Launch(device.Kernel{Source: stacksSource, Name: "sumcheck_stack_" + name}, grid, device.D1(linearThreads), 0, args...)
}

func (r *stacksRun) onDevice() error {
	l := &r.layout
	stacks, err := device.Alloc[uint64](r.q, len(r.words))
	if err != nil {
		return fmt.Errorf("sumcheck: stacks: %w", err)
	}
	defer stacks.Free()
	addresses := make([]uint64, len(r.words))
	for i, w := range r.words {
		addresses[i] = w.Address()
	}
	if err := stacks.CopyFrom(r.q, addresses); err != nil {
		return fmt.Errorf("sumcheck: stacks: %w", err)
	}
	if l.rowTileCount > 0 {
		if err := r.launch("rows", device.D1(l.rowTileCount), r.tables.Arg(), r.factors.Arg(), r.desc.Arg(), stacks.Arg(), device.U32(l.rowTiles), device.U32(l.claims)); err != nil {
			return fmt.Errorf("sumcheck: rows: %w", err)
		}
	}
	rest := alone(len(r.stacks))
	if r.first > 0 {
		if err := r.firstRounds(stacks); err != nil {
			return err
		}
		rest.gamma, rest.goesOn = r.tables.Slice(r.gamma, r.gamma+1), true
	}
	b, err := newOnDevice(r.q, r.tr, r.rest(), r.n-r.first, 2, r.tail(), r.lim, rest)
	if err != nil {
		return fmt.Errorf("sumcheck: set up: %w", err)
	}
	return rounds(b, r.values, r.n-r.first)
}

// firstRounds does the rounds on rows and binds the rows.
func (r *stacksRun) firstRounds(stacks device.Buffer[uint64]) error {
	l := &r.layout
	if l.pieceCount > 0 {
		if err := r.launch("fold", device.D1(l.pieceCount), r.tables.Arg(), r.factors.Arg(), r.desc.Arg(), stacks.Arg(), device.U32(l.pieces)); err != nil {
			return fmt.Errorf("sumcheck: fold the rows: %w", err)
		}
		grid := device.D2(device.Blocks(1<<l.longest, linearThreads), min(l.groupCount, 1<<15))
		if err := r.launch("sums", grid, r.tables.Arg(), r.desc.Arg(), device.U32(l.groups), device.U32(l.groupCount)); err != nil {
			return fmt.Errorf("sumcheck: fold the rows: %w", err)
		}
	}
	c := &course{count: len(r.stacks), gamma: r.tables.Slice(r.gamma, r.gamma+1), silent: true}
	var instances []Instance
	for g := range r.instances {
		instances, c.claims = append(instances, r.instance(&r.instances[g])), append(c.claims, r.instances[g].stack)
	}
	for i := range r.stacks {
		if st := &r.stacks[i]; !st.large() {
			c.after, c.twos = append(c.after, i), append(c.twos, r.high-st.Vars)
		}
	}
	head := r.head()
	b, err := newOnDevice(r.q, r.tr, instances, r.first, 2, head, r.lim, c)
	if err != nil {
		return fmt.Errorf("sumcheck: set up: %w", err)
	}
	if err := rounds(b, r.values, r.first); err != nil {
		return err
	}
	if err := r.launch("bind", device.D1(l.bindCount+l.boundCount*l.tiles), r.tables.Arg(), r.factors.Arg(), r.desc.Arg(), stacks.Arg(),
		head.Point.Arg(), head.Evals.Arg(), device.U32(l.bindPieces), device.U32(l.bindCount), device.U32(l.bound), device.U32(l.tiles)); err != nil {
		return fmt.Errorf("sumcheck: bind the rows: %w", err)
	}
	return nil
}
