package prover

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
)

//go:embed expr.cuh
var exprText string

// exprHeader is for the kernels of expressions.
var exprHeader = unit("expr.cuh", exprText, TailHeader)

// prepareExprs has the kernels of expressions compiled side by side. It replaces
// their scalars by all values that depend on scalars alone, where there are more
// of them, which a kernel then works out into the memory that is returned.
func prepareExprs(q *device.Queue, instances []Instance) (out []Instance, memory device.Buffer[uint64], err error) {
	var sources []*kernel.Source
	total := 0
	for _, in := range instances {
		if in.Expr == nil {
			continue
		}
		k := kernelsOf(in.Expr)
		if !slices.Contains(sources, k.source) {
			sources = append(sources, k.source, k.tail.Source)
		}
		if k.scalars.Name != "" {
			total += k.values
		}
	}
	if len(sources) > 0 {
		if err := q.Device().Preload(append(sources, Source)...); err != nil {
			return nil, memory, fmt.Errorf("kernels of expressions, which have to be compiled: %w", err)
		}
	}
	if total == 0 {
		return instances, memory, nil
	}
	all, err := device.Alloc[m31.QM31](q, total)
	if err != nil {
		return nil, memory, err
	}
	out = slices.Clone(instances)
	rest := all
	for j := range out {
		in := &out[j]
		if in.Expr == nil || kernelsOf(in.Expr).scalars.Name == "" {
			continue
		}
		k := kernelsOf(in.Expr)
		values := rest.Slice(0, k.values)
		rest = rest.Slice(k.values, rest.Len())
		if err := q.Launch(k.scalars, device.D1(1), device.D1(32), 0, values.Arg(), in.Coeffs.Arg()); err != nil {
			all.Free()
			return nil, memory, err
		}
		in.Coeffs = values
	}
	return out, device.View[uint64](all), nil
}
