package vecasm

import (
	"fmt"
	"slices"
	"strings"
)

// allocate gives the function's registers those of the machine, each from its
// first mention to its last, and writes the function out.
func (a *Asm) allocate() {
	first, last := a.lifetimes()
	var free []int
	for i := range a.Regs {
		free = append(free, i)
	}
	at := map[Reg]int{}
	release := func(i int, earlier bool) {
		for r, m := range at {
			if last[r] == i && (first[r] < i) == earlier {
				free = append(free, m)
				delete(at, r)
			}
		}
		slices.Sort(free)
	}
	for i, l := range a.lines {
		numbers := make([]int, len(l.regs))
		for k, r := range l.regs {
			if m, ok := at[r]; ok {
				numbers[k] = m
				l.fill(k, a.Register, m)
			}
		}
		release(i, true) // what is read for the last time can be written over
		for k, r := range l.regs {
			if first[r] < i {
				continue
			}
			m, ok := at[r]
			if !ok {
				if len(free) == 0 {
					panic("too many registers in use: " + l.text)
				}
				m, free = free[0], free[1:]
				at[r] = m
			}
			numbers[k] = m
			l.fill(k, a.Register, m)
		}
		if l.encode != nil {
			l.text = l.encode(numbers)
		}
		release(i, false) // what is written and never read
		a.out.WriteString(strings.ReplaceAll(l.text, string(closed), "") + "\n")
	}
}

// lifetimes are the lines of each register's first and last mention. What lives
// on entry to a loop and is used in it lives to its end.
func (a *Asm) lifetimes() (first, last map[Reg]int) {
	first, last = map[Reg]int{}, map[Reg]int{}
	for i, l := range a.lines {
		for _, r := range l.regs {
			if _, ok := first[r]; !ok {
				first[r] = i
			}
			last[r] = i
		}
	}
	for r := range first {
		for _, l := range a.loops {
			if first[r] < l[0] && last[r] >= l[0] && last[r] < l[1] {
				last[r] = l[1]
			}
		}
	}
	return first, last
}

// fill puts a name in place of the k-th mark.
func (l *line) fill(k int, register string, number int) {
	for i, c := range l.text {
		if c != open && c != closed {
			continue
		}
		if k == 0 {
			if c == open {
				l.text = l.text[:i] + string(closed) + fmt.Sprint(register, number) + l.text[i+1:]
			}
			return
		}
		k--
	}
}
