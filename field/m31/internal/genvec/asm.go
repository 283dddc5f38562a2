package main

import (
	"fmt"
	"strings"
)

// reg is a virtual vector register. The assembler gives it a machine register
// from its first mention to its last.
type reg int

// line is an instruction or a label, with the vector registers it mentions in
// place of each \x00.
type line struct {
	text string
	regs []reg
}

// asm writes functions for one instruction set.
type asm struct {
	isa   isa
	out   strings.Builder
	lines []line
	loops [][2]int // first and last line
	next  reg

	functions []declaration

	prime, off reg // P in every word; P in the high words of 64-bit lanes
}

// isa is an instruction set: the size of its vectors and the number of them.
type isa struct {
	name  string // suffix of the functions
	bytes int
	regs  int
	file  string
}

var (
	avx2   = isa{"AVX2", 32, 16, "blocks_avx2_amd64.s"}
	avx512 = isa{"AVX512", 64, 32, "blocks_avx512_amd64.s"}
)

func (s isa) wide() bool { return s.bytes == 64 }

// words of a vector.
func (s isa) words() int { return s.bytes / 4 }

// reg makes a register.
func (a *asm) reg() reg {
	a.next++
	return a.next
}

// op is an instruction; as everywhere in Go's assembly the destination is last.
// Operands are registers, or text such as "$1", "8(SI)", "K1".
func (a *asm) op(name string, operands ...any) {
	l := line{text: "\t" + name}
	for i, o := range operands {
		sep := ", "
		if i == 0 {
			sep = " "
		}
		if r, ok := o.(reg); ok {
			l.text += sep + "\x00"
			l.regs = append(l.regs, r)
		} else {
			l.text += sep + fmt.Sprint(o)
		}
	}
	a.lines = append(a.lines, l)
}

// to is op into a new register.
func (a *asm) to(name string, operands ...any) reg {
	d := a.reg()
	a.op(name, append(operands, d)...)
	return d
}

// load reads the i-th vector from the pointer.
func (a *asm) load(pointer string, i int) reg {
	return a.to("VMOVDQU"+a.suffix("32"), a.mem(pointer, i))
}

func (a *asm) store(r reg, pointer string, i int) {
	a.op("VMOVDQU"+a.suffix("32"), r, a.mem(pointer, i))
}

func (a *asm) mem(pointer string, i int) string {
	return fmt.Sprintf("%d(%s)", i*a.isa.bytes, pointer)
}

// suffix is what moves of 512 bits have at the end of their names.
func (a *asm) suffix(s string) string {
	if a.isa.wide() {
		return s
	}
	return ""
}

// copy of a register, to be changed.
func (a *asm) copy(r reg) reg { return a.to("VMOVDQA"+a.suffix("32"), r) }

func (a *asm) zero() reg {
	r := a.reg()
	if a.isa.wide() {
		a.op("VPXORD", r, r, r)
	} else {
		a.op("VPXOR", r, r, r)
	}
	return r
}

func (a *asm) and(x, y reg) reg { return a.to("VPAND"+a.suffix("D"), x, y) }

// broadcast128 reads 16 bytes into every 128-bit lane.
func (a *asm) broadcast128(pointer string, at int) reg {
	name := "VBROADCASTI128"
	if a.isa.wide() {
		name = "VBROADCASTI32X4"
	}
	return a.to(name, fmt.Sprintf("%d(%s)", at, pointer))
}

// table reads a vector of constants.
func (a *asm) table(name string) reg {
	return a.to("VMOVDQU"+a.suffix("32"), fmt.Sprintf("%s%s<>(SB)", name, a.isa.name))
}

// pointers are where a function's arguments go, in order; the number of
// iterations, its last argument, goes to BX.
var pointers = []string{"DI", "SI", "DX", "CX", "R8", "R9"}

// declaration is a function as Go code sees it. Its arguments are pointers to
// arrays, of block elements an iteration in those that count.
type declaration struct {
	name  string
	args  []string // "a *Element"
	block int
}

// function writes one. Its last argument, after args, is n, the number of
// iterations, which is at least 1.
func (a *asm) function(name string, args []string, block int, body func(p []string)) {
	a.functions = append(a.functions, declaration{name, args, block})
	fmt.Fprintf(&a.out, "\n// func %s%s(%s, n int)\n", name, a.isa.name, strings.Join(args, ", "))
	fmt.Fprintf(&a.out, "TEXT ·%s%s(SB), NOSPLIT, $0-%d\n", name, a.isa.name, 8*len(args)+8)
	a.lines, a.loops, a.next = nil, nil, 0
	for i, arg := range args {
		name, _, _ := strings.Cut(arg, " ")
		a.op("MOVQ", fmt.Sprintf("%s+%d(FP)", name, 8*i), pointers[i])
	}
	a.op("MOVQ", fmt.Sprintf("n+%d(FP)", 8*len(args)), "BX")
	a.prime, a.off = a.reg(), a.reg()
	if a.isa.wide() {
		for k, mask := range masks {
			a.op("MOVL", fmt.Sprintf("$%#x", mask), "AX")
			a.op("KMOVW", "AX", fmt.Sprintf("K%d", k+1))
		}
		a.op("VPTERNLOGD", "$0xff", a.prime, a.prime, a.prime)
	} else {
		a.op("VPCMPEQD", a.prime, a.prime, a.prime)
	}
	a.op("VPSRLD", "$1", a.prime, a.prime)
	a.op("VPSLLQ", "$32", a.prime, a.off)
	body(pointers[:len(args)])
	a.op("VZEROUPPER")
	a.op("RET")
	a.allocate()
}

// loop repeats body n times, after which each pointer moves by its step.
func (a *asm) loop(p []string, steps []int, body func()) {
	start := len(a.lines)
	a.lines = append(a.lines, line{text: "\nloop:"})
	body()
	for i, s := range steps {
		if s != 0 {
			a.op("ADDQ", fmt.Sprintf("$%d", s), p[i])
		}
	}
	a.op("DECQ", "BX")
	a.op("JNZ", "loop")
	a.loops = append(a.loops, [2]int{start, len(a.lines) - 1})
}

// allocate gives the virtual registers of the function machine registers, and
// writes it out.
func (a *asm) allocate() {
	first, last := map[reg]int{}, map[reg]int{}
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
			if first[r] < l[0] && last[r] >= l[0] && last[r] <= l[1] {
				last[r] = l[1]
			}
		}
	}
	var free []int
	for i := a.isa.regs - 1; i >= 0; i-- {
		free = append(free, i)
	}
	at := map[reg]int{}
	name := "Y"
	if a.isa.wide() {
		name = "Z"
	}
	for i, l := range a.lines {
		for r, m := range at { // a register read for the last time here can be written here
			if last[r] <= i && first[r] < i {
				free = append(free, m)
				delete(at, r)
				// Its name is still needed for this line.
				for k := range l.regs {
					if l.regs[k] == r {
						l.text = replace(l.text, k, fmt.Sprint(name, m))
					}
				}
			}
		}
		sortDescending(free)
		for k, r := range l.regs {
			if last[r] <= i && first[r] < i {
				continue
			}
			m, ok := at[r]
			if !ok {
				if len(free) == 0 {
					panic("too many registers in use: " + l.text)
				}
				m = free[len(free)-1]
				free = free[:len(free)-1]
				at[r] = m
			}
			l.text = replace(l.text, k, fmt.Sprint(name, m))
		}
		for r, m := range at { // written but never read
			if last[r] == i {
				free = append(free, m)
				delete(at, r)
			}
		}
		a.out.WriteString(strings.NewReplacer("\x01", "").Replace(l.text) + "\n")
	}
}

// replace puts s in place of the k-th mark of the text. Marks that are filled
// keep a \x01 so that they still count.
func replace(text string, k int, s string) string {
	for i := range len(text) {
		if text[i] == 0 || text[i] == 1 {
			if k == 0 {
				return text[:i] + "\x01" + s + text[i+1:]
			}
			k--
		}
	}
	panic("no such mark")
}

func sortDescending(v []int) {
	for i := range v {
		for j := i + 1; j < len(v); j++ {
			if v[j] > v[i] {
				v[i], v[j] = v[j], v[i]
			}
		}
	}
}
