package poseidon2

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

// reference is the permutation by its definition, one matrix at a time.
func reference(t *testing.T, width int, in []m31.Element) []m31.Element {
	p, err := M31(width)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Constants()
	matrix := func(m [][]m31.Element, s []m31.Element) []m31.Element {
		out := make([]m31.Element, width)
		for i := range out {
			out[i] = m31.Dot(m[i], s)
		}
		return out
	}
	small := [4][4]m31.Element{{2, 3, 1, 1}, {1, 2, 3, 1}, {1, 1, 2, 3}, {3, 1, 1, 2}}
	external, internal := make([][]m31.Element, width), make([][]m31.Element, width)
	for i := range width {
		external[i], internal[i] = make([]m31.Element, width), make([]m31.Element, width)
		for j := range width {
			external[i][j] = small[i%4][j%4]
			if i/4 == j/4 {
				external[i][j] = external[i][j].Double()
			}
			internal[i][j] = 1
		}
	}
	internal[0][0] = m31.FromInt(-1)
	for i, s := range p.Shifts {
		internal[i+1][i+1] = m31.Element(1).Add(m31.Element(2).Exp(uint64(s)))
	}
	full := func(s []m31.Element, rc []uint32) []m31.Element {
		for i := range s {
			s[i] = s[i].Add(m31.Element(rc[i])).Exp(uint64(p.Degree))
		}
		return matrix(external, s)
	}
	s := matrix(external, in)
	for _, rc := range c.First {
		s = full(s, rc)
	}
	for _, rc := range c.Partial {
		s[0] = s[0].Add(m31.Element(rc)).Exp(uint64(p.Degree))
		s = matrix(internal, s)
	}
	for _, rc := range c.Last {
		s = full(s, rc)
	}
	return s
}

func permute(t *testing.T, in []m31.Element) []m31.Element {
	switch len(in) {
	case 16:
		s := [16]m31.Element(in)
		Permute16(&s)
		return s[:]
	case 24:
		s := [24]m31.Element(in)
		Permute24(&s)
		return s[:]
	}
	t.Fatalf("width %d", len(in))
	return nil
}

func equal(t *testing.T, what string, got, want []m31.Element) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: word %d is %d, want %d", what, i, got[i], want[i])
		}
	}
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/m31.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Width   int
		Kind    string
		In, Out []m31.Element
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 8 {
		t.Fatalf("%d vectors, want 8", len(rows))
	}
	for _, r := range rows {
		if len(r.In) != r.Width || len(r.Out) != r.Width {
			t.Fatalf("%s: %d and %d words", r.Kind, len(r.In), len(r.Out))
		}
		equal(t, r.Kind, permute(t, r.In), r.Out)
		equal(t, r.Kind+" by definition", reference(t, r.Width, r.In), r.Out)
	}
}

func TestAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for _, width := range []int{16, 24} {
		for k := range 200 {
			in := make([]m31.Element, width)
			for i := range in {
				switch (k + i) % 3 { // many words near the ends, where carries are
				case 0:
					in[i] = m31.Element(r.Uint64N(m31.P))
				case 1:
					in[i] = m31.P - 1 - m31.Element(r.Uint64N(2))
				default:
					in[i] = m31.Element(r.Uint64N(2))
				}
			}
			equal(t, "random", permute(t, in), reference(t, width, in))
		}
	}
}

// The S-box at the limits that the permutation relies on.
func TestLazyBounds(t *testing.T) {
	for _, x := range []uint64{0, 1, m31.P - 1, m31.P, m31.P + 1, 1<<31 + 1<<10 - 1} {
		y := sbox(x)
		if y >= 1<<34 {
			t.Fatalf("sbox(%d) = %d", x, y)
		}
		if m31.New(y) != m31.New(x).Exp(5) {
			t.Fatalf("sbox(%d) is wrong", x)
		}
	}
}

// The constants of every round are below P, no two rounds share any, and the
// first of each width is the one other implementations start with.
func TestConstants(t *testing.T) {
	for width, first := range map[int]uint32{16: 0x768bab52, 24: 0x1feaba61} {
		p, err := M31(width)
		if err != nil {
			t.Fatal(err)
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
	if _, err := M31(12); err == nil {
		t.Error("width 12 exists")
	}
}

func BenchmarkPermute16(b *testing.B) {
	var s [16]m31.Element
	for b.Loop() {
		Permute16(&s)
	}
}

func BenchmarkPermute24(b *testing.B) {
	var s [24]m31.Element
	for b.Loop() {
		Permute24(&s)
	}
}

// The words that docs/poseidon2.md prints are those of this package.
func TestDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/poseidon2.md")
	if err != nil {
		t.Fatal(err)
	}
	in := make([]m31.Element, 16)
	for i := range in {
		in[i] = m31.Element(i)
	}
	var want []string
	for _, v := range permute(t, in) {
		want = append(want, fmt.Sprint(v))
	}
	if got := strings.Join(strings.Fields(string(page)), " "); !strings.Contains(got, strings.Join(want, " ")) {
		t.Errorf("the page does not show %v", want)
	}
	for _, width := range []int{16, 24} {
		p, err := M31(width)
		if err != nil {
			t.Fatal(err)
		}
		first := p.Constants().First[0]
		if text := fmt.Sprintf("%d and %d for width %d", first[0], first[1], width); !strings.Contains(string(page), text) {
			t.Errorf("the page does not show %q", text)
		}
	}
}
