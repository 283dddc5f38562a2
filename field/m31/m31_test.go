package m31

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/field/fieldtest"
)

func TestM31(t *testing.T) {
	fieldtest.Run(t, fieldtest.Field[Element]{P: P, Gen: []Element{7}, BatchInverse: BatchInverse})
}

func TestCM31(t *testing.T) {
	fieldtest.Run(t, fieldtest.Field[CM31]{
		P: P, Gen: []CM31{I(), {2, 1}},
		Frobenius: CM31.Conj, FrobeniusInverse: CM31.Conj,
		BatchInverse: BatchInverseCM31,
	})
	for _, a := range fieldtest.Edge[CM31](P) {
		if LiftCM31(a.Norm()) != a.Mul(a.Conj()) {
			t.Fatal("norm")
		}
		if a.MulI() != a.Mul(I()) || a.mulR() != a.Mul(CM31{2, 1}) || a.MulBase(P-3) != a.Mul(LiftCM31(P-3)) {
			t.Fatal("products by constants")
		}
	}
	if I().Square() != LiftCM31(P-1) {
		t.Fatal("i^2 is not -1")
	}
}

func TestQM31(t *testing.T) {
	u := QM31{B: CM31{1, 0}}
	fieldtest.Run(t, fieldtest.Field[QM31]{
		P: P, Gen: []QM31{u, LiftPair(I())},
		Frobenius: QM31.Frobenius, FrobeniusInverse: QM31.FrobeniusInverse,
		BatchInverse: BatchInverseQM31,
	})
	if u.Square() != LiftPair(CM31{2, 1}) {
		t.Fatal("u^2 is not 2+i")
	}
	s := CM31{7, P - 9}
	for _, a := range fieldtest.Edge[QM31](P) {
		if a.MulBase(P-3) != a.Mul(Lift(P-3)) || a.MulCM31(s) != a.Mul(LiftPair(s)) || a.MulI() != a.Mul(LiftPair(I())) {
			t.Fatal("products by smaller fields")
		}
		if FromWords(a.Words()) != a {
			t.Fatal("words")
		}
	}
}

// The Frobenius constants, from their definition.
func TestFrobeniusConstants(t *testing.T) {
	c := CM31{2, 1}.Exp((P - 1) / 2)
	if c != frobU || c.Inverse().Conj() != frobUInv {
		t.Fatalf("got %v and %v", c, c.Inverse().Conj())
	}
}

func TestReduce(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	check := func(x uint64) {
		want := new(big.Int).Mod(new(big.Int).SetUint64(x), big.NewInt(P)).Uint64()
		if uint64(reduce(x)) != want || uint64(reduce(partial(x))) != want {
			t.Fatalf("reduce(%d) = %d", x, reduce(x))
		}
		if x <= (P-1)*(P-1)+P-1 && uint64(reduce62(x)) != want {
			t.Fatalf("reduce62(%d) = %d", x, reduce62(x))
		}
	}
	for s := range 64 {
		for d := uint64(0); d < 5; d++ {
			check(1<<s + d - 2)
			check(P<<s + d - 2)
		}
	}
	check((P-1)*(P-1) + P - 1)
	for range 10000 {
		check(r.Uint64() >> r.IntN(64))
	}
	for _, v := range []int64{0, 1, -1, P, -P, 1<<63 - 1, -1 << 63, 12345, -12345} {
		want := new(big.Int).Mod(big.NewInt(v), big.NewInt(P)).Int64()
		if int64(FromInt(v)) != want {
			t.Fatalf("FromInt(%d) = %d, want %d", v, FromInt(v), want)
		}
		if v > -P/2 && v < P/2 && FromInt(v).Int() != v {
			t.Fatalf("Int(FromInt(%d)) = %d", v, FromInt(v).Int())
		}
	}
}

// Products worked out by hand and by a big-integer program.
func TestKnownProducts(t *testing.T) {
	if got := Element(P - 1).Mul(P - 1); got != 1 {
		t.Fatalf("(-1)^2 = %d", got)
	}
	if got := Element(1 << 16).Mul(1 << 16); got != 2 {
		t.Fatalf("2^32 = %d", got)
	}
	if got := (CM31{1, 2}).Mul(CM31{3, 4}); got != (CM31{P - 5, 10}) {
		t.Fatalf("(1+2i)(3+4i) = %v", got)
	}
	// A: (-7+16i) + (2+i)(-11+52i); B: (-9+22i) + (-9+38i).
	got := QM31{CM31{1, 2}, CM31{3, 4}}.Mul(QM31{CM31{5, 6}, CM31{7, 8}})
	want := QM31{CM31{FromInt(-81), 109}, CM31{FromInt(-18), 60}}
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}
