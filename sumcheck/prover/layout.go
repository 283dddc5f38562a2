package prover

import (
	"cmp"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle/prover"
)

// tableDesc and instanceDesc are the structures of sumcheck.cu, in 64-bit words.
type tableDesc struct{ Source, Folded, Kind, Stride, Vars, Out uint64 }

type instanceDesc struct{ Point, Coeffs, Rest, Vars, Degree, Terms, Term, Table, Claim uint64 }

const (
	stateElements = 7 // of the kernels' State
	tableWords    = 6
	instanceWords = 9
)

// Kinds of tables.
const (
	kindBase = iota
	kindExt
	kindEq
)

// layout is how a batch lies on a device: descriptors of its instances, most
// variables first, and the memory for their tables once they are folded. In
// every round the instances that have joined are a prefix.
type layout struct {
	n, d, count int
	vars        []int // of each instance, sorted
	factors     []int // of each instance, with eq
	ofTable     []int // variables of each table's instance, sorted

	instances device.Buffer[instanceDesc]
	tables    device.Buffer[tableDesc]
	terms     device.Buffer[uint64]

	work, descs device.Buffer[uint64]
}

// Free gives the memory back.
func (l *layout) Free() {
	l.work.Free()
	l.descs.Free()
}

func newLayout(q *device.Queue, instances []Instance, n, d int) (*layout, error) {
	l := &layout{n: n, d: d, count: len(instances)}
	order := make([]int, len(instances))
	firstEval := make([]int, len(instances)+1)
	total := 0 // elements of folded tables
	for j, in := range instances {
		order[j] = j
		firstEval[j+1] = firstEval[j] + in.Factors
		if in.Vars > 0 {
			total += tablesOf(in) << (in.Vars - 1)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(instances[j].Vars, instances[i].Vars) })
	work, err := device.Alloc[m31.QM31](q, total)
	if err != nil {
		return l, err
	}
	l.work = device.View[uint64](work)
	take := func(vars int) (buf device.Buffer[m31.QM31]) {
		if vars > 0 {
			size := 1 << (vars - 1)
			buf, work = work.Slice(0, size), work.Slice(size, work.Len())
		}
		return buf
	}

	var tables []tableDesc
	var descs []instanceDesc
	var terms []uint64
	for _, j := range order {
		in := instances[j]
		l.vars, l.factors = append(l.vars, in.Vars), append(l.factors, tablesOf(in))
		desc := instanceDesc{
			Point: in.Point.Address(), Coeffs: in.Coeffs.Address(), Vars: uint64(in.Vars), Degree: uint64(in.InnerDegree()),
			Terms: uint64(in.NumTerms()), Term: uint64(len(terms)), Table: uint64(len(tables)), Claim: uint64(j),
		}
		for i := range in.NumTerms() {
			terms = append(terms, packTerm(in.Term(i)))
		}
		for k, t := range in.Tables {
			td := tableDesc{Source: t.Ext.Address(), Folded: take(in.Vars).Address(), Kind: kindExt,
				Stride: uint64(t.stride()), Vars: uint64(in.Vars), Out: uint64(firstEval[j] + k)}
			if t.Base.Len() > 0 {
				td.Source, td.Kind = t.Base.Address(), kindBase
			}
			tables = append(tables, td)
		}
		if in.Eq && in.Vars > 0 {
			rest := take(in.Vars)
			if err := prover.Eq(q, rest, in.Point.Slice(1, in.Vars), device.Buffer[m31.QM31]{}); err != nil {
				return l, err
			}
			desc.Rest = rest.Address()
			tables = append(tables, tableDesc{Folded: rest.Address(), Kind: kindEq, Vars: uint64(in.Vars)})
		}
		descs = append(descs, desc)
	}
	for _, t := range tables {
		l.ofTable = append(l.ofTable, int(t.Vars))
	}

	// One upload for all descriptors.
	var words []uint64
	for _, s := range descs {
		words = append(words, s.Point, s.Coeffs, s.Rest, s.Vars, s.Degree, s.Terms, s.Term, s.Table, s.Claim)
	}
	for _, t := range tables {
		words = append(words, t.Source, t.Folded, t.Kind, t.Stride, t.Vars, t.Out)
	}
	a, b := len(descs)*instanceWords, len(descs)*instanceWords+len(tables)*tableWords
	if l.descs, err = device.Upload(q, append(words, terms...)); err != nil {
		return l, err
	}
	l.instances, l.tables = device.View[instanceDesc](l.descs.Slice(0, a)), device.View[tableDesc](l.descs.Slice(a, b))
	l.terms = l.descs.Slice(b, l.descs.Len())
	return l, nil
}

// tablesOf counts the tables of an instance, eq's included.
func tablesOf(in Instance) int {
	if in.Eq {
		return in.Factors + 1
	}
	return in.Factors
}

// packTerm is a term as kernels read it: its length and factors, a byte each.
func packTerm(factors []int) uint64 {
	packed := uint64(len(factors))
	for f, k := range factors {
		packed |= uint64(k) << (8 + 8*f)
	}
	return packed
}

// joined counts how many of the sorted variable counts take part in round i.
func joined(sorted []int, n, i int) int {
	a := 0
	for a < len(sorted) && sorted[a]+i >= n {
		a++
	}
	return a
}

// active is the number of instances that take part in round i.
func (l *layout) active(i int) int { return joined(l.vars, l.n, i) }

// folding is the number of tables that take part in round i.
func (l *layout) folding(i int) int { return joined(l.ofTable, l.n, i) }

// entries bounds, for round i and all later ones, the entries of the tables'
// halves in one round.
func (l *layout) entries(i int) int {
	total := 0
	for a, vars := range l.vars {
		if rest := min(vars, l.n-i); rest > 0 {
			total += l.factors[a] << (rest - 1)
		}
	}
	return total
}
