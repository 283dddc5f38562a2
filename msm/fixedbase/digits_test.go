package fixedbase

import (
	"math/big"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/mont"
)

// The digits of a scalar, by the places of its entries in the table, are the scalar.
func TestDigits(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		r := devicetest.Rand(8)
		for _, f := range fields {
			for _, bits := range []int{minWindow, 5, 8, 13, 16, 20, 23, maxWindow} {
				w, ok := cut(f, bits)
				if !ok {
					continue
				}
				scalars := []*big.Int{big.NewInt(0), big.NewInt(1), new(big.Int).Sub(f.Modulus, big.NewInt(1)), new(big.Int).Set(w.sum),
					new(big.Int).Sub(w.sum, big.NewInt(1)), new(big.Int).Sub(f.Modulus, w.sum)}
				for range 140 {
					scalars = append(scalars, new(big.Int).Mod(f.Int(r.Words(f.Limbs)), f.Modulus))
				}
				digitsOf(t, q, f, w, scalars)
			}
		}
	})
}

func digitsOf(t *testing.T, q *device.Queue, f *mont.Field, w windows, scalars []*big.Int) {
	t.Helper()
	var in []uint32
	for _, s := range scalars {
		in = append(in, f.Montgomery(s)...)
	}
	n := len(scalars)
	entries, offsets := devicetest.Upload(t, q, make([]uint32, n*w.n)), devicetest.Upload(t, q, make([]uint32, n+1))
	bad := devicetest.Upload(t, q, []uint32{none})
	err := q.Launch(device.Kernel{Source: units[f], Name: "fixedbase_digits_" + f.Name}, device.D1(device.Blocks(n, digitThreads)), device.D1(digitThreads), 4*digitThreads*w.n,
		entries.Arg(), offsets.Arg(), bad.Arg(), devicetest.Upload(t, q, in).Arg(), devicetest.Upload(t, q, f.Words(w.sum)).Arg(),
		device.U32(w.bits), device.U32(w.n), device.U32(n), device.U32(0))
	if err != nil {
		t.Fatal(err)
	}
	places, err := entries.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	from, err := offsets.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	if first, err := bad.Read(q); err != nil || first[0] != none {
		t.Fatalf("%s: scalar %d is bad; %v", f.Name, first, err)
	}
	for i, s := range scalars {
		sum := new(big.Int)
		for k, e := range places[i*w.n : (i+1)*w.n] {
			if e == 0 {
				continue
			}
			multiple := int(e&^(1<<31)) - w.at(k) + 1
			if multiple < 1 || multiple > w.multiples(k) || k == w.n-1 && e>>31 != 0 {
				t.Fatalf("%s: %d windows of %d bits: window %d of %v: entry %#x is not one of its own", f.Name, w.n, w.bits, k, s, e)
			}
			v := new(big.Int).Lsh(big.NewInt(int64(multiple)), uint(k*w.bits))
			if e>>31 != 0 {
				v.Neg(v)
			}
			sum.Add(sum, v)
		}
		if sum.Cmp(s) != 0 {
			t.Errorf("%s: %d windows of %d bits: digits of %v, want %v", f.Name, w.n, w.bits, sum, s)
		}
		if from[i] != uint32(i*w.n) || from[i+1] != uint32((i+1)*w.n) {
			t.Errorf("%s: entries of scalar %d from %d to %d, want %d a scalar", f.Name, i, from[i], from[i+1], w.n)
		}
	}
}

// Every multiple of a window is the sum of a low and a high one that the table is made of,
// none of which needs more bits than a scalar's words have.
func TestParts(t *testing.T) {
	for _, f := range fields {
		for bits := minWindow; bits <= 14; bits++ {
			w, ok := cut(f, bits)
			if !ok {
				continue
			}
			numbers, at := w.numbers(), 0
			next := func(n int) []*big.Int {
				var out []*big.Int
				for range n {
					out = append(out, f.Int(numbers[at:at+f.Limbs]))
					at += f.Limbs
				}
				return out
			}
			for i := range w.n {
				nLow, nHigh := w.parts(i)
				low, high := next(nLow), next(nHigh)
				for e := range w.multiples(i) {
					want := new(big.Int).Lsh(big.NewInt(int64(e+1)), uint(i*w.bits))
					if got := new(big.Int).Add(low[e%nLow], high[e/nLow]); got.Cmp(want) != 0 {
						t.Fatalf("%s: windows of %d bits: multiple %d of window %d is %v, want %v", f.Name, bits, e+1, i, got, want)
					}
				}
			}
			if at != len(numbers) {
				t.Errorf("%s: windows of %d bits: %d words of numbers, %d are used", f.Name, bits, len(numbers), at)
			}
		}
	}
}
