package prover

import (
	"cmp"
	_ "embed"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle/prover"
)

//go:embed sumcheck.cu
var text string

// Source is the package's kernels.
var Source = &kernel.Source{Name: "sumcheck/prover/sumcheck.cu", Text: text, Headers: []*kernel.Source{kernel.PTX, m31.Header}}

const (
	threads = 256
	// maxBlocks is about how many blocks a launch for all instances has; each
	// leaves partial sums that one block adds up.
	maxBlocks = 2048
)

// tableDesc and instanceDesc are the structures of sumcheck.cu.
type tableDesc struct{ Source, Folded, Kind, Stride, Vars, Out uint64 }

type instanceDesc struct{ Point, Coeffs, Rest, Vars, Degree, Terms, Term, Table, Claim uint64 }

// stateElements is the size of the kernels' State.
const stateElements = 7

const (
	kindBase = iota
	kindExt
	kindEq
)

// onDevice is a batch whose data and state are on a GPU (or the emulator).
type onDevice struct {
	q       *device.Queue
	n, d    int
	sorted  []Instance // most variables first
	owned   []interface{ Free() }
	state   device.Buffer[m31.QM31]
	sums    device.Buffer[m31.QM31]
	inst    device.Buffer[instanceDesc]
	tables  device.Buffer[tableDesc]
	terms   device.Buffer[uint32]
	point   device.Buffer[m31.QM31] // the batch's challenges
	ofTable []int                   // variables of each table's instance, largest first
}

func keep[T any](b *onDevice, buf device.Buffer[T], err error) (device.Buffer[T], error) {
	b.owned = append(b.owned, buf)
	return buf, err
}

func (b *onDevice) free() {
	for _, buf := range b.owned {
		buf.Free()
	}
}

func newOnDevice(q *device.Queue, instances []Instance, n, d int, point device.Buffer[m31.QM31]) (_ *onDevice, err error) {
	b := &onDevice{q: q, n: n, d: d, point: point}
	defer func() {
		if err != nil {
			b.free()
		}
	}()
	order := make([]int, len(instances))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(instances[j].Vars, instances[i].Vars) })
	firstEval := make([]int, len(instances)+1)
	total := 0 // elements of working tables
	for j, in := range instances {
		firstEval[j+1] = firstEval[j] + in.Factors
		count := in.Factors
		if in.Eq {
			count++
		}
		if in.Vars > 0 {
			total += count << (in.Vars - 1)
		}
	}
	work, err := device.Alloc[m31.QM31](q, total)
	if work, err = keep(b, work, err); err != nil {
		return nil, err
	}
	take := func(vars int) (buf device.Buffer[m31.QM31]) {
		if vars > 0 {
			size := 1 << (vars - 1)
			buf, work = work.Slice(0, size), work.Slice(size, work.Len())
		}
		return buf
	}

	var tables []tableDesc
	var descs []instanceDesc
	var terms []uint32
	for _, j := range order {
		in := instances[j]
		b.sorted = append(b.sorted, in)
		desc := instanceDesc{
			Point: in.Point.Address(), Coeffs: in.Coeffs.Address(), Vars: uint64(in.Vars), Degree: uint64(in.InnerDegree()),
			Terms: uint64(in.NumTerms()), Term: uint64(len(terms)), Table: uint64(len(tables)), Claim: uint64(j),
		}
		for i := range in.NumTerms() {
			term := in.Term(i)
			packed := uint32(len(term))
			for f, k := range term {
				packed |= uint32(k) << (8 + 8*f)
			}
			terms = append(terms, packed)
		}
		for k, t := range in.Tables {
			td := tableDesc{Source: t.Ext.Address(), Folded: take(in.Vars).Address(), Kind: kindExt,
				Stride: uint64(t.stride()), Vars: uint64(in.Vars), Out: uint64(firstEval[j] + k)}
			if t.Base.Len() > 0 {
				td.Source, td.Kind = t.Base.Address(), kindBase
			}
			tables = append(tables, td)
			b.ofTable = append(b.ofTable, in.Vars)
		}
		if in.Eq && in.Vars > 0 {
			rest := take(in.Vars)
			if err := prover.Eq(q, rest, in.Point.Slice(1, in.Vars), device.Buffer[m31.QM31]{}); err != nil {
				return nil, err
			}
			desc.Rest = rest.Address()
			tables = append(tables, tableDesc{Folded: rest.Address(), Kind: kindEq, Vars: uint64(in.Vars)})
			b.ofTable = append(b.ofTable, in.Vars)
		}
		descs = append(descs, desc)
	}

	buf, err := device.Upload(q, descs)
	if b.inst, err = keep(b, buf, err); err != nil {
		return nil, err
	}
	tbuf, err := device.Upload(q, tables)
	if b.tables, err = keep(b, tbuf, err); err != nil {
		return nil, err
	}
	ebuf, err := device.Upload(q, terms)
	if b.terms, err = keep(b, ebuf, err); err != nil {
		return nil, err
	}
	most := 0
	for i := range n {
		active := b.active(i)
		most = max(most, active*b.blocks(i, active))
	}
	sbuf, err := device.Alloc[m31.QM31](q, 3*most)
	if b.sums, err = keep(b, sbuf, err); err != nil {
		return nil, err
	}
	state, err := device.Alloc[m31.QM31](q, stateElements*len(instances))
	b.state, err = keep(b, state, err)
	return b, err
}

// active is the number of instances that take part in round i.
func (b *onDevice) active(i int) int {
	return joinedIn(b.n, i, len(b.sorted), func(a int) int { return b.sorted[a].Vars })
}

// joinedIn counts the first of count items, sorted by vars, that have joined.
func joinedIn(n, i, count int, vars func(int) int) int {
	a := 0
	for a < count && vars(a) > n-1-i {
		a++
	}
	return a
}

// blocks is the number of blocks for each of count items in round i, whose
// largest tables have halves of 2^(n-1-i) entries.
func (b *onDevice) blocks(i, count int) int {
	return max(1, min(device.Blocks(1<<(b.n-1-i), threads), maxBlocks/count))
}

func (b *onDevice) launch(name string, grid device.Dim, args ...device.Arg) error {
	return b.q.Launch(device.Kernel{Source: Source, Name: name}, grid, device.D1(threads), 0, args...)
}

func (b *onDevice) start(values, gamma device.Buffer[m31.QM31]) error {
	return b.launch("sumcheck_start", device.D1(device.Blocks(len(b.sorted), threads)),
		b.state.Arg(), values.Arg(), gamma.Arg(), device.U32(len(b.sorted)))
}

func (b *onDevice) message(i int, out device.Buffer[m31.QM31]) error {
	active := b.active(i)
	blocks := b.blocks(i, active)
	err := b.launch("sumcheck_sums", device.D2(blocks, active),
		b.sums.Arg(), b.inst.Arg(), b.tables.Arg(), b.terms.Arg(), device.U32(i), device.U32(b.n))
	if err != nil {
		return err
	}
	return b.launch("sumcheck_message", device.D1(1),
		out.Arg(), b.state.Arg(), b.sums.Arg(), b.inst.Arg(), b.point.Arg(),
		device.U32(len(b.sorted)), device.U32(blocks), device.U32(i), device.U32(b.n), device.U32(b.d))
}

func (b *onDevice) fold(i int, r device.Buffer[m31.QM31]) error {
	count := joinedIn(b.n, i, len(b.ofTable), func(a int) int { return b.ofTable[a] })
	return b.launch("sumcheck_fold", device.D2(b.blocks(i, count), count), b.tables.Arg(), r.Arg(), device.U32(i), device.U32(b.n))
}

func (b *onDevice) evals(out device.Buffer[m31.QM31]) error {
	return b.launch("sumcheck_evals", device.D1(device.Blocks(b.tables.Len(), threads)), out.Arg(), b.tables.Arg(), device.U32(b.tables.Len()))
}
