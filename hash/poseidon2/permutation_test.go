package poseidon2

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
)

// define is the permutation by its definition, one matrix at a time.
func define(p Params, in []uint32) []uint32 {
	mod := uint64(p.P)
	small := [4][4]uint64{{2, 3, 1, 1}, {1, 2, 3, 1}, {1, 1, 2, 3}, {3, 1, 1, 2}}
	external := func(i, j int) uint64 {
		if i/4 == j/4 {
			return 2 * small[i%4][j%4]
		}
		return small[i%4][j%4]
	}
	diagonal := p.Internal()
	internal := func(i, j int) uint64 {
		if i == j {
			return (1 + uint64(diagonal[i])) % mod
		}
		return 1
	}
	apply := func(m func(i, j int) uint64, s []uint64) []uint64 {
		out := make([]uint64, len(s))
		for i := range out {
			for j, x := range s {
				out[i] = (out[i] + m(i, j)*x) % mod
			}
		}
		return out
	}
	sbox := func(x uint64) uint64 {
		y := uint64(1)
		for range p.Degree {
			y = y * x % mod
		}
		return y
	}
	full := func(s []uint64, rc []uint32) []uint64 {
		for i := range s {
			s[i] = sbox((s[i] + uint64(rc[i])) % mod)
		}
		return apply(external, s)
	}
	s := make([]uint64, len(in))
	for i, w := range in {
		s[i] = uint64(w)
	}
	c := p.Constants()
	s = apply(external, s)
	for _, rc := range c.First {
		s = full(s, rc)
	}
	for _, rc := range c.Partial {
		s[0] = sbox((s[0] + uint64(rc)) % mod)
		s = apply(internal, s)
	}
	for _, rc := range c.Last {
		s = full(s, rc)
	}
	out := make([]uint32, len(s))
	for i, w := range s {
		out[i] = uint32(w)
	}
	return out
}

// permuted is the permutation of a state of numbers.
func permuted[W field.Base[W]](p *Permutation[W], in []uint32) []uint32 {
	var zero W
	var wide [24]W
	for i, v := range in {
		wide[i] = zero.FromUint64(uint64(v))
	}
	if len(in) == 16 {
		p.Permute16((*[16]W)(wide[:]))
	} else {
		p.Permute24(&wide)
	}
	out := make([]uint32, len(in))
	for i := range out {
		out[i] = wide[i].Uint32()
	}
	return out
}

func forEach(t *testing.T, test func(t *testing.T, s suite)) {
	for _, s := range []suite{
		suiteOf(M31Permutation(), M31, 0x768bab52, 0x1feaba61, m31.P),
		suiteOf(BabyBear(), BabyBearParams, 0x69cbb6af, 0x0fa20c37, babybear.P),
		suiteOf(KoalaBear(), KoalaBearParams, 0x7ee56a48, 0x1d0939dc, koalabear.P),
	} {
		t.Run(s.name, func(t *testing.T) { test(t, s) })
	}
}

// suite is one field's permutations on numbers instead of words.
type suite struct {
	name    string
	p       uint32
	params  func(int) (Params, error)
	permute func([]uint32) []uint32
	many    func([][]uint32) [][]uint32 // as many as the lanes
	lanes   int
	first   map[int]uint32 // the first constant of each width
}

func suiteOf[W field.Base[W]](p *Permutation[W], params func(int) (Params, error), first16, first24, prime uint32) suite {
	return suite{
		name: p.Name, p: prime, params: params, lanes: p.Lanes,
		first:   map[int]uint32{16: first16, 24: first24},
		permute: func(in []uint32) []uint32 { return permuted(p, in) },
		many: func(in [][]uint32) [][]uint32 {
			var zero W
			width := len(in[0])
			s := make([]W, width*p.Lanes)
			for j, state := range in {
				for k, v := range state {
					s[k*p.Lanes+j] = zero.FromUint64(uint64(v))
				}
			}
			if width == 16 {
				p.Many16(s)
			} else {
				p.Many24(s)
			}
			out := make([][]uint32, len(in))
			for j := range out {
				for k := range width {
					out[j] = append(out[j], s[k*p.Lanes+j].Uint32())
				}
			}
			return out
		},
	}
}

// state is a state of numbers many of which are near the ends, where carries are.
func (s suite) state(r *rand.Rand, width, k int) []uint32 {
	out := make([]uint32, width)
	for i := range out {
		switch (k + i) % 3 {
		case 0:
			out[i] = uint32(r.Uint64N(uint64(s.p)))
		case 1:
			out[i] = s.p - 1 - uint32(r.Uint64N(2))
		default:
			out[i] = uint32(r.Uint64N(2))
		}
	}
	return out
}

func TestPermutationVectors(t *testing.T) {
	forEach(t, func(t *testing.T, s suite) {
		text, err := os.ReadFile("testdata/" + s.name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var rows []struct {
			Width   int
			Kind    string
			In, Out []uint32
		}
		if err := json.Unmarshal(text, &rows); err != nil {
			t.Fatal(err)
		}
		if len(rows) != 8 {
			t.Fatalf("%d vectors, want 8", len(rows))
		}
		for _, r := range rows {
			if got := s.permute(r.In); !slices.Equal(got, r.Out) {
				t.Errorf("width %d, %s: got %d, want %d", r.Width, r.Kind, got, r.Out)
			}
			if got := define(known(s.params, r.Width), r.In); !slices.Equal(got, r.Out) {
				t.Errorf("width %d, %s by definition: got %d, want %d", r.Width, r.Kind, got, r.Out)
			}
		}
	})
}

func TestPermutationsByDefinition(t *testing.T) {
	forEach(t, func(t *testing.T, s suite) {
		r := rand.New(rand.NewPCG(4, 5))
		for _, width := range []int{16, 24} {
			p := known(s.params, width)
			for k := range 100 {
				in := s.state(r, width, k)
				if got, want := s.permute(in), define(p, in); !slices.Equal(got, want) {
					t.Fatalf("%d: got %d, want %d", in, got, want)
				}
			}
		}
	})
}

// testMany: every lane is the single permutation of its state.
func testMany(t *testing.T) {
	forEach(t, func(t *testing.T, s suite) {
		r := rand.New(rand.NewPCG(6, 7))
		for _, width := range []int{16, 24} {
			for k := range 10 {
				in := make([][]uint32, s.lanes)
				for j := range in {
					in[j] = s.state(r, width, j+k)
				}
				for j, got := range s.many(in) {
					if want := s.permute(in[j]); !slices.Equal(got, want) {
						t.Fatalf("width %d, lane %d: %d becomes %d, want %d", width, j, in[j], got, want)
					}
				}
			}
		}
	})
}

// The constants of every round are below P, no two rounds share any, and the
// first of each width is the one other implementations start with.
func TestConstants(t *testing.T) {
	forEach(t, func(t *testing.T, s suite) {
		for width, first := range s.first {
			p, err := s.params(width)
			if err != nil {
				t.Fatal(err)
			}
			if p.P != s.p || len(p.Diagonal) != width || p.Internal()[0] != p.P-2 {
				t.Errorf("width %d: parameters %+v", width, p)
			}
			c := p.Constants()
			if c.First[0][0] != first {
				t.Errorf("width %d starts with %#x, want %#x", width, c.First[0][0], first)
			}
			seen := map[uint32]bool{}
			n := 0
			for _, list := range append(append(c.First, c.Last...), c.Partial) {
				for _, v := range list {
					if v >= p.P {
						t.Errorf("width %d: constant %d is not canonical", width, v)
					}
					seen[v] = true
					n++
				}
			}
			if n != 8*width+p.Partial || len(seen) != n {
				t.Errorf("width %d: %d constants, %d of them different", width, n, len(seen))
			}
		}
		if _, err := s.params(12); err == nil {
			t.Error("width 12 exists")
		}
	})
}

// The numbers that docs/poseidon2.md prints are those of this package.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/poseidon2.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	forEach(t, func(t *testing.T, s suite) {
		in := make([]uint32, 16)
		for i := range in {
			in[i] = uint32(i)
		}
		if want := strings.Trim(fmt.Sprint(s.permute(in)), "[]"); !strings.Contains(page, want) {
			t.Errorf("the page does not show %s", want)
		}
		for _, width := range []int{16, 24} {
			p := known(s.params, width)
			first := p.Constants().First[0]
			if want := fmt.Sprintf("%d and %d for width %d", first[0], first[1], width); !strings.Contains(page, want) {
				t.Errorf("the page does not show %q", want)
			}
			if s.name == "m31" && width == 24 {
				continue // its diagonal is not written out
			}
			var diagonal []string
			for _, f := range p.Diagonal[1:] {
				diagonal = append(diagonal, factorText(f, s.name == "m31"))
			}
			if want := strings.Join(diagonal, ", "); !strings.Contains(page, "| "+want+" |") {
				t.Errorf("the page does not show the diagonal %s", want)
			}
		}
	})
}

// factorText is a factor as the page writes it.
func factorText(f Factor, powers bool) string {
	sign := ""
	if f.Times == -1 {
		sign = "-"
	}
	switch {
	case powers:
		return fmt.Sprintf("2^%d", f.Shift)
	case f.Shift >= 0:
		return fmt.Sprint(f.Times << f.Shift)
	case f.Shift == -1:
		return sign + "1/2"
	}
	return fmt.Sprintf("%s2^%d", sign, f.Shift)
}

func BenchmarkPermutations(b *testing.B) {
	b.Run("babybear", func(b *testing.B) { benchmarkPermutation(b, BabyBear()) })
	b.Run("koalabear", func(b *testing.B) { benchmarkPermutation(b, KoalaBear()) })
}

func benchmarkPermutation[W field.Base[W]](b *testing.B, p *Permutation[W]) {
	b.Run("16", func(b *testing.B) {
		var s [16]W
		for b.Loop() {
			p.Permute16(&s)
		}
	})
	b.Run("24", func(b *testing.B) {
		var s [24]W
		for b.Loop() {
			p.Permute24(&s)
		}
	})
}
