package prover

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/sumcheck"
)

// Stacks is a plan of a batch of sums of products of two factors: tables of words
// (stacks), and for each a weight that is a sum of eqs on aligned blocks of it. The
// variables are bound from the lowest up: a stack of n variables takes part in the last
// n rounds, as in any batch, and the first of these binds the lowest bit of an entry's
// index. So its factors are claimed at the point that has the last n challenges in
// reverse order, and the round messages are those of Prove on tables in the order of
// reversed indices.
//
// In that order the words are read twice and never stored as elements, whatever the
// rounds. Let the index of an entry be (h, l), h of K bits, and call the entries of one h
// a row. On a block of whole rows eq at (h, l) is E(h) T(l), T being eq of the last
// coordinates of the block's point. The sum over h of E(h) times row h is a table of one
// row; as many products of such a table and of a T as there are different T's add up to
// the stack's sum, so that they give the messages of the first n - K rounds. The blocks
// that are parts of a row have T's of their own, with their row itself. After these rounds
// the rows are bound by all of their challenges at once, and what is left is a product of
// two tables of 2^K entries. Stacks of at most K variables are such products from the
// start.
type Stacks struct {
	// Tables are what Run reads: the tables of eq that the weights are made of.
	Tables []EqTable
	// Factors is the number of elements of all of them.
	Factors int
	// Desc are descriptors that a device other than the host reads.
	Desc []uint64

	high   int // K
	first  int // rounds until then
	n      int
	stacks []stackPlan
	known  map[string]int // tables that several claims may share, by their points

	// Places in a run's memory, in elements.
	zeroed    int // all until here starts as 0
	elements  int
	instances []stackInstance // of the first rounds
	evals     int             // of these instances
	gamma     int

	layout stacksLayout
}

// Stack is a table of 2^Vars words and the claims that its weight is made of.
type Stack struct {
	Vars   int
	Used   int // all words from this one on are 0
	Claims []StackClaim
}

// StackClaim is a summand of a stack's weight: eq of Point times the Power-th power of a
// number of the caller's, on the block of 2^len(Point) entries that begins at At, a
// multiple of its size. Coordinates are the caller's names for elements. Blocks are
// disjoint or equal; others cost more.
type StackClaim struct {
	At, Power int
	Point     []int32
}

// EqTable is a table of eq, 2^len(Point) elements from At on: entry x is the Power-th
// power of that number times the product, over the bits of x from the highest down, of
// the coordinate, or of 1 minus it where the bit is 0.
type EqTable struct {
	At, Power int
	Point     []int32
}

const (
	// A row has 2^minRow to 2^maxRow words, a stack of more than one row 2^minStack.
	minRow, maxRow, minStack = 2, 19, 9
	// farRow is the most variables of a row before reads of rows side by side get slow:
	// on an H200 binding 2^29 words took 1.39 ms in rows of 2^14, 0.83 in rows of 2^13.
	farRow = 13
	// stackLow is the most variables of the lower factor of eq within a row.
	stackLow = 11
	maxStack = 40
)

// stackPlan is how one stack is proved.
type stackPlan struct {
	Stack
	row    int         // variables of a row; all of them if there is but one
	folds  []foldClaim // claims on whole rows
	rows   []stackRow  // those with claims on parts of them
	words  int         // table of the bound words, if there are rows
	weight int         // and of their weights
}

// foldClaim is a claim on whole rows.
type foldClaim struct {
	at, rows int // first row, and how many
	factor   int // the table of their weights
	instance int
}

// stackRow is a row whose claims are on parts of it.
type stackRow struct {
	at       int
	claims   []splitClaim
	instance stackInstance
	number   int // of the instance, if the stack has more rows
}

// splitClaim is a block with eq as a product of two tables.
type splitClaim struct{ at, vars, bits, low, high int }

// stackInstance is a product of two tables of a row's variables, in the order of reversed
// indices.
type stackInstance struct {
	stack, vars int
	words       int
	weight      int
	factor      bool // the weight is one of Tables
	sums        int  // what words are made of, if not of one row
}

// NewStacks plans a batch. Errors are ErrShape, for claims outside of their stacks.
func NewStacks(stacks []Stack) (*Stacks, error) { return newStacks(stacks, -1) }

// newStacks is NewStacks for rows of 2^(vars - high) entries; high is chosen if it is
// negative.
func newStacks(stacks []Stack, high int) (*Stacks, error) {
	if len(stacks) == 0 || len(stacks) > 255 {
		return nil, fmt.Errorf("%w: %d stacks, want 1 to 255", sumcheck.ErrShape, len(stacks))
	}
	most := 0
	for i, s := range stacks {
		if s.Vars < 0 || s.Vars > maxStack || s.Used < 0 || s.Used > 1<<s.Vars {
			return nil, fmt.Errorf("%w: stack %d: %d variables, %d words", sumcheck.ErrShape, i, s.Vars, s.Used)
		}
		if len(s.Claims) == 0 {
			return nil, fmt.Errorf("%w: stack %d has no claims", sumcheck.ErrShape, i)
		}
		for k, c := range s.Claims {
			if n := len(c.Point); n > s.Vars || c.At < 0 || c.Power < 0 || c.At&(1<<n-1) != 0 || c.At+1<<n > 1<<s.Vars {
				return nil, fmt.Errorf("%w: stack %d: claim %d on %d variables from entry %d on", sumcheck.ErrShape, i, k, n, c.At)
			}
		}
		most = max(most, s.Vars)
	}
	if high < 0 {
		high = chooseRows(stacks, most)
	} else if !rowsFit(stacks, high) {
		return nil, fmt.Errorf("%w: no rows for %d of %d variables", sumcheck.ErrShape, high, most)
	}
	p := &Stacks{high: min(high, most), n: most, first: max(0, most-high), known: map[string]int{}}
	for i, s := range stacks {
		p.add(i, s)
	}
	p.place()
	p.describe()
	return p, nil
}

// rowsFit says whether stacks can have 2^high rows.
func rowsFit(stacks []Stack, high int) bool {
	return !slices.ContainsFunc(stacks, func(s Stack) bool {
		row := s.Vars - high
		return row > 0 && (row < minRow || row > maxRow || s.Vars < minStack)
	})
}

// chooseRows is the number of variables of rows' indices with the fewest elements in all
// tables.
func chooseRows(stacks []Stack, most int) int {
	best, least := most, 0.0
	for high := most; high >= 6; high-- {
		if !rowsFit(stacks, high) {
			continue
		}
		if c := tableEntries(stacks, high); high == most || c < least {
			best, least = high, c
		}
	}
	return best
}

// tableEntries is about the number of entries of all tables, counting what the launches
// of the first rounds and reads of long rows take as well.
func tableEntries(stacks []Stack, high int) (sum float64) {
	for _, s := range stacks {
		row := s.Vars - high
		sum += float64(int(2) << min(s.Vars, high))
		if row <= 0 {
			continue
		}
		tables := map[string]bool{}
		for _, c := range s.Claims {
			if n := len(c.Point); n >= row {
				tables[pointKey(c.Point[n-row:])] = true
				sum += 0.5 * float64(int(1)<<(n-row))
			} else {
				tables[fmt.Sprint(c.At>>row)] = true
			}
		}
		sum += float64(len(tables))*float64(int(2)<<row) + 1<<12
		if row > farRow {
			sum += float64(int(1)<<s.Vars) / 256
		}
	}
	return sum
}

func pointKey(point []int32) string {
	var key []byte
	for _, c := range point {
		key = binary.LittleEndian.AppendUint32(key, uint32(c))
	}
	return string(key)
}

// table is the place of a new table.
func (p *Stacks) table(point []int32, power int) int {
	at := p.Factors
	p.Tables = append(p.Tables, EqTable{At: at, Power: power, Point: point})
	p.Factors += 1 << len(point)
	return at
}

// shared is the place of a table without a power, that others may have asked for.
func (p *Stacks) shared(point []int32) int {
	key := pointKey(point)
	at, ok := p.known[key]
	if !ok {
		at = p.table(point, 0)
		p.known[key] = at
	}
	return at
}

// add plans one stack.
func (p *Stacks) add(number int, s Stack) {
	st := stackPlan{Stack: s, row: s.Vars - p.high}
	rowOf := map[int]int{}
	if st.row <= 0 { // there is one row
		st.row, rowOf[0] = s.Vars, 0
		st.rows = []stackRow{{instance: stackInstance{stack: number, vars: st.row}}}
	}
	groups := map[int]int{} // instances by their weights
	for _, c := range s.Claims {
		n := len(c.Point)
		if n >= st.row && s.Vars > st.row {
			last := slices.Clone(c.Point[n-st.row:])
			slices.Reverse(last)
			weight := p.shared(last)
			g, ok := groups[weight]
			if !ok {
				g = len(p.instances)
				groups[weight] = g
				p.instances = append(p.instances, stackInstance{stack: number, vars: st.row, weight: weight, factor: true})
			}
			st.folds = append(st.folds, foldClaim{c.At >> st.row, 1 << (n - st.row), p.table(c.Point[:n-st.row], c.Power), g})
			continue
		}
		r, ok := rowOf[c.At>>st.row]
		if !ok {
			r = len(st.rows)
			rowOf[c.At>>st.row] = r
			st.rows = append(st.rows, stackRow{at: c.At >> st.row, instance: stackInstance{stack: number, vars: st.row}})
		}
		bits := min(n, stackLow)
		st.rows[r].claims = append(st.rows[r].claims,
			splitClaim{at: c.At, vars: n, bits: bits, low: p.shared(c.Point[n-bits:]), high: p.table(c.Point[:n-bits], c.Power)})
	}
	slices.SortFunc(st.rows, func(a, b stackRow) int { return cmp.Compare(a.at, b.at) })
	p.stacks = append(p.stacks, st)
}

// large says whether a stack has more than one row.
func (st *stackPlan) large() bool { return st.Vars > st.row }

// place gives all tables places in a run's memory.
func (p *Stacks) place() {
	take := func(n int) (at int) {
		at = p.elements
		p.elements += n
		return at
	}
	for g := range p.instances {
		in := &p.instances[g]
		in.sums = take(2 << in.vars) // four sums of 64 bits an entry
	}
	for i := range p.stacks {
		if st := &p.stacks[i]; st.large() {
			st.words = take(1 << p.high)
		}
	}
	p.zeroed = p.elements
	for g := range p.instances {
		in := &p.instances[g]
		in.words = take(1 << in.vars)
	}
	for i := range p.stacks {
		st := &p.stacks[i]
		if st.large() {
			st.weight = take(1 << p.high)
		}
		for r := range st.rows {
			in := &st.rows[r].instance
			in.weight, in.words = take(1<<in.vars), take(1<<in.vars)
			if st.large() {
				st.rows[r].number = len(p.instances)
				p.instances = append(p.instances, *in)
			}
		}
	}
	p.evals, p.gamma = take(2*len(p.instances)), take(1)
}

// Bytes estimates what a run takes on a device beside words, tables and messages: its
// own tables, and a quarter of them again while rounds are bound.
func (p *Stacks) Bytes() int64 { return int64(p.elements) * 16 * 5 / 4 }

// Shapes of the batch, a product of two factors for each stack.
func (p *Stacks) Shapes() []sumcheck.Shape {
	out := make([]sumcheck.Shape, len(p.stacks))
	for i := range p.stacks {
		out[i] = sumcheck.Product(p.stacks[i].Vars, 2)
	}
	return out
}
