package affine

import (
	"math/big"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

var inverseTemplate = kernel.Template{Name: "msm/internal/affine/inverse_test.cu", Text: `
#include "SCALAR_HEADER"
#include "field/mont/inverse.cuh"

extern "C" __global__ void __launch_bounds__(128) affine_inverse_VARIANT(u32 *out, const u32 *in, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  typedef Mont<SCALAR_FIELD> F;
  reinterpret_cast<F *>(out)[i] = gcd_inverse(reinterpret_cast<const F *>(in)[i]);
}
`}

// The inverse of the fields' hard values and of random ones, against math/big.
func TestInverse(t *testing.T) {
	fields := []*mont.Field{curve.Toy61Fp, curve.Toy61Fr, curve.BN254Fp, curve.BLS12377Fp, curve.BLS12381Fp, curve.BLS12381Fr, curve.BW6761Fp, curve.MNT4753Fp}
	if few() {
		fields = fields[:3]
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, f := range fields {
			p, r := f.Modulus, devicetest.Rand(3)
			// As numbers, not as what they stand for.
			values := []*big.Int{big.NewInt(0), big.NewInt(1), big.NewInt(2), new(big.Int).Rsh(p, 1), new(big.Int).Sub(p, big.NewInt(2)), new(big.Int).Sub(p, big.NewInt(1))}
			for i := 1; i < f.Bits()-1; i++ {
				v := new(big.Int).Lsh(big.NewInt(1), uint(i))
				values = append(values, v, new(big.Int).Sub(v, big.NewInt(1)), new(big.Int).Sub(p, v))
			}
			for range 500 {
				v := f.Int(r.Words(f.Limbs))
				values = append(values, v.Mod(v, p))
			}
			var in []uint32
			for _, v := range values {
				in = append(in, f.Words(v)...)
			}
			out := devicetest.Upload(t, q, in)
			k := device.Kernel{Source: curve.ScalarUnit(f, inverseTemplate, nil, mont.InverseHeader), Name: "affine_inverse_" + f.Name}
			if err := q.Launch(k, device.D1(device.Blocks(len(values), 128)), device.D1(128), 0, out.Arg(), out.Arg(), device.U32(len(values))); err != nil {
				t.Fatal(err)
			}
			got, err := out.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				words := got[i*f.Limbs : (i+1)*f.Limbs]
				if f.Int(words).Cmp(p) >= 0 {
					t.Fatalf("%s: 1/%x is not below the modulus", f.Name, v)
				}
				x, y := f.FromMontgomery(f.Words(v)), f.FromMontgomery(words)
				want := new(big.Int).ModInverse(x, p)
				if want == nil {
					want = new(big.Int)
				}
				if y.Cmp(want) != 0 {
					t.Fatalf("%s: 1/%x: %x, want %x", f.Name, x, y, want)
				}
			}
		}
	})
}
