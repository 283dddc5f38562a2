package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// transposeFunction writes word k of eight rows of eight words to row k. The
// rows of the source lie stride bytes apart.
func (a *asm) transposeFunction() {
	args := []string{"dst *Element", "src *Element", "stride int"}
	a.Function(vecasm.Function{Name: "transpose8", Args: args}, func(p []string) {
		e := a.eightArrays(p[1], p[2])
		for half := range 2 {
			var r [4]vecasm.Reg
			for k := range r { // rows k and k+4, four words of each
				low := a.Reg()
				a.Op("VBROADCASTI128", a.rowOf(e, k, 16*half), low)
				r[k] = a.To("VINSERTI128", "$1", a.rowOf(e, k+4, 16*half), low)
			}
			t0, t1 := a.To("VPUNPCKLDQ", r[1], r[0]), a.To("VPUNPCKHDQ", r[1], r[0])
			t2, t3 := a.To("VPUNPCKLDQ", r[3], r[2]), a.To("VPUNPCKHDQ", r[3], r[2])
			for k, v := range []vecasm.Reg{
				a.To("VPUNPCKLQDQ", t2, t0), a.To("VPUNPCKHQDQ", t2, t0),
				a.To("VPUNPCKLQDQ", t3, t1), a.To("VPUNPCKHQDQ", t3, t1),
			} {
				a.Store(v, p[0], 4*half+k)
			}
		}
	})
}

// rowOf is the operand of 16 bytes of array k.
func (a *asm) rowOf(e eight, k, at int) string {
	base := e.first
	if k >= 4 {
		base, k = e.fourth, k-4
	}
	switch s := fmt.Sprintf("%d(%s)", at, base); k {
	case 0:
		return s
	case 3:
		return s + fmt.Sprintf("(%s*1)", e.triple)
	default:
		return s + fmt.Sprintf("(%s*%d)", e.stride, k)
	}
}
