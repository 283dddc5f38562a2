// Package curve describes groups of elliptic curve points to kernels: their fields
// and their short Weierstrass equation. Packages below it have the host's side of
// each curve.
package curve

import (
	_ "embed" // kernel sources
	"fmt"
	"math/big"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

var (
	//go:embed xyzz.cuh
	xyzzText string
	//go:embed fp2.cuh
	fp2Text string
	//go:embed group.cuh
	groupText string
)

// The arithmetic of points and of quadratic extensions.
var (
	XYZZ = &kernel.Source{Name: "curve/xyzz.cuh", Text: xyzzText, Headers: []*kernel.Source{mont.Header}}
	Fp2  = &kernel.Source{Name: "curve/fp2.cuh", Text: fp2Text, Headers: []*kernel.Source{mont.Header}}
)

// Group is a group of prime order on the curve y² = x³ + A x + B over Base, or over
// the extension Base[u]/(u² + Minus).
type Group struct {
	Name   string // of its units' variant: "bn254_g1"
	Curve  string // "bn254"
	Base   *mont.Field
	Degree int        // 1, or 2 over the extension
	Minus  uint32     // 0 if Degree is 1
	A, B   []*big.Int // Degree numbers each
	Scalar *mont.Field
	// Generator of the group, x then y, Degree numbers each.
	Generator []*big.Int

	header *kernel.Source
}

// Finish makes the group's header and returns the group.
func (g Group) Finish() *Group {
	coordinate := fmt.Sprintf("Mont<%s>", g.Base.Name)
	if g.Degree == 2 {
		coordinate = fmt.Sprintf("Fp2<%s, %d>", g.Base.Name, g.Minus)
	}
	zero := true
	for _, a := range g.A {
		zero = zero && a.Sign() == 0
	}
	g.header = kernel.Template{Name: "curve/group.cuh", Text: groupText}.Unit(g.Name, []string{
		"PARAMS_HEADER", g.Base.Params().Name,
		"COORDINATE", coordinate,
		"A_IS_ZERO", fmt.Sprint(zero),
		"A_WORDS", g.list(g.A),
		"B_WORDS", g.list(g.B),
	}, g.Base.Params(), Fp2, XYZZ)
	return &g
}

// Header defines struct Group.
func (g *Group) Header() *kernel.Source { return g.header }

// AffineBytes is the size of an affine point.
func (g *Group) AffineBytes() int { return 2 * g.Degree * g.Base.Bytes() }

// XYZZBytes is the size of a sum.
func (g *Group) XYZZBytes() int { return 4 * g.Degree * g.Base.Bytes() }

// Unit is a template's unit for the group: GROUP_HEADER and VARIANT are replaced in
// it, besides the pairs.
func (g *Group) Unit(t kernel.Template, pairs []string, headers ...*kernel.Source) *kernel.Source {
	pairs = append(append([]string(nil), pairs...), "GROUP_HEADER", g.header.Name)
	return t.Unit(g.Name, pairs, append([]*kernel.Source{g.header}, headers...)...)
}

// ScalarUnit is a template's unit for the group's field of scalars: SCALAR_HEADER,
// SCALAR_FIELD and VARIANT (the field's name) are replaced in it, besides the pairs.
func ScalarUnit(f *mont.Field, t kernel.Template, pairs []string, headers ...*kernel.Source) *kernel.Source {
	pairs = append(append([]string(nil), pairs...), "SCALAR_HEADER", f.Params().Name, "SCALAR_FIELD", f.Name)
	return t.Unit(f.Name, pairs, append([]*kernel.Source{f.Params(), mont.Header}, headers...)...)
}

func (g *Group) list(v []*big.Int) string {
	var words []string
	for _, x := range v {
		for _, w := range g.Base.Montgomery(x) {
			words = append(words, fmt.Sprintf("%#xu", w))
		}
	}
	return strings.Join(words, ", ")
}
