package poseidon2

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

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
