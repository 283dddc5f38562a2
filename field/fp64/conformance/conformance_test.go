package conformance

import (
	"math/big"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/fp64"
)

func TestMain(m *testing.M) { devicetest.Main(m, Sources()...) }

// outputs are what the kernel computes from four numbers, modulo p.
func outputs(f *fp64.Field, x [4]*big.Int) []*big.Int {
	p := f.Modulus
	radix := new(big.Int).Lsh(big.NewInt(1), uint(f.Bits*f.Limbs))
	inverse := new(big.Int).ModInverse(radix, p)
	words := new(big.Int).Lsh(big.NewInt(1), uint(32*f.Field.Limbs))
	mod := func(v *big.Int) *big.Int { return v.Mod(v, p) }
	mul := func(a, b *big.Int) *big.Int { v := new(big.Int).Mul(a, b); return mod(v.Mul(v, inverse)) }
	sub := func(a, b *big.Int) *big.Int { return mod(new(big.Int).Sub(a, b)) }
	sqrLess := func(a, b, c *big.Int) *big.Int { return sub(sub(sub(mul(a, a), b), c), c) }
	d := sub(mul(x[0], x[1]), x[2])
	flags := big.NewInt(1)
	if d.Sign() == 0 {
		flags.SetInt64(3)
	}
	out := []*big.Int{
		x[0], mul(x[0], x[1]), mul(mul(x[0], x[1]), mul(x[0], x[1])), sub(x[0], x[1]), mul(sub(x[0], x[1]), sub(x[2], x[3])),
		d, sqrLess(d, mul(x[0], x[2]), mul(x[1], x[3])),
		sub(mul(d, sub(mul(x[0], x[1]), d)), mul(x[2], x[3])), flags,
	}
	a, b, z := x[0], x[1], x[2]
	for range 20 {
		u := sub(mul(z, b), a)
		uu := mul(u, u)
		uuu, v := mul(u, uu), mul(a, uu)
		a = sqrLess(u, uuu, v)
		b = sub(mul(u, sub(v, a)), mul(b, uuu))
		z = mul(z, uu)
	}
	return append(out, a, b, mul(z, mod(words)))
}

func TestOperations(t *testing.T) {
	for _, f := range Fields {
		t.Run(f.Field.Name, func(t *testing.T) {
			devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
				n := 96
				if q.Device().Kind() == device.CUDA {
					n = 1 << 12
				}
				check(t, q, f, numbers(f, n))
			})
		})
	}
}

// numbers are quadruples: of the least and the greatest numbers, of ones with long
// runs of equal bits, whose limbs lie where rounding turns, and random ones.
func numbers(f *fp64.Field, n int) [][4]*big.Int {
	p := f.Modulus
	g := devicetest.Rand(7)
	random := func() *big.Int {
		w := make([]uint32, f.Field.Limbs)
		for i := range w {
			w[i] = g.U32()
		}
		return new(big.Int).Mod(f.Int(w), p)
	}
	var edge []*big.Int
	for k := int64(0); k < 3; k++ {
		edge = append(edge, big.NewInt(k), new(big.Int).Sub(p, big.NewInt(k+1)))
	}
	half := new(big.Int)
	for j := range f.Limbs { // every limb 2^(Bits-1), and one less
		half.SetBit(half, f.Bits*j+f.Bits-1, 1)
	}
	for _, v := range []*big.Int{half, new(big.Int).Sub(half, big.NewInt(1))} {
		edge = append(edge, new(big.Int).Mod(v, p), new(big.Int).And(v, new(big.Int).Rsh(p, 1)))
	}
	var out [][4]*big.Int
	for i := range n {
		var x [4]*big.Int
		for e := range x {
			if x[e] = random(); i < n/2 && g.U32()&3 != 0 {
				x[e] = edge[int(g.U32())%len(edge)]
			}
		}
		if i%7 == 0 { // c = a b, so that the difference is zero
			radix := new(big.Int).Lsh(big.NewInt(1), uint(f.Bits*f.Limbs))
			v := new(big.Int).Mul(x[0], x[1])
			x[2] = v.Mul(v, radix.ModInverse(radix, p)).Mod(v, p)
		}
		out = append(out, x)
	}
	return out
}

func check(t *testing.T, q *device.Queue, f *fp64.Field, in [][4]*big.Int) {
	t.Helper()
	var words []uint32
	for _, x := range in {
		for _, v := range x {
			words = append(words, f.Words(v)...)
		}
	}
	count := len(outputs(f, in[0]))
	src := devicetest.Upload(t, q, words)
	dst := devicetest.Upload(t, q, make([]uint32, len(in)*count*f.Field.Limbs))
	k := device.Kernel{Source: Source(f), Name: "fp64_ops_" + f.Name}
	if err := q.Launch(k, device.D1(device.Blocks(len(in), 64)), device.D1(64), 0, dst.Arg(), src.Arg(), device.U32(len(in)), device.U32(count)); err != nil {
		t.Fatal(err)
	}
	got, err := dst.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range in {
		for o, want := range outputs(f, x) {
			at := (i*count + o) * f.Field.Limbs
			if have := f.Int(got[at : at+f.Field.Limbs]); have.Cmp(want) != 0 {
				t.Fatalf("output %d of %x: got %x, want %x", o, x, have, want)
			}
		}
	}
}
