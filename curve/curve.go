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
	//go:embed lanes.cuh
	lanesText string
	//go:embed fp2.cuh
	fp2Text string
	//go:embed group.cuh
	groupText string
	//go:embed edwards.cuh
	edwardsText string
	//go:embed edwards_group.cuh
	edwardsGroupText string
)

// The arithmetic of points and of quadratic extensions.
var (
	Edwards = &kernel.Source{Name: "curve/edwards.cuh", Text: edwardsText, Headers: []*kernel.Source{mont.Header}}

	XYZZ = &kernel.Source{Name: "curve/xyzz.cuh", Text: xyzzText, Headers: []*kernel.Source{mont.Header}}
	// Lanes has additions by several lanes of a warp.
	Lanes = &kernel.Source{Name: "curve/lanes.cuh", Text: lanesText, Headers: []*kernel.Source{Edwards, XYZZ}}
	Fp2   = &kernel.Source{Name: "curve/fp2.cuh", Text: fp2Text, Headers: []*kernel.Source{mont.Header}}
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
	// Edwards, if not nil, makes it the group's twisted Edwards form: given points are
	// (Y - X, Y + X, 2dXY) and sums are in extended coordinates (edwards.cuh). A, B and
	// Generator remain those of the Weierstrass form.
	Edwards *EdwardsForm

	header *kernel.Source
}

// EdwardsForm is how a curve y² = x³ + 1 over a prime field maps to the twisted Edwards
// curve -X² + Y² = 1 + D X² Y² (edwards_group.cuh).
type EdwardsForm struct {
	Root3 *big.Int // a square root of 3
	C     *big.Int // a square root of 3 - 2 Root3: X is C (x + 1)/y
	D     *big.Int
}

// Finish makes the group's header and returns the group.
func (g Group) Finish() *Group {
	if e := g.Edwards; e != nil {
		list := func(v *big.Int) string { return g.list([]*big.Int{v}) }
		g.header = kernel.Template{Name: "curve/edwards_group.cuh", Text: edwardsGroupText}.Unit(g.Name, []string{
			"PARAMS_HEADER", g.Base.Params().Name,
			"COORDINATE", fmt.Sprintf("Mont<%s>", g.Base.Name),
			"D2_WORDS", list(new(big.Int).Lsh(e.D, 1)),
			"ROOT3_WORDS", list(e.Root3),
			"C_WORDS", list(e.C),
		}, g.Base.Params(), Edwards, XYZZ)
		return &g
	}
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

// AffineBytes is the size of a given point.
func (g *Group) AffineBytes() int {
	if g.Edwards != nil {
		return 3 * g.Base.Bytes()
	}
	return 2 * g.Degree * g.Base.Bytes()
}

// XYZZBytes is the size of a sum, in whatever coordinates.
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
