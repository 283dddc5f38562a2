package bases

import (
	"errors"
	"math/big"
	"testing"
	"unsafe"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/mont"
)

// The generator's authors give this output (Random123, kat_vectors).
func TestPhilox(t *testing.T) {
	if got := philox([4]uint32{}, 0); got != [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8} {
		t.Errorf("%x", got)
	}
	if got := philox([4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0<<32|0xa4093822); got != [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1} {
		t.Errorf("%x", got)
	}
}

// tested are the fields of the groups that are tested.
func tested() []*mont.Field {
	if len(groups()) == 2 {
		return []*mont.Field{curve.Toy61.Scalar, curve.BN254G1.Scalar}
	}
	return fields
}

func TestRandom(t *testing.T) {
	const n, from = 150, 1<<33 - 20
	for _, f := range tested() {
		t.Run(f.Name, func(t *testing.T) {
			devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
				var all []byte
				for _, kind := range Kinds {
					out := room(t, q, n*f.Limbs)
					if err := Random(q, f, out, kind, 0x123456789abcdef0, from); err != nil {
						t.Fatal(err)
					}
					w, err := out.Read(q)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), 4*len(w))...)
				}
				return all
			})
		})
	}
}

// What the kinds are said to be.
func TestKinds(t *testing.T) {
	for _, f := range fields {
		s := newStream(f, 7)
		same := f.Int(s.same)
		const n = 300
		count := map[string]int{}
		for i := range uint64(n) {
			for k, kind := range Kinds {
				v := s.scalar(k, i)
				if f.Int(v).Cmp(f.Modulus) >= 0 {
					t.Fatalf("%s: %s: %x is not reduced", f.Name, kind, v)
				}
				x := f.FromMontgomery(v)
				window := func(v *big.Int) uint64 { return new(big.Int).Rsh(v, hotFrom).Uint64() & (1<<hotBits - 1) }
				switch {
				case kind == "zero-one" && x.Cmp(big.NewInt(1)) <= 0,
					kind == "bits64" && x.BitLen() <= 64,
					kind == "hot-window" && window(x) == window(same),
					x.Cmp(same) == 0:
					count[kind]++
				}
				if x.Cmp(new(big.Int).Rsh(f.Modulus, 1)) > 0 {
					count[kind+" high"]++
				}
			}
		}
		for kind, want := range map[string][2]int{"uniform": {0, 0}, "zero-one": {n, n}, "equal": {n, n}, "bits64": {n, n}, "hot-window": {n, n}, "half": {n / 3, 2 * n / 3},
			"uniform high": {n / 3, 2 * n / 3}} {
			if c := count[kind]; c < want[0] || c > want[1] {
				t.Errorf("%s: %s: %d of %d", f.Name, kind, c, n)
			}
		}
	}
}

func TestDot(t *testing.T) {
	for _, f := range tested() {
		const log, from, n = 3, 5, 140
		r := devicetest.Rand(3)
		elements := func(n int) ([]uint32, []*big.Int) {
			var words []uint32
			var all []*big.Int
			for range n {
				v := f.Int(r.Words(f.Limbs))
				v.Mod(v, f.Modulus)
				words, all = append(words, f.Montgomery(v)...), append(all, v)
			}
			return words, all
		}
		s, si := elements(n)
		low, li := elements(1 << log)
		high, hi := elements((from+n-1)>>log + 1)
		want := new(big.Int)
		for i := range si {
			k := new(big.Int).Add(li[(from+i)%8], hi[(from+i)/8])
			want.Add(want, k.Mul(k, si[i]))
		}
		want.Mod(want, f.Modulus)
		devicetest.Each(t, func(t *testing.T, q *device.Queue) {
			up := func(w []uint32) device.Buffer[uint32] { return devicetest.Upload(t, q, w) }
			got, err := Dot(q, f, up(s), up(low), up(high), log, from)
			if err != nil || got.Cmp(want) != 0 {
				t.Errorf("%s: %v, want %v; %v", f.Name, got, want, err)
			}
		})
	}
}

func TestScalarsRefuse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		f := curve.Toy61Fr
		b := room(t, q, 8)
		dot := func(scalars, low, high, log, from int) error {
			_, err := Dot(q, f, b.Slice(0, scalars), b.Slice(0, low), b.Slice(0, high), log, from)
			return err
		}
		for name, err := range map[string]error{
			"an unknown kind":     Random(q, f, b, "odd", 1, 0),
			"half a scalar":       Random(q, f, b.Slice(0, 3), "half", 1, 0),
			"before the first":    Random(q, f, b, "half", 1, -1),
			"another field":       Random(q, curve.BN254Fp, b, "half", 1, 0),
			"too few low":         dot(8, 4, 8, 2, 0),
			"too few high":        dot(8, 4, 2, 1, 0),
			"high from an offset": dot(4, 4, 4, 1, 3),
			"part of a scalar":    dot(3, 4, 8, 1, 0),
		} {
			if !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if v, err := Dot(q, f, b.Slice(0, 0), b.Slice(0, 4), b.Slice(0, 0), 1, 0); err != nil || v.Sign() != 0 {
			t.Errorf("nothing: %v, %v", v, err)
		}
		if err := Random(q, f, b.Slice(0, 0), "half", 1, 0); err != nil {
			t.Error(err)
		}
	})
}
