package poseidon2

import (
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
)

func word(r *rand.Rand, i int) m31.Element {
	switch i % 3 {
	case 0:
		return m31.Element(r.Uint64N(m31.P))
	case 1:
		return m31.P - 1 - m31.Element(r.Uint64N(2))
	}
	return m31.Element(r.Uint64N(2))
}

// Every lane is the single permutation of its state.
func testLanes(t *testing.T) {
	testMany(t)
	r := rand.New(rand.NewPCG(24, 25))
	for n := range 60 {
		var a [16][Lanes]m31.Element
		var b [24][Lanes]m31.Element
		for k := range b {
			for j := range Lanes {
				b[k][j] = word(r, n+k+j)
				if k < 16 {
					a[k][j] = word(r, n*k+j)
				}
			}
		}
		ain, bin := a, b
		PermuteLanes16(&a)
		PermuteLanes24(&b)
		for j := range Lanes {
			var one [16]m31.Element
			for k := range one {
				one[k] = ain[k][j]
			}
			words := one
			permuteWords16(&words)
			if Permute16(&one); one != words {
				t.Fatalf("one state of width 16: %d, want %d", one, words)
			}
			for k := range one {
				if a[k][j] != one[k] {
					t.Fatalf("width 16, lane %d: word %d is %d, want %d", j, k, a[k][j], one[k])
				}
			}
			var two [24]m31.Element
			for k := range two {
				two[k] = bin[k][j]
			}
			Permute24(&two)
			for k := range two {
				if b[k][j] != two[k] {
					t.Fatalf("width 24, lane %d: word %d is %d, want %d", j, k, b[k][j], two[k])
				}
			}
		}
	}
}

func benchmarkLanes(b *testing.B) {
	report := func(b *testing.B) {
		b.ReportMetric(Lanes*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mperm/s")
	}
	b.Run("16", func(b *testing.B) {
		var s [16][Lanes]m31.Element
		for b.Loop() {
			PermuteLanes16(&s)
		}
		report(b)
	})
	b.Run("babybear16", func(b *testing.B) { benchmarkMany(b, BabyBear()) })
	b.Run("koalabear16", func(b *testing.B) { benchmarkMany(b, KoalaBear()) })
	b.Run("24", func(b *testing.B) {
		var s [24][Lanes]m31.Element
		for b.Loop() {
			PermuteLanes24(&s)
		}
		report(b)
	})
}

func benchmarkMany[W field.Base[W]](b *testing.B, p *Permutation[W]) {
	s := make([]W, 16*p.Lanes)
	for b.Loop() {
		p.Many16(s)
	}
	b.ReportMetric(float64(p.Lanes)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mperm/s")
}
