package bn254

import (
	"context"
	"errors"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

func random(n int) []fr.Element {
	p := make([]fr.Element, n)
	for i := range p {
		p[i].MustSetRandom()
	}
	return p
}

// Values, quotients and sums are those of the definitions, in pieces as in one.
func TestPolynomials(t *testing.T) {
	ctx := context.Background()
	z, gamma := random(1)[0], random(1)[0]
	for _, n := range []int{0, 1, 2, 3, row, row + 1, grain - 1, grain, grain + 1, 3*grain + 7, lockstep * grain, 9*grain + 300} {
		p := random(n)
		var value, power, x fr.Element
		power.SetOne()
		for i := range p {
			value.Add(&value, x.Mul(&power, &p[i]))
			power.Mul(&power, &z)
		}
		if got, err := evaluate(ctx, p, &z); err != nil || got != value {
			t.Errorf("%d coefficients: p(z) is wrong, error %v", n, err)
		}
		q := random(n) // what is there does not matter
		if got, err := divide(ctx, q, p, &z); err != nil || got != value {
			t.Errorf("%d coefficients: the remainder is not p(z), error %v", n, err)
		}
		if n > 0 && q[0] != value {
			t.Errorf("%d coefficients: q[0] is not p(z)", n)
		}
		// p = q (X - z) + p(z), where q begins at q[1].
		for i := range p {
			want := value
			if i > 0 {
				want = q[i]
			}
			if i+1 < n {
				want.Sub(&want, x.Mul(&z, &q[i+1]))
			}
			if p[i] != want {
				t.Fatalf("%d coefficients: coefficient %d of quotient times divisor", n, i)
			}
		}
		list := [][]fr.Element{p, random(n / 2), nil, random(n)}
		sum := random(n)
		if err := fold(ctx, sum, list, &gamma); err != nil {
			t.Fatal(err)
		}
		for j := range sum {
			var want fr.Element
			for i := len(list) - 1; i >= 0; i-- {
				want.Mul(&want, &gamma)
				if j < len(list[i]) {
					want.Add(&want, &list[i][j])
				}
			}
			if sum[j] != want {
				t.Fatalf("%d coefficients: coefficient %d of the sum", n, j)
			}
		}
		if v, err := divide(ctx, p, p, &z); err != nil || v != value {
			t.Errorf("%d coefficients in place: %v", n, err)
		}
		for i := range p {
			if p[i] != q[i] {
				t.Fatalf("%d coefficients in place: coefficient %d", n, i)
			}
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	p := random(3 * grain)
	if _, err := evaluate(ended, p, &z); !errors.Is(err, context.Canceled) {
		t.Errorf("evaluate: %v", err)
	}
	if _, err := divide(ended, p, p, &z); !errors.Is(err, context.Canceled) {
		t.Errorf("divide: %v", err)
	}
	if err := fold(ended, p, [][]fr.Element{p[:1]}, &z); !errors.Is(err, context.Canceled) {
		t.Errorf("fold: %v", err)
	}
}
