package prover

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// Expressions with more columns, or with more multiplications at all points of a
// round, than these have kernels that keep neither in registers.
const (
	exprColumns = 8
	exprWork    = 40
)

// exprKernels are the kernels written for an expression.
type exprKernels struct {
	kernelSet
	// scalars, if it has a name, works out what depends on scalars alone, for all
	// entries at once: kernels then take these values instead of the scalars.
	scalars device.Kernel
	values  int // of them
}

// exprKey is under which an expression keeps its kernels.
type exprKey struct{}

// kernelsOf writes the kernels for an expression, once.
func kernelsOf(e *sumcheck.Expr) *exprKernels {
	return e.Attached(exprKey{}, func() any { return writeKernels(e, usualTuning) }).(*exprKernels)
}

// exprTuning is what the kernels of an expression are made to; results do not
// depend on it.
type exprTuning struct {
	lazy bool // columns are read where they are used
	// first and next are as in kernelSet; fused as in pass.cuh.
	first, next int
	fused       bool
	perUnit     int // blocks of a pass that a multiprocessor is to hold
}

// usualTuning goes by the grids that fit a warp, and by the registers for them.
func usualTuning(e *sumcheck.Expr, work int) exprTuning {
	columns, grid := len(e.Columns()), e.Degree()+1
	if e.Eq() {
		grid++
	}
	t := exprTuning{first: 1, next: 1, fused: columns <= 3, perUnit: 4}
	if columns > exprColumns || work*(e.Degree()+1) > exprWork {
		t.lazy, t.fused = true, false
		return t
	}
	if columns <= 4 && grid*grid <= maxPoints {
		t.first = 2
		if columns <= 2 && e.Degree() <= 2 {
			t.next, t.perUnit = 2, 2
		}
		if columns <= 3 && !e.Eq() && grid*grid*grid <= maxPoints {
			t.first = 3
		}
	}
	if t.next == 1 && (columns > 3 || e.Degree() > 2) {
		t.perUnit = 3
	}
	return t
}

// ExprSources are the sources that a GPU is given for an expression: of the
// passes, and of the tail.
func ExprSources(e *sumcheck.Expr) []*kernel.Source {
	k := kernelsOf(e)
	return []*kernel.Source{k.source, k.tail.Source}
}

// exprWriter writes an expression's program as CUDA.
type exprWriter struct {
	*sumcheck.Program
	uniform []bool   // by register: made of scalars alone
	names   []string // by register
	body    strings.Builder
}

func writeKernels(e *sumcheck.Expr, tune func(*sumcheck.Expr, int) exprTuning) *exprKernels {
	w := &exprWriter{Program: e.Program()}
	first := w.Columns + w.Scalars
	w.uniform, w.names = make([]bool, first+len(w.Code)), make([]string, first+len(w.Code))
	for r := w.Columns; r < first; r++ {
		w.uniform[r], w.names[r] = true, fmt.Sprintf("scalars[%d]", r-w.Columns)
	}
	k := &exprKernels{values: w.Scalars}
	var scalars strings.Builder
	work := 0
	for i, in := range w.Code {
		r := first + i
		if w.uniform[r] = w.uniform[in.A] && (in.Op.Unary() || w.uniform[in.B]); w.uniform[r] {
			w.names[r] = fmt.Sprintf("scalars[%d]", k.values)
			fmt.Fprintf(&scalars, "  out[%d] = %s;\n", k.values, strings.ReplaceAll(w.operation(in), "scalars[", "out["))
			k.values++
			continue
		}
		w.column(in.A)
		if !in.Op.Unary() {
			w.column(in.B)
		}
		if in.Op == sumcheck.OpMul {
			work++
		}
		w.names[r] = fmt.Sprintf("v%d", i)
		fmt.Fprintf(&w.body, "    auto v%d = %s;\n", i, w.operation(in))
	}
	w.column(w.Result)
	w.write(k, e, tune(e, work), scalars.String())
	return k
}

// column reads a column where it is used first.
func (w *exprWriter) column(r int) {
	if r < w.Columns && w.names[r] == "" {
		w.names[r] = fmt.Sprintf("f%d", r)
		fmt.Fprintf(&w.body, "    auto f%d = f[%d];\n", r, r)
	}
}

// operation is an instruction as CUDA.
func (w *exprWriter) operation(in sumcheck.ExprInstr) string {
	a := w.names[in.A]
	switch in.Op {
	case sumcheck.OpAdd:
		return fmt.Sprintf("value_add(%s, %s)", a, w.names[in.B])
	case sumcheck.OpSub:
		return fmt.Sprintf("value_sub(%s, %s)", a, w.names[in.B])
	case sumcheck.OpMul:
		return fmt.Sprintf("value_mul(%s, %s)", a, w.names[in.B])
	case sumcheck.OpAddConst:
		return fmt.Sprintf("value_add(%s, %du)", a, in.C)
	case sumcheck.OpSubFrom:
		if in.C == 0 {
			return fmt.Sprintf("value_neg(%s)", a)
		}
		return fmt.Sprintf("value_sub(%du, %s)", in.C, a)
	}
	switch in.C.Int() {
	case -1:
		return fmt.Sprintf("value_neg(%s)", a)
	case 2:
		return fmt.Sprintf("value_add(%s, %s)", a, a)
	}
	return fmt.Sprintf("value_mul(%s, %du)", a, in.C)
}

const passParameters = `(
    u32 *sponge, const Batch *__restrict__ batch, const Group *__restrict__ groups, u32 group_count,
    u32 chunks, u32 round, u32 window, u32 classes, u32 blocks) {
`

const tailParameters = `(
    u32 *sponge, const Batch *__restrict__ batch, const qm31 *__restrict__ values, qm31 *memory, u32 first, u32 pending) {
  SHARED_DYNAMIC(qm31, own);
`

// write puts the units together: two, that compile side by side. A unit's name,
// and those of its kernels, tell different ones apart.
func (w *exprWriter) write(k *exprKernels, e *sumcheck.Expr, t exprTuning, scalars string) {
	summand := fmt.Sprintf(`struct Summand {
  static const u32 FACTORS = %d, DEGREE = %d;
  template <class F> MEMBER_INLINE static auto eval(const F &f, const qm31 *scalars) {
%s    return %s;
  }
};
`, w.Columns, e.Degree(), w.body.String(), w.names[w.Result])

	call := "pass_lazy<Summand>(PASS_ARGUMENTS)"
	if !t.lazy {
		call = fmt.Sprintf("pass_block<Summand, %t, %d, %d, %t>(PASS_ARGUMENTS)", e.Eq(), t.first, t.next, t.fused)
	}
	k.first, k.next, k.mixed, k.perUnit = t.first, t.next, t.lazy, t.perUnit
	text := summand + kernelText("NAME_pass", fmt.Sprintf("%d, %d", threads, t.perUnit), passParameters, call)
	if scalars != "" {
		text += kernelText("NAME_scalars", "32", "(qm31 *out, const qm31 *scalars) {\n", fmt.Sprintf(
			"if (threadIdx.x != 0) return;\n  for (u32 i = 0; i < %d; i++) out[i] = scalars[i];\n%s", w.Scalars, strings.TrimSuffix(scalars, ";\n")))
	}
	var name string
	k.source, name = exprUnit(text)
	k.pass, k.kind = name+"_pass", 1+sumcheck.MaxDegree
	if scalars != "" {
		k.scalars = device.Kernel{Source: k.source, Name: name + "_scalars"}
	}
	k.tail.Source, name = exprUnit(summand + kernelText("NAME_tail", fmt.Sprint(tailThreads), tailParameters,
		"tail_block<Lazy<Summand>>(sponge, batch, values, memory ? memory : own, first, pending)"))
	k.tail.Name = name + "_tail"
}

// kernelText is a kernel that makes one call.
func kernelText(name, bounds, parameters, call string) string {
	return fmt.Sprintf("\nextern \"C\" __global__ void __launch_bounds__(%s) %s%s  %s;\n}\n", bounds, name, parameters, call)
}

// exprUnit is the unit of a text in which NAME stands for its name.
func exprUnit(text string) (s *kernel.Source, name string) {
	digest := sha256.Sum256([]byte(text))
	name = "expr_" + hex.EncodeToString(digest[:6])
	text = "// Kernels for an expression, written by expr_text.go.\n#include \"sumcheck/prover/expr.cuh\"\n\n" + strings.ReplaceAll(text, "NAME", name)
	return &kernel.Source{Name: "sumcheck/prover/" + name + ".cu", Text: text, Headers: []*kernel.Source{exprHeader}}, name
}
