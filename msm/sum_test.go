package msm_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/toy61"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

// order of the toy curve.
var order = curve.Toy61Fr.Modulus

// task is a multiplication over the toy curve whose result is known: base i is k[i]
// times the generator.
type task struct {
	k, s []*big.Int
}

func number(r *rand.Rand) *big.Int {
	v := new(big.Int).SetUint64(r.Uint64())
	return v.Mod(v, order)
}

// random is n random numbers.
func random(r *rand.Rand, n int) []*big.Int {
	out := make([]*big.Int, n)
	for i := range out {
		out[i] = number(r)
	}
	return out
}

// multiples caches k G for few different k.
var generator = toy61.G1.Generator

func (t *task) bases() []toy61.G1Affine {
	memo := map[string]toy61.G1Affine{}
	out := make([]toy61.G1Affine, len(t.k))
	for i, k := range t.k {
		p, ok := memo[k.String()]
		if !ok {
			p = toy61.G1.Mul(generator, k)
			memo[k.String()] = p
		}
		out[i] = p
	}
	return out
}

func (t *task) scalars() []fr.Element {
	out := make([]fr.Element, len(t.s))
	for i, s := range t.s {
		out[i].SetBigInt(s)
	}
	return out
}

func (t *task) want() toy61.G1Affine {
	sum := new(big.Int)
	for i := range t.k {
		sum.Add(sum, new(big.Int).Mul(t.k[i], t.s[i]))
	}
	return toy61.G1.Mul(generator, sum.Mod(sum, order))
}

func TestQuick(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, n := range []int{1, 2, 3, 31, 33, 1000, 4097} {
			x := &task{k: random(r, n), s: random(r, n)}
			b, err := msm.New(q.Device(), msmtest.Toy61, x.bases(), msm.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.Sum(context.Background(), x.scalars())
			if err != nil {
				t.Fatal(err)
			}
			if got != x.want() {
				t.Errorf("%d points: wrong", n)
			}
			b.Close()
		}
	})
}
