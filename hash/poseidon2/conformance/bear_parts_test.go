package conformance

import (
	"math/bits"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

func TestBearParts(t *testing.T) {
	t.Run("babybear", func(t *testing.T) { testBearParts(t, poseidon2.BabyBear(), babyUnits.parts, 7) })
	t.Run("koalabear", func(t *testing.T) { testBearParts(t, poseidon2.KoalaBear(), koalaUnits.parts, 3) })
}

// launchParts gives kernel name the words in (and s, if any), and returns rows times
// as many.
func launchParts(t *testing.T, q *device.Queue, source *kernel.Source, name string, rows int, in ...[]uint32) []uint32 {
	t.Helper()
	out, err := device.Alloc[uint32](q, rows*len(in[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Free()
	args := []device.Arg{out.Arg()}
	for _, words := range in {
		b, err := device.Upload(q, words)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		args = append(args, b.Arg())
	}
	n := len(in[0])
	args = append(args, device.U32(uint32(n)))
	if err := q.Launch(device.Kernel{Source: source, Name: name}, device.D1(device.Blocks(n, 128)), device.D1(128), 0, args...); err != nil {
		t.Fatal(err)
	}
	got, err := out.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func testBearParts[W field.Base[W]](t *testing.T, p *poseidon2.Permutation[W], parts *kernel.Source, degree uint64) {
	var zero W
	prime := zero.Modulus()
	two := zero.FromUint64(2)
	power := func(k int) W { // 2^k
		if k < 0 {
			return two.Inverse().Exp(uint64(-k))
		}
		return two.Exp(uint64(k))
	}
	twos := bits.TrailingZeros32(prime - 1)
	// The words of package poseidon2's memory: W's words are residues in Montgomery
	// form, so any residue is an element.
	residue := func(v int64) W { return W(uint32((v%int64(prime) + int64(prime)) % int64(prime))) }

	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(uint64(prime))
		var in []uint32
		for i := range 999 {
			v := int64(g.Below(prime))
			switch i % 4 { // both ends and around 0
			case 0:
				v = int64(prime) - int64(g.Intn(3))
			case 1:
				v = int64(g.Intn(3))
			}
			if i%8 >= 4 {
				v = -v
			}
			in = append(in, uint32(v))
		}
		for i, got := range launchParts(t, q, parts, "poseidon2_sboxes_"+p.Name, 1, in) {
			if want := residue(int64(int32(in[i]))).Exp(degree); W(got) != want {
				t.Fatalf("S-box of %d: %d, want %d", int32(in[i]), got, want)
			}
		}

		s := make([]uint32, len(in))
		for i := range in {
			v := uint64(g.Below(prime))
			switch i % 4 {
			case 0:
				v = uint64(prime) - 1 - uint64(g.Intn(3))
			case 1:
				v = uint64(g.Intn(3))
			}
			s[i] = uint32(v)
			in[i] = uint32(uint64(g.Below(prime)) + uint64(g.Intn(2))*uint64(prime/3))
			switch i / 4 % 4 {
			case 0:
				in[i] = prime/3*4 - uint32(g.Intn(3)) // less than 4/3 P
			case 1:
				in[i] = uint32(g.Intn(3))
			}
		}
		factors := []W{power(-1), power(-2), power(-16), power(-twos), power(-2 * twos), power(-4).Neg(),
			power(0), power(1), zero.FromUint64(9), power(4), zero.FromUint64(9).Mul(power(-1))}
		got := launchParts(t, q, parts, "poseidon2_factors_"+p.Name, len(factors), in, s)
		for k, f := range factors {
			for i := range in {
				want := residue(int64(in[i])).Mul(f).Add(W(s[i]))
				if W(got[k*len(in)+i]) != want {
					t.Fatalf("factor %d: %d and %d become %d, want %d", k, in[i], s[i], got[k*len(in)+i], want)
				}
			}
		}
	})
}
