// Package schedule searches orders of the operations of a formula for point additions
// for those that keep the fewest long integers in registers at a time, as DistMSM does
// (ASPLOS 2024, sections 4.2.1 and 4.2.2).
package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Op is one operation: To = A op B.
type Op struct {
	To, A, B string
	Product  bool
}

func (o Op) String() string {
	sign := "-"
	if o.Product {
		sign = "*"
	}
	return fmt.Sprintf("%s = %s %s %s", o.To, o.A, sign, o.B)
}

// Formula is operations in an order that works. Inputs are in registers from the start;
// what is neither an input nor a result is read from memory by the operation that uses
// it. Outputs are in registers at the end. No name is given twice.
type Formula struct {
	Name            string
	Inputs, Outputs []string
	Ops             []Op
}

func product(to, a, b string) Op    { return Op{to, a, b, true} }
func difference(to, a, b string) Op { return Op{to, a, b, false} }

// The formulas of DistMSM's algorithms 4 and 1, and the doubling dbl-2008-s-1 for a = 0;
// sums count like differences.
var (
	PACC = Formula{
		Name: "PACC", Inputs: []string{"X", "Y", "ZZ", "ZZZ"}, Outputs: []string{"X'", "Y'", "ZZ'", "ZZZ'"},
		Ops: []Op{
			product("U", "x", "ZZ"), product("S", "y", "ZZZ"),
			difference("P", "U", "X"), difference("R", "S", "Y"),
			product("PP", "P", "P"), product("PPP", "PP", "P"), product("Q", "X", "PP"),
			product("V0", "R", "R"), difference("V1", "V0", "PPP"), difference("V2", "V1", "Q"), difference("X'", "V2", "Q"),
			difference("T", "Q", "X'"), product("Y1", "R", "T"), product("Y2", "Y", "PPP"), difference("Y'", "Y1", "Y2"),
			product("ZZ'", "ZZ", "PP"), product("ZZZ'", "ZZZ", "PPP"),
		},
	}
	PADD = Formula{
		Name: "PADD", Inputs: []string{"X1", "Y1", "ZZ1", "ZZZ1", "X2", "Y2", "ZZ2", "ZZZ2"}, Outputs: []string{"X3", "Y3", "ZZ3", "ZZZ3"},
		Ops: []Op{
			product("U1", "X1", "ZZ2"), product("U2", "X2", "ZZ1"), product("S1", "Y1", "ZZZ2"), product("S2", "Y2", "ZZZ1"),
			difference("P", "U2", "U1"), difference("R", "S2", "S1"),
			product("PP", "P", "P"), product("PPP", "PP", "P"), product("Q", "U1", "PP"),
			product("V0", "R", "R"), difference("V1", "V0", "PPP"), difference("V2", "V1", "Q"), difference("X3", "V2", "Q"),
			difference("T", "Q", "X3"), product("Y1'", "R", "T"), product("Y2'", "S1", "PPP"), difference("Y3", "Y1'", "Y2'"),
			product("ZZ", "ZZ1", "ZZ2"), product("ZZ3", "ZZ", "PP"),
			product("ZZZ", "ZZZ1", "ZZZ2"), product("ZZZ3", "ZZZ", "PPP"),
		},
	}
	PDBL = Formula{
		Name: "PDBL", Inputs: []string{"X", "Y", "ZZ", "ZZZ"}, Outputs: []string{"X'", "Y'", "ZZ'", "ZZZ'"},
		Ops: []Op{
			difference("U", "Y", "Y"), product("V", "U", "U"), product("W", "U", "V"), product("S", "X", "V"),
			product("XX", "X", "X"), difference("M2", "XX", "XX"), difference("M", "M2", "XX"),
			product("MM", "M", "M"), difference("N", "MM", "S"), difference("X'", "N", "S"),
			difference("T", "S", "X'"), product("Y1", "M", "T"), product("Y2", "W", "Y"), difference("Y'", "Y1", "Y2"),
			product("ZZ'", "V", "ZZ"), product("ZZZ'", "W", "ZZZ"),
		},
	}
)

// program is a formula with numbers for names. Values are bits of a mask.
type program struct {
	Formula
	names   []string
	from    []uint32 // of each operation: the values that are in registers before it
	memory  []int    // of each operation: how many of its operands come from memory
	to      []uint32
	users   []uint32 // of each value: the operations that use it
	outputs uint32
	inputs  uint32
}

func compile(f Formula) *program {
	p := &program{Formula: f}
	index := map[string]int{}
	add := func(name string) int {
		index[name] = len(p.names)
		p.names = append(p.names, name)
		p.users = append(p.users, 0)
		return index[name]
	}
	for _, name := range f.Inputs {
		p.inputs |= 1 << add(name)
	}
	for i, op := range f.Ops {
		var from uint32
		memory := 0
		for _, name := range slices.Compact([]string{op.A, op.B}) {
			v, ok := index[name]
			if !ok {
				memory++
				continue
			}
			from |= 1 << v
			p.users[v] |= 1 << i
		}
		p.from, p.memory = append(p.from, from), append(p.memory, memory)
		p.to = append(p.to, 1<<add(op.To))
	}
	for _, name := range f.Outputs {
		p.outputs |= 1 << index[name]
	}
	return p
}

// live is the values that are needed after the operations done.
func (p *program) live(done uint32) uint32 {
	made := p.inputs
	for i, to := range p.to {
		if done>>i&1 == 1 {
			made |= to
		}
	}
	live := made & p.outputs
	for v, users := range p.users {
		if made>>v&1 == 1 && users&^done != 0 {
			live |= 1 << v
		}
	}
	return live
}

// need is how many registers operation i takes with others, beside its operands, being in
// registers. The result of a product is apart from its operands, since the Montgomery
// product sums up while it still reads them; a difference may replace an operand that is
// not needed any more.
func (p *program) need(i int, others, after uint32) int {
	operands := count(others|p.from[i]) + p.memory[i]
	if p.Ops[i].Product {
		return operands + 1
	}
	if p.memory[i] > 0 || p.from[i]&^after != 0 {
		return operands
	}
	return operands + 1
}

func count(m uint32) int {
	n := 0
	for ; m != 0; m &= m - 1 {
		n++
	}
	return n
}

// Peak is the most long integers in registers at a time when f's operations are done in
// the order given.
func Peak(f Formula) int {
	p := compile(f)
	done, most := uint32(0), count(p.inputs)
	for i := range p.Ops {
		before := p.live(done)
		done |= 1 << i
		most = max(most, p.need(i, before, p.live(done)))
	}
	return most
}

// Best is an order of f's operations with the least peak, and the peak. All orders are
// considered: what is live depends on the set of operations done alone, so that the best
// way to each set, from the best ways to those with one less, is as good as trying all.
func Best(f Formula) (Formula, int) {
	p := compile(f)
	n := len(p.Ops)
	const never = 1 << 10
	best, last := make([]int, 1<<n), make([]int8, 1<<n)
	for s := 1; s < len(best); s++ {
		best[s] = never
	}
	best[0] = count(p.inputs)
	for s := range uint32(1 << n) {
		if best[s] == never {
			continue
		}
		before := p.live(s)
		for i := range n {
			if s>>i&1 == 1 || p.from[i]&^before != 0 {
				continue
			}
			next := s | 1<<i
			if peak := max(best[s], p.need(i, before, p.live(next))); peak < best[next] {
				best[next], last[next] = peak, int8(i)
			}
		}
	}
	g := f
	g.Ops = make([]Op, n)
	for s := uint32(1<<n - 1); s != 0; s &^= 1 << last[s] {
		n--
		g.Ops[n] = f.Ops[last[s]]
	}
	return g, best[1<<len(f.Ops)-1]
}

// String is the operations, one a line.
func (f Formula) String() string {
	var b strings.Builder
	for _, op := range f.Ops {
		fmt.Fprintln(&b, op)
	}
	return b.String()
}
