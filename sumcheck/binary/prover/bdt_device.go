package prover

import (
	"context"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// bdtGroup is log2 of a group of bdt.cuh: so few variables are left to the last kernel.
const bdtGroup = 10

// bdtPlan is one of the paper's algorithms: BDT-2 in the rounds before expand, BDT-1 with
// batches rebuilt from bits in those before rebuild, BDT-1 over stored tables in the rest.
type bdtPlan struct {
	expand, rebuild int
	// each has every batch's sum added to those in memory at once, as the paper's baseline;
	// else a block adds its batches' up first.
	each bool
}

// getBatchUntil is the round in which tables take over from rebuilt batches, one after
// BDT-2's last: what the d points of a round cost to rebuild doubles with every round, and
// on an H100 a second one costs what its folds would or more (bench/NOTES.md; for d = 5 it
// was not measured).
func getBatchUntil(d int) int { return [...]int{2: 4, 3: 3, 4: 3, 5: 2}[d] }

func newBDTPlan(a Algorithm, d int) bdtPlan {
	switch a {
	case BDT2:
		return bdtPlan{expand: switchover(d), each: true}
	case SumCATS1:
		return bdtPlan{expand: switchover(d)}
	case SumCATS2:
		return bdtPlan{expand: switchover(d), rebuild: getBatchUntil(d)}
	}
	return bdtPlan{each: true}
}

// bdt is a run of one of the paper's algorithms on a GPU: a chain of launches. Tables are
// copied to slices, 2^n elements each, and folded in place.
type bdt struct {
	ctx  context.Context
	q    *device.Queue
	in   Instance
	plan bdtPlan

	state      device.Buffer[uint32]
	challenges device.Buffer[gf2.Element]
	matrix     device.Buffer[uint32]      // see end_round
	sums       device.Buffer[uint32]      // of compose
	terms      device.Buffer[gf2.Element] // of BDT-2
	masks      device.Buffer[uint32]
	z          device.Buffer[gf2.Element]
	lead       device.Buffer[gf2.Element]   // p_1 in its natural layout
	columns    []device.Buffer[uint32]      // bits in the order of batches
	tables     []device.Buffer[uint32]      // in slices, p_1 first
	last       []device.Buffer[gf2.Element] // what the last kernel gets
	memory     []interface{ Free() }
}

func proveSeedDevice(ctx context.Context, q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element, a Algorithm) (*binary.Proof, error) {
	return proveBDT(ctx, q, tr, in, value, newBDTPlan(a, in.Degree))
}

func proveBDT(ctx context.Context, q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element, plan bdtPlan) (*binary.Proof, error) {
	if in.Kind == binary.AllExt {
		plan.expand, plan.rebuild = 0, 0
	}
	passes := max(0, in.Vars-bdtGroup) // rounds before the last kernel
	plan.expand = min(plan.expand, passes)
	plan.rebuild = min(max(plan.rebuild, plan.expand), passes)
	b := &bdt{ctx: ctx, q: q, in: in, plan: plan}
	defer b.free()
	if err := q.Device().CheckMemory(b.bytes(passes)); err != nil {
		return nil, err
	}
	if err := b.start(tr, value); err != nil {
		return nil, err
	}
	run := b.run
	if passes == 0 {
		run = b.few
	}
	if err := run(passes); err != nil {
		return nil, err
	}
	// To the last kernel all tables are of elements.
	rest := binary.Shape{Vars: in.Vars, Degree: in.Degree, Kind: binary.AllExt}
	tail, err := newTail(q, tailStart{Shape: rest, Done: passes, State: b.state, Ext: b.last})
	if err != nil {
		return nil, err
	}
	defer tail.free()
	if err := tail.launch(ctx); err != nil {
		return nil, err
	}
	proof, err := readState(q, b.state, rest)
	if err == nil && in.Kind == binary.EqBits {
		proof.Evals = proof.Evals[1:]
	}
	return proof, err
}

// bytes is what the run's large buffers take.
func (b *bdt) bytes(passes int) int64 {
	table := int64(16) << b.in.Vars
	if passes == 0 {
		return int64(b.in.Degree) * table
	}
	all := table * int64(max(1, len(b.in.Ext)))
	if b.in.Kind == binary.EqBits && b.plan.expand > 0 {
		all += table
	}
	// Bits in the order of batches, and their tables.
	return all + int64(b.in.Shape.Bits())*(table>>7+table>>b.plan.rebuild)
}

func bdtAlloc[T any](b *bdt, n int) (device.Buffer[T], error) {
	buf, err := device.Alloc[T](b.q, n)
	b.memory = append(b.memory, buf)
	return buf, err
}

func bdtUpload[T any](b *bdt, v []T) (device.Buffer[T], error) {
	buf, err := device.Upload(b.q, v)
	b.memory = append(b.memory, buf)
	return buf, err
}

func (b *bdt) free() {
	for _, m := range b.memory {
		m.Free()
	}
}

func (b *bdt) launch(s *kernel.Source, name string, grid device.Dim, threads, shared int, args ...device.Arg) error {
	if err := stopped(b.ctx, b.q); err != nil {
		return err
	}
	return b.q.Launch(device.Kernel{Source: s, Name: name}, grid, device.D1(threads), shared, args...)
}

// resident is how many blocks of the large kernels a launch has for each of so many
// instances of it: as many as run at a time, two a multiprocessor, and no more than there
// is work.
func (b *bdt) resident(instances, work int) int {
	return max(1, min(work, 2*b.q.Device().Info().Units/instances))
}

// start makes the small buffers.
func (b *bdt) start(tr *tower.Transcript, value gf2.Element) (err error) {
	d := b.in.Degree
	if b.state, err = newState(b.q, tr, d, value); err != nil {
		return err
	}
	b.memory = append(b.memory, b.state)
	rows := make([]uint32, d+1)
	for k, row := range binary.Coefficients(d) {
		for j, c := range row {
			rows[k] |= uint32(c.Lo) << (4 * j)
		}
	}
	if b.matrix, err = bdtUpload(b, rows); err != nil {
		return err
	}
	if b.challenges, err = bdtAlloc[gf2.Element](b, b.in.Vars); err != nil {
		return err
	}
	if b.sums, err = bdtUpload(b, make([]uint32, 9*d)); err != nil {
		return err
	}
	if b.terms, err = bdtUpload(b, make([]gf2.Element, 1<<(d*b.plan.expand))); err != nil {
		return err
	}
	if b.masks, err = bdtAlloc[uint32](b, d*128<<b.plan.rebuild); err != nil {
		return err
	}
	if b.in.Kind == binary.EqBits {
		b.z, err = bdtUpload(b, b.in.Z)
	}
	return err
}

// few leaves everything to the last kernel.
func (b *bdt) few(int) error {
	b.last = b.in.Ext
	n := 1 << b.in.Vars
	if b.in.Kind == binary.EqBits {
		eq, err := b.eqBase(b.in.Vars)
		if err != nil {
			return err
		}
		b.last = []device.Buffer[gf2.Element]{eq}
	}
	for _, c := range b.in.Bits {
		wide, err := bdtAlloc[gf2.Element](b, n)
		if err != nil {
			return err
		}
		if err := b.launch(bdtTermsSource, "binary_widen", device.D1(device.Blocks(n, 256)), 256, 0, wide.Arg(), c.Arg(), device.U32(n)); err != nil {
			return err
		}
		b.last = append(b.last[:len(b.last):len(b.last)], wide)
	}
	return nil
}

// eqBase is eq(z, .) in the last vars variables.
func (b *bdt) eqBase(vars int) (device.Buffer[gf2.Element], error) {
	out, err := bdtAlloc[gf2.Element](b, 1<<vars)
	if err != nil {
		return out, err
	}
	z := b.z.Slice(b.z.Len()-vars, b.z.Len())
	return out, b.launch(bdtRoundSource, "binary_eq_base", device.D1(device.Blocks(1<<vars, 256)), 256, 0,
		b.state.Arg(), out.Arg(), z.Arg(), device.U32(vars))
}

// run does all passes.
func (b *bdt) run(passes int) error {
	if err := b.order(); err != nil {
		return err
	}
	lead, err := b.leading()
	if err != nil {
		return err
	}
	b.tables = lead
	for i := range b.plan.expand {
		if err := b.expandRound(i); err != nil {
			return err
		}
	}
	// What BDT-2 did not touch is folded now.
	for i := range b.plan.expand {
		if err := b.fold(i); err != nil {
			return err
		}
	}
	for i := b.plan.expand; i < passes; i++ {
		if i == b.plan.rebuild {
			if err := b.store(i); err != nil {
				return err
			}
		}
		if err := b.composeRound(i); err != nil {
			return err
		}
		if err := b.fold(i); err != nil {
			return err
		}
	}
	if b.plan.rebuild == passes {
		if err := b.store(passes); err != nil {
			return err
		}
	}
	for _, t := range b.tables {
		natural, err := bdtAlloc[gf2.Element](b, 1<<bdtGroup)
		if err != nil {
			return err
		}
		if err := b.unslice(natural, t); err != nil {
			return err
		}
		b.last = append(b.last, natural)
	}
	return nil
}

// order brings the columns of bits to the order of batches.
func (b *bdt) order() error {
	for _, c := range b.in.Bits {
		out, err := bdtAlloc[uint32](b, c.Len())
		if err != nil {
			return err
		}
		groups := c.Len() / 32
		if err := b.launch(bdtSource, "binary_transpose_bits", device.D1(device.Blocks(groups, 8)), 256, 0, out.Arg(), c.Arg(), device.U32(groups)); err != nil {
			return err
		}
		b.columns = append(b.columns, out)
	}
	return nil
}

// leading is the tables of elements in slices; b.lead is p_1 in its natural layout where
// BDT-2 needs it.
func (b *bdt) leading() ([]device.Buffer[uint32], error) {
	if b.in.Kind == binary.EqBits {
		return b.eqTable()
	}
	var out []device.Buffer[uint32]
	for _, t := range b.in.Ext {
		s, err := b.slice(t, 4*t.Len())
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	b.lead = b.in.Ext[0]
	return out, nil
}

// eqTable is eq(z, .), stored: the paper's algorithms know no other p_1 than a table.
func (b *bdt) eqTable() ([]device.Buffer[uint32], error) {
	base, err := b.eqBase(bdtGroup)
	if err != nil {
		return nil, err
	}
	t, err := b.slice(base, 4<<b.in.Vars)
	if err != nil {
		return nil, err
	}
	for i := b.in.Vars - bdtGroup - 1; i >= 0; i-- {
		if err := b.scale([]device.Buffer[uint32]{t}, b.z.Slice(i, i+1), 1<<(b.in.Vars-bdtGroup-1-i), 1); err != nil {
			return nil, err
		}
	}
	if b.plan.expand > 0 {
		if b.lead, err = bdtAlloc[gf2.Element](b, 1<<b.in.Vars); err != nil {
			return nil, err
		}
		if err := b.unslice(b.lead, t); err != nil {
			return nil, err
		}
	}
	return []device.Buffer[uint32]{t}, nil
}

// slice is a table in slices, at the beginning of so many words.
func (b *bdt) slice(t device.Buffer[gf2.Element], words int) (device.Buffer[uint32], error) {
	out, err := bdtAlloc[uint32](b, words)
	if err != nil {
		return out, err
	}
	groups := t.Len() >> bdtGroup
	return out, b.launch(bdtSource, "binary_slice", device.D1(min(groups, 1<<16)), 128, 0, out.Arg(), t.Arg(), device.U32(groups))
}

func (b *bdt) unslice(out device.Buffer[gf2.Element], t device.Buffer[uint32]) error {
	groups := out.Len() >> bdtGroup
	return b.launch(bdtSource, "binary_unslice", device.D1(min(groups, 1<<16)), 128, 0, out.Arg(), t.Arg(), device.U32(groups))
}

// pointers are the addresses of up to `most` tables.
func pointers(list []device.Buffer[uint32], most int) []device.Arg {
	out := make([]device.Arg, most)
	for i := range out {
		out[i] = device.Null()
		if i < len(list) {
			out[i] = list[i].Arg()
		}
	}
	return out
}

// scale launches scale, see there.
func (b *bdt) scale(list []device.Buffer[uint32], factor device.Buffer[gf2.Element], half, grow int) error {
	args := append(pointers(list, binary.MaxDegree), factor.Arg(), device.U32(half), device.U32(grow))
	return b.launch(bdtSource, "binary_scale", device.D2(b.resident(len(list), half), len(list)), bdtThreads, bdtShared, args...)
}

// fold binds the tables' variable number i.
func (b *bdt) fold(i int) error {
	return b.scale(b.tables, b.challenges.Slice(i, i+1), b.half(i), 0)
}

// half is the number of groups of half a table before round i's challenge.
func (b *bdt) half(i int) int { return 1 << (b.in.Vars - bdtGroup - 1 - i) }

// expandRound is round i by BDT-2.
func (b *bdt) expandRound(i int) error {
	v, d := i+1, b.in.Degree
	terms := 1 << ((d - 1) * v)
	name, width := termsKernel(terms)
	y := device.Blocks(terms, width) << v
	groups := b.half(i)
	args := append([]device.Arg{b.terms.Arg(), b.lead.Arg()}, pointers(b.columns, binary.MaxDegree-1)...)
	args = append(args, device.U32(d), device.U32(v), device.U32(groups))
	if err := b.launch(bdtTermsSource, name, device.D2(b.resident(y, device.Blocks(groups, 8)), y), 256, 0, args...); err != nil {
		return err
	}
	return b.launch(bdtRoundSource, "binary_terms_round", device.D1(1), 256, 0,
		b.state.Arg(), b.terms.Arg(), b.challenges.Arg(), b.matrix.Arg(), device.U32(i), device.U32(d))
}

// composeRound is round i by BDT-1.
func (b *bdt) composeRound(i int) error {
	d, half, count := b.in.Degree, b.half(i), 0
	list := b.tables
	if len(list) < d {
		list = append(list[:1:1], b.columns...)
		count = 2 << i
		if err := b.launch(bdtRoundSource, "binary_masks", device.D1(d), 256, 0, b.state.Arg(), b.masks.Arg(), device.U32(i), device.U32(1)); err != nil {
			return err
		}
	}
	each := 0
	if b.plan.each {
		each = 1
	}
	args := append([]device.Arg{b.sums.Arg()}, pointers(list, binary.MaxDegree)...)
	args = append(args, b.masks.Arg(), device.U32(d), device.U32(half), device.U32(count), device.U32(each))
	if err := b.launch(bdtSource, "binary_compose", device.D2(b.resident(d, half), d), bdtThreads, bdtShared, args...); err != nil {
		return err
	}
	return b.launch(bdtRoundSource, "binary_compose_round", device.D1(1), 32, 0,
		b.state.Arg(), b.sums.Arg(), b.challenges.Arg(), b.matrix.Arg(), device.U32(i), device.U32(d))
}

// store makes tables of the columns, with i variables bound.
func (b *bdt) store(i int) error {
	if len(b.columns) == 0 {
		return nil
	}
	if err := b.launch(bdtRoundSource, "binary_masks", device.D1(1), 256, 0, b.state.Arg(), b.masks.Arg(), device.U32(i), device.U32(0)); err != nil {
		return err
	}
	groups := 1 << (b.in.Vars - bdtGroup - i)
	for _, c := range b.columns {
		t, err := bdtAlloc[uint32](b, 4096*groups)
		if err != nil {
			return fmt.Errorf("tables of %d columns after %d rounds: %w", len(b.columns), i, err)
		}
		if err := b.launch(bdtSource, "binary_get_batches", device.D1(min(groups, 1<<16)), 256, 0,
			t.Arg(), c.Arg(), b.masks.Arg(), device.U32(1<<i), device.U32(groups)); err != nil {
			return err
		}
		b.tables = append(b.tables, t)
	}
	return nil
}
