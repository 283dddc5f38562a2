package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/whir"
)

// Claims of all kinds about tables of different sizes, in one commitment.
func TestStack(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testStack(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testStack(t, kindBabyBear4()) })
}

func testStack[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	s := newSource(90)
	sizes := []int{3, 6, 0, 5, 3}
	stack, err := whir.NewStack(sizes...)
	if err != nil {
		t.Fatal(err)
	}
	if stack.Vars() != 7 {
		t.Fatalf("a stack of 2^%d entries", stack.Vars())
	}
	var tables [][]F
	for _, n := range sizes {
		tables = append(tables, elements[F](s, 1<<n))
	}
	table, err := whir.LayStack(stack, tables...)
	if err != nil {
		t.Fatal(err)
	}
	sc := &scenario[W, F, E]{kind: k, p: params(t, k.config(7, 1, whir.Round{Fold: 3, Shrink: 1, Queries: 5}, whir.Round{Fold: 2, Queries: 4})), tables: [][]F{table}}
	for own := range 2 {
		sc.claims = nil
		for i, n := range sizes {
			weights := []whir.Weight[E]{eqAt(elements[E](s, n))}
			if i == 1 {
				weights = append(weights, selAt(whir.Powers(draw[E](s), n)))
			}
			if i == 3 && own == 1 {
				weights = append(weights, linear[E]{n, draw[E](s), draw[E](s)})
			}
			for _, w := range weights {
				value := k.truth([][]F{tables[i]}, w).Values[0]
				c, err := whir.OnStack(stack, i, whir.Claim[E]{Weight: w, Value: value})
				if err != nil {
					t.Fatal(err)
				}
				if got := k.truth(sc.tables, c.Weight).Values[0]; got != value {
					t.Fatalf("table %d: the claim about the stack has another value", i)
				}
				sc.claims = append(sc.claims, whir.BatchClaim[E]{Weight: c.Weight, Values: []E{value}})
			}
		}
		root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
		if err := sc.verify(root, pf); err != nil {
			t.Fatal(err)
		}
		for i := range sc.claims { // of another part, or of another value
			c := sc.claims[i]
			part := c.Weight.(whir.Part[E])
			part.Prefix ^= 1
			if part.Bits > 0 {
				sc.claims[i].Weight = part
				rejected(t, "another part", sc.verify(root, pf))
			}
			sc.claims[i] = whir.BatchClaim[E]{Weight: c.Weight, Values: []E{c.Values[0].Add(one[E]())}}
			again, lie := sc.prove(t, q, tamper[W, E]{}, k.recorder())
			expect(t, "another value", sc.verify(again, lie), whir.CheckFinalClaim)
			sc.claims[i] = c
		}
	}
}

func TestStackRefused(t *testing.T) {
	for _, sizes := range [][]int{{}, {-1}, {33}, {31, 31, 31}} {
		if _, err := whir.NewStack(sizes...); err == nil {
			t.Errorf("a stack of %v", sizes)
		}
	}
	s, err := whir.NewStack(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := whir.LayStack(s, make([]int, 4)); err == nil {
		t.Error("a table less")
	}
	if _, err := whir.LayStack(s, make([]int, 4), make([]int, 3)); err == nil {
		t.Error("a table of another size")
	}
}
