package schedule

import "fmt"

// Step is an operation, or a move of a value between registers and shared memory.
type Step struct {
	Op    *Op
	Store string // to shared memory; it stays in no register
	Load  string // back into a register
}

func (s Step) String() string {
	switch {
	case s.Store != "":
		return "store " + s.Store
	case s.Load != "":
		return "load " + s.Load
	default:
		return s.Op.String()
	}
}

// place is where a search has come to: the operations done, and the values that are in
// registers and in shared memory.
type place struct{ done, registers, shared uint32 }

// way is how a place was come to.
type way struct {
	from place
	step Step
}

// Spill is an order of f's operations, with moves between them, that keeps at most so
// many long integers in registers and in shared memory, with the fewest moves there can
// be; ok is false if there is none. All orders of operations and moves are considered,
// breadth first by the number of moves.
func Spill(f Formula, registers, shared int) (steps []Step, moves int, ok bool) {
	p := compile(f)
	all := uint32(1)<<len(p.Ops) - 1
	start := place{registers: p.inputs}
	ways := map[place]way{start: {}}
	level := []place{start}
	for moves = 0; len(level) > 0; moves++ {
		// Operations cost nothing: first all that they reach, then one move more.
		for k := 0; k < len(level); k++ {
			at := level[k]
			if at.done == all && p.outputs&^at.registers == 0 {
				return trace(ways, start, at), moves, true
			}
			for i := range p.Ops {
				if next, ok := p.step(at, i, registers); ok {
					if _, seen := ways[next]; !seen {
						ways[next] = way{at, Step{Op: &p.Ops[i]}}
						level = append(level, next)
					}
				}
			}
		}
		var more []place
		for _, at := range level {
			for v, name := range p.names {
				bit, next := uint32(1)<<v, at
				var step Step
				switch {
				case at.registers&bit != 0 && count(at.shared) < shared:
					next.registers, next.shared, step = at.registers&^bit, at.shared|bit, Step{Store: name}
				case at.shared&bit != 0 && count(at.registers) < registers:
					next.registers, next.shared, step = at.registers|bit, at.shared&^bit, Step{Load: name}
				default:
					continue
				}
				if _, seen := ways[next]; !seen {
					ways[next] = way{at, step}
					more = append(more, next)
				}
			}
		}
		level = more
	}
	return nil, 0, false
}

// step does operation i, if its operands are in registers and its result finds one.
func (p *program) step(at place, i, registers int) (place, bool) {
	if at.done>>i&1 == 1 || p.from[i]&^at.registers != 0 {
		return at, false
	}
	next := at
	next.done |= 1 << i
	live := p.live(next.done)
	if p.need(i, at.registers, live) > registers {
		return at, false
	}
	next.registers = (at.registers | p.to[i]) & live
	next.shared &= live
	return next, true
}

func trace(ways map[place]way, start, at place) []Step {
	var back []Step
	for at != start {
		w := ways[at]
		back = append(back, w.step)
		at = w.from
	}
	out := make([]Step, 0, len(back))
	for i := len(back) - 1; i >= 0; i-- {
		out = append(out, back[i])
	}
	return out
}

// Check does the steps and returns the most values in registers and in shared memory at a
// time; it is an error if a step is not possible or something is left to do.
func Check(f Formula, steps []Step) (registers, shared int, err error) {
	p := compile(f)
	index := map[string]int{}
	for i, op := range p.Ops {
		index[op.To] = i
	}
	value := map[string]uint32{}
	for v, name := range p.names {
		value[name] = 1 << v
	}
	at := place{registers: p.inputs}
	registers = count(at.registers)
	for _, s := range steps {
		v := value[s.Store+s.Load]
		switch {
		case s.Op != nil:
			i := index[s.Op.To]
			next, ok := p.step(at, i, 32)
			if !ok {
				return 0, 0, fmt.Errorf("%s: operands are not there", s)
			}
			registers = max(registers, p.need(i, at.registers, p.live(next.done)))
			at = next
		case s.Store != "" && at.registers&v != 0:
			at.registers, at.shared = at.registers&^v, at.shared|v
		case s.Load != "" && at.shared&v != 0:
			at.registers, at.shared = at.registers|v, at.shared&^v
		default:
			return 0, 0, fmt.Errorf("%s: it is not there", s)
		}
		registers, shared = max(registers, count(at.registers)), max(shared, count(at.shared))
	}
	if at.done != 1<<len(p.Ops)-1 || p.outputs&^at.registers != 0 {
		return 0, 0, fmt.Errorf("%s is not finished", f.Name)
	}
	return registers, shared, nil
}
