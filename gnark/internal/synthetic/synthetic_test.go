package synthetic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend/groth16"
	gnark "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"
)

func each(t *testing.T, sizes []int, f func(*testing.T, Options)) {
	for _, sparse := range []bool{false, true} {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%d sparse=%v", n, sparse), func(t *testing.T) { f(t, Options{Constraints: n, Sparse: sparse, Seed: 7}) })
		}
	}
}

// TestAsGnarkBuilds builds the same constraints one by one, as gnark's frontend does.
func TestAsGnarkBuilds(t *testing.T) {
	each(t, []int{MinConstraints, 257, 1000, piece + 4321}, func(t *testing.T, o Options) {
		got, _, err := New(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		want := cs.NewR1CS(o.Constraints)
		for _, name := range got.Public {
			want.AddPublicVariable(name)
		}
		for _, name := range got.Secret {
			want.AddSecretVariable(name)
		}
		for _, c := range got.Coefficients {
			want.AddCoeff(want.FromInterface(c))
		}
		id := want.AddBlueprint(&constraint.BlueprintGenericR1C{})
		for _, c := range got.GetR1Cs() {
			if len(c.O) > 0 {
				if wire := want.AddInternalVariable(); c.O[len(c.O)-1].WireID() != wire {
					t.Fatalf("%v: the new wire is %d", c, wire)
				}
			}
			want.AddR1C(c, id)
		}
		if got.NbConstraints != o.Constraints || want.NbConstraints != o.Constraints || got.NbInternalVariables != want.NbInternalVariables {
			t.Errorf("%d constraints and %d products, gnark has %d and %d", got.NbConstraints, got.NbInternalVariables, want.NbConstraints, want.NbInternalVariables)
		}
		if !slices.Equal(got.CallData, want.CallData) || !slices.Equal(got.Instructions, want.Instructions) {
			t.Error("gnark has other instructions")
		}
		if !reflect.DeepEqual(got.Levels, want.Levels) {
			t.Error("gnark has other levels")
		}
		if len(got.Levels) < levels/2 || len(got.Levels) > levels {
			t.Errorf("%d levels", len(got.Levels))
		}
		wires := got.NbInternalVariables + len(got.Secret) + len(got.Public)
		if wires < o.Constraints || wires > o.Constraints+o.Constraints/32+8 {
			t.Errorf("%d wires for %d constraints", wires, o.Constraints)
		}
	})
}

// TestProofs makes keys and a proof with gnark alone.
func TestProofs(t *testing.T) {
	each(t, []int{MinConstraints, 1030}, func(t *testing.T, o Options) {
		r, w, err := New(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		pk, vk, err := groth16.Setup(r)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := groth16.Prove(r, pk, w)
		if err != nil {
			t.Fatal(err)
		}
		public, err := w.Public()
		if err != nil {
			t.Fatal(err)
		}
		if err := groth16.Verify(proof, vk, public); err != nil {
			t.Error(err)
		}
		v := public.Vector().(fr.Vector)
		for i := range v {
			v[i].Double(&v[i])
			if err := groth16.Verify(proof, vk, public); err == nil {
				t.Errorf("the proof is good for another public input %d", i)
			}
			v[i].Halve()
		}
		key := pk.(*gnark.ProvingKey)
		if most := uint64(newShape(o).width + 4); key.NbInfinityA > most || key.NbInfinityB > most {
			t.Errorf("%d and %d of %d points of A and B are at infinity", key.NbInfinityA, key.NbInfinityB, len(key.InfinityA))
		}
	})
}

// TestShares counts wires of 0 or 1, of other small numbers, and the rest.
func TestShares(t *testing.T) {
	const n = 3 << 12
	each(t, []int{n}, func(t *testing.T, o Options) {
		r, w, err := New(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		solved, err := r.Solve(w)
		if err != nil {
			t.Fatal(err)
		}
		var counts [3]int
		ones := 0
		different := map[fr.Element]bool{}
		for _, v := range solved.(*cs.R1CSSolution).W {
			switch {
			case v.IsZero():
				counts[0]++
			case v.IsOne():
				counts[0]++
				ones++
			case v.IsUint64() && v.Uint64() <= 15*15:
				counts[1]++
			default:
				counts[2]++
				different[v] = true
			}
		}
		// All products of numbers that are 0 or 1 are counted as bits: about an eighth.
		want := [3]int{0, 0, n}
		if o.Sparse {
			want = [3]int{n / 2, n / 6, n / 3}
		}
		for i := range want {
			if counts[i] < want[i]-n/24 || counts[i] > want[i]+n/24 {
				t.Errorf("bits, small and other wires: %d, want about %d", counts, want)
				break
			}
		}
		if len(different) != counts[2] {
			t.Errorf("%d of %d values that are not small occur again", counts[2]-len(different), counts[2])
		}
		if o.Sparse && (ones < n/8 || ones > n/3) {
			t.Errorf("%d of %d bits are 1", ones, counts[0])
		}
	})
}

func TestSeeds(t *testing.T) {
	each(t, []int{piece + 99}, func(t *testing.T, o Options) {
		first, w, err := New(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		again, v, err := New(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(first.CallData, again.CallData) || !reflect.DeepEqual(w.Vector(), v.Vector()) || !slices.Equal(first.Coefficients, again.Coefficients) {
			t.Error("equal seeds, different systems")
		}
		o.Seed++
		other, v, err := New(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(first.CallData, other.CallData) || reflect.DeepEqual(w.Vector(), v.Vector()) || slices.Equal(first.Coefficients, other.Coefficients) {
			t.Error("different seeds, equal systems")
		}
	})
}

func TestRefused(t *testing.T) {
	for _, n := range []int{-1, 0, MinConstraints - 1, MaxConstraints + 1} {
		if _, _, err := New(context.Background(), Options{Constraints: n}); err == nil {
			t.Errorf("a system of %d constraints", n)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := New(ctx, Options{Constraints: 1 << 12}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, _, err := New(context.Background(), Options{Constraints: 1 << 20, Sparse: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLargest looks at constraints of systems that are too large to make here: their wires
// are ones of levels before, and numbers fit gnark's.
func TestLargest(t *testing.T) {
	each(t, []int{77_689_757, MaxConstraints}, func(t *testing.T, o Options) {
		s := newShape(o)
		if wires := s.inputs() + s.products; int64(wires) > math.MaxUint32 {
			t.Fatalf("%d wires", wires)
		}
		s.coeffs = coeffs{four: 5, eight: 6}
		var c constraint.R1C
		for i := 0; i < o.Constraints; i += 9973 {
			s.constraint(i, &c)
			own := s.inputs()
			if i >= s.bits {
				own = s.product(i - s.bits)
			}
			start := s.inputs() + (own-s.inputs())/s.width*s.width // of the level
			for _, terms := range []constraint.LinearExpression{c.L, c.R, c.O} {
				for _, x := range terms {
					if wire := x.WireID(); wire >= start && (wire != own || i < s.bits) {
						t.Fatalf("constraint %d, of wire %d in the level from %d, has wire %d", i, own, start, wire)
					}
				}
			}
			if len(c.L) == 0 || len(c.R) == 0 || (len(c.O) == 0) != (i < s.bits) {
				t.Fatalf("constraint %d: %v", i, c)
			}
		}
	})
}
