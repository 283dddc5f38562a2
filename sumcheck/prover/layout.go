package prover

import (
	"slices"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
)

// tableDesc, instanceDesc and batchDesc are structures of batch.cuh.
type tableDesc struct{ Source, Folded, Kind, Stride, Vars, Out, Tail uint64 }

type instanceDesc struct {
	Point, Coeffs, Low, High, Lows, Vars, Factors, Degree, Kind, Terms, Term, Table, Claim, Part uint64
}

type batchDesc struct {
	Instances, Tables, Terms     uint64
	Weights, Late, Sums, Counter uint64
	Rounds, Evals, Point         uint64
	Count, TableCount, EvalCount uint64
	N, D, Eqs, Joins, Claims     uint64
	Gamma, GoesOn, After, Afters uint64
}

// Words of the state besides the weights, in 64-bit words.
const (
	lateWords = 2 * (40 + 1)
	sumWords  = 4 * maxPoints * 9 * maxWindow
)

// layout is how a batch lies on a device.
type layout struct {
	*plan
	batch        device.Buffer[uint64]   // the batchDesc
	groups       []device.Buffer[uint64] // of all launches, in order
	memoryOfTail device.Buffer[m31.QM31] // if not shared
	shared       int                     // bytes of shared memory of the tail
	eqs          int

	memory []device.Buffer[uint64]
}

// Free gives the memory back.
func (l *layout) Free() {
	for _, b := range l.memory {
		b.Free()
	}
}

// alloc is memory that lives as long as the layout, aligned to 16 bytes.
func (l *layout) alloc(q *device.Queue, words int) (device.Buffer[uint64], error) {
	b, err := device.Alloc[uint64](q, words)
	l.memory = append(l.memory, b)
	return b, err
}

// folded is the number of entries of an instance's tables when they are bound
// for the first time by a pass; 0 if the tail does that.
func (p *plan) folded(vars int) int {
	for i, s := range p.passes {
		if w := joins(vars, p.n, s.round, s.window); w > 0 {
			if i+1 < len(p.passes) {
				return 1 << (vars - w)
			}
			break
		}
	}
	return 0
}

// course says what a batch's rounds have to do with rounds before and after them.
type course struct {
	claims []int // the instances' claims; of instances with one claim all but the first add to it
	count  int   // of all claims
	gamma  device.Buffer[m31.QM31]
	goesOn bool // gamma has been drawn
	silent bool // the evaluations are not absorbed
	// Claims of instances that join after the batch, and how often each is doubled
	// in the last round here.
	after, twos []int
}

// alone is the course of a batch that is all there is.
func alone(instances int) *course {
	c := &course{count: instances, claims: make([]int, instances)}
	for j := range c.claims {
		c.claims[j] = j
	}
	return c
}

func newLayout(q *device.Queue, instances []Instance, n, d int, out Output, lim limits, c *course) (*layout, error) {
	l := &layout{plan: planBatch(instances, n, d, lim)}
	// Elements of everything that kernels write.
	work, tail := 0, 0
	joins := len(c.after) // instances that join later
	for _, in := range instances {
		if in.Vars < n {
			joins++
		}
		work += in.Factors * l.folded(in.Vars)
		if l.tail < n {
			tail += in.Factors << min(in.Vars, n-l.tail)
		}
		if in.Eq && in.Vars > 0 {
			l.eqs++
			low, high := eqSizes(in.Vars)
			work += low + high
		}
	}
	if limit := q.Device().Info().SharedPerBlock - staticShared; 16*tail <= limit {
		l.shared, tail = 16*tail, 0
	}
	written := 2*work + 2*tail + 2*len(instances) + lateWords + sumWords + 2
	all, err := l.alloc(q, written+l.descWords(instances)+len(c.after))
	if err != nil {
		return l, err
	}
	free := device.View[m31.QM31](all.Slice(0, written))
	take := func(n int) (b device.Buffer[m31.QM31]) {
		b, free = free.Slice(0, n), free.Slice(n, free.Len())
		return b
	}
	l.memoryOfTail = take(tail)
	desc := batchDesc{
		Weights: take(len(instances)).Address(), Late: take(lateWords / 2).Address(), Sums: take(sumWords / 2).Address(), Counter: take(1).Address(),
		Rounds: out.Rounds.Address(), Evals: out.Evals.Address(), Point: out.Point.Address(),
		Count: uint64(len(instances)), EvalCount: uint64(out.Evals.Len()), N: uint64(n), D: uint64(d), Eqs: uint64(l.eqs), Joins: uint64(joins),
		Claims: uint64(c.count), Gamma: c.gamma.Address(), Afters: uint64(len(c.after)),
	}
	if c.goesOn {
		desc.GoesOn = 1
	}
	if c.silent {
		desc.EvalCount = 0
	}

	firstEval := make([]int, len(instances)+1)
	for j, in := range instances {
		firstEval[j+1] = firstEval[j] + in.Factors
	}
	var tables []tableDesc
	var descs []instanceDesc
	var terms []uint64
	atTail := 0
	for _, j := range l.order {
		in := instances[j]
		e := instanceDesc{
			Point: in.Point.Address(), Coeffs: in.Coeffs.Address(), Vars: uint64(in.Vars), Factors: uint64(in.Factors),
			Degree: uint64(in.InnerDegree()), Kind: kernels(in).kind, Terms: uint64(in.NumTerms()), Term: uint64(len(terms)),
			Table: uint64(len(tables)), Claim: uint64(c.claims[j]),
		}
		if slices.Index(c.claims, c.claims[j]) < j {
			e.Part = 1
		}
		if in.Eq && in.Vars > 0 {
			low, high := eqSizes(in.Vars)
			e.Low, e.High, e.Lows = take(low).Address(), take(high).Address(), uint64(min(eqLow, in.Vars-1))
		}
		if e.Kind == 0 {
			for i := range in.NumTerms() {
				terms = append(terms, packTerm(in.Term(i)))
			}
		}
		for k, t := range in.Tables {
			td := tableDesc{Source: t.Ext.Address(), Folded: take(l.folded(in.Vars)).Address(), Kind: 1,
				Stride: uint64(t.stride()), Vars: uint64(in.Vars), Out: uint64(firstEval[j] + k), Tail: uint64(atTail)}
			if t.Base.Len() > 0 {
				td.Source, td.Kind = t.Base.Address(), 0
			}
			if l.tail < n {
				atTail += 1 << min(in.Vars, n-l.tail)
			}
			tables = append(tables, td)
		}
		descs = append(descs, e)
	}
	desc.TableCount = uint64(len(tables))
	for i, claim := range c.after {
		terms = append(terms, uint64(claim)|uint64(c.twos[i])<<32)
	}
	return l, l.upload(q, all.Slice(written, all.Len()), desc, descs, tables, terms)
}

// eqSizes are the entries of the two eq tables of an instance.
func eqSizes(vars int) (low, high int) {
	lows := min(eqLow, vars-1)
	if low = 2 << lows; vars-1 > lows {
		high = 2 << (vars - 1 - lows)
	}
	return low, high
}

// descWords is the size of all descriptors.
func (l *layout) descWords(instances []Instance) int {
	table := len(words([]tableDesc{{}}))
	n := len(words([]batchDesc{{}})) + len(instances)*len(words([]instanceDesc{{}}))
	for _, in := range instances {
		n += in.Factors * table
		if kernels(in).kind == 0 {
			n += in.NumTerms()
		}
	}
	for _, p := range l.passes {
		for _, s := range p.launches {
			n += len(words(s.groups))
		}
	}
	return n
}

// upload takes all descriptors to where they are to be, in one copy.
func (l *layout) upload(q *device.Queue, all device.Buffer[uint64], desc batchDesc, instances []instanceDesc, tables []tableDesc, terms []uint64) error {
	var groups []group
	for _, p := range l.passes {
		for _, s := range p.launches {
			groups = append(groups, s.groups...)
		}
	}
	a := len(words([]batchDesc{desc}))
	b := a + len(words(instances))
	c := b + len(words(tables))
	e := c + len(terms)
	l.batch = all.Slice(0, a)
	desc.Instances, desc.Tables, desc.Terms = all.Slice(a, b).Address(), all.Slice(b, c).Address(), all.Slice(c, e).Address()
	desc.After = all.Slice(e-int(desc.Afters), e).Address()
	at := e
	for _, p := range l.passes {
		for _, s := range p.launches {
			next := at + len(words(s.groups))
			l.groups = append(l.groups, all.Slice(at, next))
			at = next
		}
	}
	host := words([]batchDesc{desc})
	host = append(host, words(instances)...)
	host = append(host, words(tables)...)
	host = append(host, terms...)
	return all.CopyFrom(q, append(host, words(groups)...))
}

// words are structures as 64-bit words.
func words[T batchDesc | instanceDesc | tableDesc | group](s []T) []uint64 {
	var z T
	if len(s) == 0 {
		return nil
	}
	all := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(z))/8)
	return append([]uint64(nil), all...)
}

// packTerm is a term as kernels read it: its length and factors, a byte each.
func packTerm(factors []int) uint64 {
	packed := uint64(len(factors))
	for f, k := range factors {
		packed |= uint64(k) << (8 + 8*f)
	}
	return packed
}
