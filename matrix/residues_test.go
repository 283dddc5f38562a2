package matrix

import (
	"math/big"
	mathrand "math/rand"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

func TestModuliAreCoprime(t *testing.T) {
	for i, m := range moduli {
		if m < 129 || m > 256 {
			t.Errorf("%d is no modulus for signed bytes", m)
		}
		for _, n := range moduli[:i] {
			if new(big.Int).GCD(nil, nil, big.NewInt(m), big.NewInt(n)).Cmp(big.NewInt(1)) != 0 {
				t.Errorf("%d and %d have a common factor", m, n)
			}
		}
	}
}

// Every system must hold the sums it is chosen for, and the next smaller one must not.
func TestSystemsHoldTheirSums(t *testing.T) {
	for _, b := range []Bounds{{}, {Right: 128}, {Left: 1 << 14, Right: 127}, {Left: 3, Right: 5}, {Sum: 1 << 29}, {Left: 1 << 10, Right: 1 << 10, Sum: 1 << 40}} {
		for _, depth := range []int{1, 2, 17, 64, 1000, 8192, MaxDepth} {
			s, ok := SystemFor(depth, b)
			if !ok {
				t.Errorf("no system for %d products of %+v", depth, b)
				continue
			}
			// The largest sum there can be, four times.
			left, right := b.Left, b.Right
			if left == 0 {
				left = (m31.P - 1) / 2
			}
			if right == 0 {
				right = (m31.P - 1) / 2
			}
			sum := new(big.Int).Mul(big.NewInt(left), big.NewInt(right))
			sum.Mul(sum, big.NewInt(int64(depth)))
			if b.Sum != 0 && sum.Cmp(big.NewInt(b.Sum)) > 0 {
				sum.SetInt64(b.Sum)
			}
			sum.Lsh(sum, 2)
			product := big.NewInt(1)
			for i, m := range s.Moduli {
				if i == len(s.Moduli)-1 && product.Cmp(sum) >= 0 {
					t.Errorf("%d products of %+v: %d moduli, fewer do", depth, b, len(s.Moduli))
				}
				product.Mul(product, big.NewInt(int64(m.M)))
			}
			if product.Cmp(sum) < 0 {
				t.Errorf("%d products of %+v: %d moduli do not hold the sum", depth, b, len(s.Moduli))
			}
		}
	}
	if s, _ := SystemFor(8192, Bounds{}); len(s.Moduli) != 10 {
		t.Errorf("%d moduli for full products", len(s.Moduli))
	}
	if _, ok := SystemFor(MaxDepth+1, Bounds{Sum: 1}); ok {
		t.Error("a system for sums that overflow 32 bits")
	}
}

// What kernels do with a system's constants, in integers: residues, and back.
func TestRecovery(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range systems() {
		for i := range 2000 {
			x := new(big.Int).Rand(newSource(r), s.limit)
			if i < 2 {
				x.Set(s.limit)
			}
			if i%2 == 1 {
				x.Neg(x)
			}
			var sum int64
			share := int32(1 << 23)
			for _, m := range s.Moduli {
				y := least(new(big.Int).Mul(x, big.NewInt(int64(m.Left0))), int64(m.M))
				if y < -128 || y > 127 {
					t.Fatalf("residue %d modulo %d is no signed byte", y, m.M)
				}
				sum += y * int64(m.Weight)
				share += int32(y) * m.Share
			}
			got := m31.FromInt(sum - int64(share>>24)*int64(s.Product))
			if want := m31.FromInt(least(x, m31.P)); got != want {
				t.Fatalf("%d moduli: %v comes back as %v, want %v", len(s.Moduli), x, got, want)
			}
		}
	}
}

// newSource lets math/big draw from r.
func newSource(r *rand.Rand) *mathrand.Rand { return mathrand.New(source{r}) }

type source struct{ r *rand.Rand }

func (s source) Int63() int64 { return s.r.Int64() }
func (s source) Seed(int64)   {}

// The kernels' quotients, at the ends of their ranges and in between.
func TestResiduesAreLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range systems() {
		for _, m := range s.Moduli {
			for i := range 5000 {
				v := int32(r.Uint32()) >> 1
				switch i {
				case 0:
					v = 1 << 30
				case 1:
					v = -1 << 30
				}
				// Of a sum of products.
				if got, want := v-((int32(int64(v)*int64(m.Magic38)>>32)+32)>>6)*m.M, least(big.NewInt(int64(v)), int64(m.M)); int64(got) != want {
					t.Fatalf("%d modulo %d gives %d, want %d", v, m.M, got, want)
				}
				// Of an entry, times a constant.
				top := (v + 1<<14) >> 15
				x := top*m.Left1 + (v-top<<15)*m.Left0
				got := x - int32((int64(x)*int64(m.Magic32)+1<<31)>>32)*m.M
				if want := least(new(big.Int).Mul(big.NewInt(int64(v)), big.NewInt(int64(m.Left0))), int64(m.M)); int64(got) != want {
					t.Fatalf("%d times %d modulo %d gives %d, want %d", v, m.Left0, m.M, got, want)
				}
			}
		}
	}
}
