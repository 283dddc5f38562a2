package resident

import (
	"context"
	"math/big"
	"testing"

	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/utils"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm/bn254"
)

// The sum over the quotient's coefficients, on one device and on two, with points there
// and not. The points are tⁱ for the index i that has its bits reversed, so that the sum
// is h(t).
func TestQuotient(t *testing.T) {
	d := devicetest.Open(t, "simt")
	const n, given = 64, 57
	domain := fft.NewDomain(n)
	values := make([][]fr.Element, 3)
	for k := range values {
		values[k] = make([]fr.Element, given)
		for i := range values[k] {
			values[k][i].SetUint64(uint64(7919*i + 31*k + 1)).Inverse(&values[k][i])
		}
	}
	for i := range values[2] {
		values[2][i].Mul(&values[0][i], &values[1][i])
	}
	var at [3]fr.Element // of A, B and C at t
	point := fr.NewElement(12345)
	for k, v := range values {
		p := append(append([]fr.Element(nil), v...), make([]fr.Element, n-given)...)
		domain.FFTInverse(p, fft.DIF)
		utils.BitReverse(p)
		for i := n - 1; i >= 0; i-- {
			at[k].Mul(&at[k], &point).Add(&at[k], &p[i])
		}
	}
	var h, z fr.Element
	one := fr.One()
	z.Exp(point, big.NewInt(n)).Sub(&z, &one).Inverse(&z)
	h.Mul(&at[0], &at[1]).Sub(&h, &at[2]).Mul(&h, &z)
	_, _, g, _ := curve.Generators()
	want := curve.BatchScalarMultiplicationG1(&g, []fr.Element{h})[0]

	powers := make([]fr.Element, n)
	powers[0] = one
	for i := 1; i < n; i++ {
		powers[i].Mul(&powers[i-1], &point)
	}
	utils.BitReverse(powers)
	points := curve.BatchScalarMultiplicationG1(&g, powers)[:n-1]
	var generator, coset big.Int
	domain.Generator.BigInt(&generator)
	domain.FrMultiplicativeGen.BigInt(&coset)
	for _, c := range []struct {
		name    string
		devices []*device.Device
		memory  int64
	}{{"one device", []*device.Device{d}, 0}, {"points on the host", []*device.Device{d}, 1}, {"two devices", []*device.Device{d, d}, 0}} {
		before := d.InUse()
		place, err := NewPlace(c.devices, c.memory)
		if err != nil {
			t.Fatal(err)
		}
		q, err := NewQuotient[fr.Element](place, bn254.G1.Group.Scalar, n, &generator, &coset)
		if err != nil || q == nil {
			t.Fatalf("no transforms: %v", err)
		}
		p, err := New(place, bn254.G1, points, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := SumQuotient(context.Background(), q, p, values[0], values[1], values[2]); err != nil || got != want {
			t.Errorf("%s: wrong sum, error %v", c.name, err)
		}
		p.Close()
		q.Close()
		if left := d.InUse() - before; left != 0 {
			t.Errorf("%s: %d bytes are left on the device", c.name, left)
		}
	}
	place, err := NewPlace([]*device.Device{d}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if q, err := NewQuotient[fr.Element](place, bn254.G1.Group.Scalar, n, &generator, big.NewInt(7)); q != nil || err != nil {
		t.Errorf("another coset: %v, error %v", q, err)
	}
}
