package scalar_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"sync"
	"testing"
	"unsafe"

	bls12377 "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	bls12377fft "github.com/consensys/gnark-crypto/ecc/bls12-377/fr/fft"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bls12381fft "github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	bn254 "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	bn254fft "github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	bw6761 "github.com/consensys/gnark-crypto/ecc/bw6-761/fr"
	bw6761fft "github.com/consensys/gnark-crypto/ecc/bw6-761/fr/fft"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/ntt/scalar"
)

func TestMain(m *testing.M) { devicetest.Main(m, scalar.Sources()...) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kind is a field, and what gnark-crypto says a transform gives.
type kind struct {
	field *mont.Field
	want  func(v []uint64, from scalar.Order, inverse, coset bool)
}

func as[E any](v []uint64) []E {
	var z E
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*8/int(unsafe.Sizeof(z)))
}

var kinds = []kind{
	{curve.BN254Fr, func(v []uint64, from scalar.Order, inverse, coset bool) {
		x := as[bn254.Element](v)
		d := bn254fft.NewDomain(uint64(len(x)))
		do, decimation := d.FFT, bn254fft.DIF
		if inverse {
			do = d.FFTInverse
		}
		if from == scalar.Reversed {
			decimation = bn254fft.DIT
		}
		if coset {
			do(x, decimation, bn254fft.OnCoset())
		} else {
			do(x, decimation)
		}
	}},
	{curve.BLS12377Fr, func(v []uint64, from scalar.Order, inverse, coset bool) {
		x := as[bls12377.Element](v)
		d := bls12377fft.NewDomain(uint64(len(x)))
		do, decimation := d.FFT, bls12377fft.DIF
		if inverse {
			do = d.FFTInverse
		}
		if from == scalar.Reversed {
			decimation = bls12377fft.DIT
		}
		if coset {
			do(x, decimation, bls12377fft.OnCoset())
		} else {
			do(x, decimation)
		}
	}},
	{curve.BLS12381Fr, func(v []uint64, from scalar.Order, inverse, coset bool) {
		x := as[bls12381.Element](v)
		d := bls12381fft.NewDomain(uint64(len(x)))
		do, decimation := d.FFT, bls12381fft.DIF
		if inverse {
			do = d.FFTInverse
		}
		if from == scalar.Reversed {
			decimation = bls12381fft.DIT
		}
		if coset {
			do(x, decimation, bls12381fft.OnCoset())
		} else {
			do(x, decimation)
		}
	}},
	{curve.BW6761Fr, func(v []uint64, from scalar.Order, inverse, coset bool) {
		x := as[bw6761.Element](v)
		d := bw6761fft.NewDomain(uint64(len(x)))
		do, decimation := d.FFT, bw6761fft.DIF
		if inverse {
			do = d.FFTInverse
		}
		if from == scalar.Reversed {
			decimation = bw6761fft.DIT
		}
		if coset {
			do(x, decimation, bw6761fft.OnCoset())
		} else {
			do(x, decimation)
		}
	}},
}

// each runs f for every field on every device.
func each(t *testing.T, f func(t *testing.T, q *device.Queue, k kind)) {
	t.Helper()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, k := range kinds {
			t.Run(k.field.Name, func(t *testing.T) { f(t, q, k) })
		}
	})
}

// random is n elements of f in Montgomery form, some of them 0, 1 and -1.
func random(f *mont.Field, n int, seed uint64) []uint64 {
	g := devicetest.Rand(seed)
	words := f.Limbs / 2
	out := make([]uint64, n*words)
	special := [][]uint64{element(f, big.NewInt(0)), element(f, big.NewInt(1)), element(f, big.NewInt(-1))}
	top := uint64(1)<<(f.Bits()-1-64*(words-1)) - 1 // below the modulus
	for i := range n {
		x := out[i*words : (i+1)*words]
		for j := range x {
			x[j] = g.U64()
		}
		x[words-1] &= top
		if k := g.Intn(16); k < len(special) {
			copy(x, special[k])
		}
	}
	return out
}

// element is the words of v mod p in Montgomery form.
func element(f *mont.Field, v *big.Int) []uint64 {
	w := f.Montgomery(v)
	out := make([]uint64, len(w)/2)
	for i := range out {
		out[i] = uint64(w[2*i+1])<<32 | uint64(w[2*i])
	}
	return out
}

// numbers are what elements stand for.
func numbers(f *mont.Field, v []uint64) []*big.Int {
	var out []*big.Int
	for ; len(v) > 0; v = v[f.Limbs/2:] {
		var w []uint32
		for _, x := range v[:f.Limbs/2] {
			w = append(w, uint32(x), uint32(x>>32))
		}
		out = append(out, f.FromMontgomery(w))
	}
	return out
}

func on(t testing.TB, q *device.Queue, f *mont.Field, log int) *scalar.Transform {
	t.Helper()
	d, err := scalar.New(f, log)
	must(t, err)
	s, err := d.On(q)
	must(t, err)
	t.Cleanup(s.Free)
	return s
}

// Every transform is gnark-crypto's, and undone by the one the other way.
func TestTransforms(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, k kind) {
		logs := []int{0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12}
		if k.field.Limbs > 8 && !q.OnHost() {
			logs = []int{0, 1, 2, 3, 4, 5, 8, 11}
		}
		for _, log := range logs {
			transforms(t, q, k, on(t, q, k.field, log))
		}
	})
}

// The same with small tiles and tables, for many passes.
func TestPasses(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, k kind) {
		for _, size := range [][2]int{{5, 5}, {6, 5}, {7, 5}, {8, 5}, {9, 5}, {10, 5}, {9, 7}, {10, 7}} {
			d, err := scalar.NewSmall(k.field, size[0], size[1])
			must(t, err)
			s, err := d.On(q)
			must(t, err)
			defer s.Free()
			transforms(t, q, k, s)
		}
	})
}

// Elements whose words are the largest there are, where sums that are not reduced come
// closest to what words hold.
func TestExtremes(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, k kind) {
		f := k.field
		largest := make([]uint64, f.Limbs/2)
		for i, w := range f.Words(new(big.Int).Sub(f.Modulus, big.NewInt(1))) {
			largest[i/2] |= uint64(w) << (32 * (i % 2))
		}
		for pattern := range 4 {
			g := devicetest.Rand(uint64(pattern))
			v := make([]uint64, f.Limbs/2<<7)
			for i := 0; i < len(v); i += len(largest) {
				if pattern == 0 || pattern == 1 && i/len(largest)%2 == 0 || pattern > 1 && g.Intn(2) == 0 {
					copy(v[i:], largest)
				}
			}
			check(t, q, k, on(t, q, f, 7), v)
		}
	})
}

// Sizes that only a GPU does in time.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("a gigabyte")
	}
	q := devicetest.Queue(t, devicetest.Open(t, "cuda"))
	for _, k := range kinds {
		for _, log := range []int{18, 20, 21} {
			transforms(t, q, k, on(t, q, k.field, log))
		}
	}
}

// A monomial's values are powers of the root, whatever the size.
func TestMonomials(t *testing.T) {
	if testing.Short() {
		t.Skip("gigabytes")
	}
	q := devicetest.Queue(t, devicetest.Open(t, "cuda"))
	for _, x := range []struct {
		k   kind
		log int
	}{{kinds[0], 24}, {kinds[0], 27}, {kinds[3], 25}} {
		f := x.k.field
		s := on(t, q, f, x.log)
		buf, err := device.Alloc[uint64](q, s.Domain().Words())
		must(t, err)
		defer buf.Free()
		must(t, buf.Zero(q))
		words, degree := f.Limbs/2, 1<<x.log-12345
		five := element(f, big.NewInt(5))
		must(t, buf.Slice(degree*words, (degree+1)*words).CopyFrom(q, five))
		must(t, s.Forward(q, buf, scalar.Natural, true))
		g := devicetest.Rand(uint64(x.log))
		for range 200 {
			i := g.Intn(1 << x.log)
			at := int(bits.Reverse32(uint32(i)) >> (32 - x.log))
			got, err := buf.Slice(at*words, (at+1)*words).Read(q)
			must(t, err)
			p := f.Modulus
			want := new(big.Int).Exp(s.Domain().Generator(), big.NewInt(int64(i)), p)
			want.Exp(want.Mul(want, s.Domain().CosetGenerator()), big.NewInt(int64(degree)), p)
			same(t, f, fmt.Sprintf("2^%d, value %d", x.log, i), got, element(f, want.Mul(want, big.NewInt(5))))
		}
		must(t, s.Inverse(q, buf, scalar.Reversed, true))
		const piece = 1 << 20
		for at := 0; at < 1<<x.log; at += piece {
			got, err := buf.Slice(at*words, (at+piece)*words).Read(q)
			must(t, err)
			want := make([]uint64, piece*words)
			if i := degree - at; i >= 0 && i < piece {
				copy(want[i*words:], five)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("2^%d: coefficients from %d are wrong", x.log, at)
			}
		}
		buf.Free()
	}
}

func transforms(t *testing.T, q *device.Queue, k kind, s *scalar.Transform) {
	t.Helper()
	log := s.Domain().Log()
	check(t, q, k, s, random(k.field, 1<<log, uint64(log)))
}

func check(t *testing.T, q *device.Queue, k kind, s *scalar.Transform, v []uint64) {
	t.Helper()
	log := s.Domain().Log()
	for _, from := range []scalar.Order{scalar.Natural, scalar.Reversed} {
		for which := range 4 {
			inverse, coset := which&1 != 0, which&2 != 0
			name := fmt.Sprintf("2^%d, from %v, inverse %v, coset %v", log, from, inverse, coset)
			want := slices.Clone(v)
			k.want(want, from, inverse, coset)
			buf, err := device.Upload(q, v)
			must(t, err)
			defer buf.Free()
			do, undo := s.Forward, s.Inverse
			if inverse {
				do, undo = undo, do
			}
			must(t, do(q, buf, from, coset))
			got, err := buf.Read(q)
			must(t, err)
			same(t, k.field, name, got, want)
			must(t, undo(q, buf, 1-from, coset))
			got, err = buf.Read(q)
			must(t, err)
			same(t, k.field, name+", and back", got, v)
		}
	}
}

func same(t *testing.T, f *mont.Field, name string, got, want []uint64) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: word %d of element %d is %#x, want %#x", name, i%(f.Limbs/2), i/(f.Limbs/2), got[i], want[i])
		}
	}
}

// What a transform means: values of a polynomial, by Horner's rule.
func TestValues(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, k kind) {
		const log = 3
		s := on(t, q, k.field, log)
		d, p := s.Domain(), k.field.Modulus
		coefficients := random(k.field, 1<<log, 5)
		c := numbers(k.field, coefficients)
		for _, coset := range []bool{false, true} {
			buf := devicetest.Upload(t, q, coefficients)
			must(t, s.Forward(q, buf, scalar.Natural, coset))
			must(t, s.Reverse(q, buf))
			got, err := buf.Read(q)
			must(t, err)
			x := big.NewInt(1)
			if coset {
				x = d.CosetGenerator()
			}
			for i, y := range numbers(k.field, got) {
				want := new(big.Int)
				for j := len(c) - 1; j >= 0; j-- {
					want.Mod(want.Add(want.Mul(want, x), c[j]), p)
				}
				if y.Cmp(want) != 0 {
					t.Fatalf("coset %v: value %d is %v, want %v", coset, i, y, want)
				}
				x.Mod(x.Mul(x, d.Generator()), p)
			}
		}
	})
}

// Bit reversal moves each element once, within a block of threads and from one to another.
func TestReverse(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, k kind) {
		words := k.field.Limbs / 2
		for _, log := range []int{0, 1, 4, 8, 9, 11} {
			n := 1 << log
			s := on(t, q, k.field, log)
			v := random(k.field, n, uint64(40+log))
			want := make([]uint64, len(v))
			for i := range n {
				j := 0
				for b := range log {
					j |= i >> b & 1 << (log - 1 - b)
				}
				copy(want[j*words:(j+1)*words], v[i*words:])
			}
			buf := devicetest.Upload(t, q, v)
			for _, want := range [][]uint64{want, v} {
				must(t, s.Reverse(q, buf))
				got, err := buf.Read(q)
				must(t, err)
				same(t, k.field, fmt.Sprintf("2^%d", log), got, want)
			}
		}
	})
}

// The quotient of a product of polynomials by X^n - 1, divided by hand.
func TestQuotient(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, k kind) {
		p, words := k.field.Modulus, k.field.Limbs/2
		for _, log := range []int{1, 2, 5, 6} {
			n := 1 << log
			s := on(t, q, k.field, log)
			values := func(coefficients []uint64) []uint64 {
				v := slices.Clone(coefficients)
				k.want(v, scalar.Natural, false, false)
				b := devicetest.Upload(t, q, v)
				must(t, s.Reverse(q, b))
				v, err := b.Read(q)
				must(t, err)
				return v
			}
			polyA, polyB := random(k.field, n, 7), random(k.field, n, 8)
			// C is what leaves no rest: A B modulo X^n - 1. H is then the upper half of A B.
			product := make([]*big.Int, 2*n)
			for i := range product {
				product[i] = new(big.Int)
			}
			for i, x := range numbers(k.field, polyA) {
				for j, y := range numbers(k.field, polyB) {
					z := product[i+j]
					z.Mod(z.Add(z, new(big.Int).Mul(x, y)), p)
				}
			}
			want := make([]uint64, n*words)
			polyC := make([]uint64, 0, n*words)
			for i := range n {
				copy(want[i*words:], element(k.field, product[n+i]))
				polyC = append(polyC, element(k.field, new(big.Int).Add(product[i], product[n+i]))...)
			}
			a, b, c := devicetest.Upload(t, q, values(polyA)), devicetest.Upload(t, q, values(polyB)), devicetest.Upload(t, q, values(polyC))
			must(t, s.Quotient(q, a, b, c))
			must(t, s.Reverse(q, a))
			got, err := a.Read(q)
			must(t, err)
			same(t, k.field, fmt.Sprintf("2^%d", log), got, want)

			a, b, c = devicetest.Upload(t, q, values(polyA)), devicetest.Upload(t, q, values(polyB)), devicetest.Upload(t, q, values(polyC))
			must(t, s.ToCoset(q, a))
			must(t, s.ToCoset(q, b))
			must(t, s.Rest(q, c))
			must(t, s.QuotientOfRest(q, a, b, c))
			must(t, s.Reverse(q, a))
			got, err = a.Read(q)
			must(t, err)
			same(t, k.field, fmt.Sprintf("2^%d, in parts", log), got, want)
		}
	})
}

// Where the division leaves a rest the quotient is still that of gnark, which computes with values on
// the coset alone.
func TestQuotientOfAnything(t *testing.T) {
	each(t, func(t *testing.T, q *device.Queue, k kind) {
		p := k.field.Modulus
		for _, log := range []int{0, 1, 4, 9, 11} {
			n := 1 << log
			s := on(t, q, k.field, log)
			if log == 9 {
				d, err := scalar.NewSmall(k.field, log, 6)
				must(t, err)
				s, err = d.On(q)
				must(t, err)
				defer s.Free()
			}
			var in [3][]uint64
			var onCoset [3][]*big.Int
			var buf [3]device.Buffer[uint64]
			for i := range in {
				in[i] = random(k.field, n, uint64(20+i))
				buf[i] = devicetest.Upload(t, q, in[i])
				v := slices.Clone(in[i])
				k.want(v, scalar.Natural, true, false)
				k.want(v, scalar.Reversed, false, true)
				onCoset[i] = numbers(k.field, v)
			}
			divisor := new(big.Int).Exp(s.Domain().CosetGenerator(), big.NewInt(int64(n)), p)
			divisor.ModInverse(divisor.Sub(divisor, big.NewInt(1)), p)
			var want []uint64
			for i := range n {
				z := new(big.Int).Mul(onCoset[0][i], onCoset[1][i])
				want = append(want, element(k.field, z.Mul(z.Sub(z, onCoset[2][i]), divisor))...)
			}
			k.want(want, scalar.Natural, true, true)
			there := devicetest.Upload(t, q, in[0])
			must(t, s.ToCoset(q, there))
			values, err := there.Read(q)
			must(t, err)
			for i, v := range numbers(k.field, values) {
				if v.Cmp(onCoset[0][i]) != 0 {
					t.Fatalf("2^%d: value %d on the coset is %v, want %v", log, i, v, onCoset[0][i])
				}
			}
			must(t, s.Quotient(q, buf[0], buf[1], buf[2]))
			got, err := buf[0].Read(q)
			must(t, err)
			same(t, k.field, fmt.Sprintf("2^%d", log), got, want)
		}
	})
}

// usage fails the test unless err says that the caller is wrong.
func usage(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, device.ErrUsage) {
		t.Errorf("%s: %v, want ErrUsage", what, err)
	}
}

func TestUsage(t *testing.T) {
	for what, x := range map[string]struct {
		f   *mont.Field
		log int
	}{"no field": {nil, 4}, "a field of coordinates": {curve.BN254Fp, 4}, "2^-1": {curve.BN254Fr, -1}, "2^28": {curve.BN254Fr, scalar.MaxLog + 1}} {
		_, err := scalar.New(x.f, x.log)
		usage(t, what, err)
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		s := on(t, q, curve.BN254Fr, 4)
		words := s.Domain().Words()
		if words != 64 {
			t.Fatalf("16 elements of 4 words are %d", words)
		}
		good := func() device.Buffer[uint64] { return devicetest.Upload(t, q, make([]uint64, words)) }
		strange := devicetest.Strange[uint64](t, q, words)
		strange["short"] = good().Slice(0, words-1)
		strange["empty"] = device.Buffer[uint64]{}
		for what, b := range strange {
			usage(t, what+", forward", s.Forward(q, b, scalar.Natural, false))
			usage(t, what+", inverse", s.Inverse(q, b, scalar.Reversed, true))
			usage(t, what+", reversal", s.Reverse(q, b))
			usage(t, what+", to the coset", s.ToCoset(q, b))
			usage(t, what+", b on the coset", s.QuotientOnCoset(q, good(), b, good()))
			usage(t, what+", rest", s.Rest(q, b))
			usage(t, what+", c as rest", s.QuotientOfRest(q, good(), good(), b))
			usage(t, what+", a", s.Quotient(q, b, good(), good()))
			usage(t, what+", c", s.Quotient(q, good(), good(), b))
		}
		one := good()
		usage(t, "a buffer twice", s.Quotient(q, one, good(), one))
		usage(t, "no order", s.Forward(q, one, scalar.Order(2), false))
		other := "cpu"
		if q.OnHost() {
			other = "simt"
		}
		foreign := devicetest.Queue(t, devicetest.Open(t, other))
		usage(t, "a queue of another device", s.Forward(foreign, devicetest.Upload(t, foreign, make([]uint64, words)), scalar.Natural, false))
	})
}

// Queues share a transform, each with buffers of its own.
func TestConcurrently(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		const log = 6
		k := kinds[0]
		s := on(t, q, k.field, log)
		var group sync.WaitGroup
		for i := range 4 {
			own := devicetest.Queue(t, q.Device())
			v := random(k.field, 1<<log, uint64(30+i))
			buf := devicetest.Upload(t, own, v)
			want := slices.Clone(v)
			group.Go(func() {
				for range 4 {
					k.want(want, scalar.Natural, false, true)
					if err := s.Forward(own, buf, scalar.Natural, true); err != nil {
						t.Error(err)
					}
					if got, err := buf.Read(own); err != nil || !slices.Equal(got, want) {
						t.Errorf("queue %d: wrong values (%v)", i, err)
					}
				}
			})
		}
		group.Wait()
	})
}

func TestCancelled(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		s := on(t, q, curve.BN254Fr, 4)
		ctx, cancel := context.WithCancel(context.Background())
		late, err := q.Device().NewQueue(ctx)
		must(t, err)
		buf, err := device.Upload(late, make([]uint64, s.Domain().Words()))
		must(t, err)
		defer buf.Free()
		cancel()
		if err := s.Forward(late, buf, scalar.Natural, false); !errors.Is(err, context.Canceled) {
			t.Errorf("forward on a queue that ended: %v", err)
		}
		if _, err := s.Domain().On(late); !errors.Is(err, context.Canceled) {
			t.Errorf("tables on a queue that ended: %v", err)
		}
		_ = late.Close() // says the same
	})
}

// Tables that do not fit leave nothing behind.
func TestNoMemory(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		dev := q.Device()
		defer dev.SetBudget(0)
		d, err := scalar.New(curve.BN254Fr, 11)
		must(t, err)
		used := dev.InUse()
		for _, budget := range []int64{1, 40 << 10, 100 << 10} {
			dev.SetBudget(used + budget)
			if s, err := d.On(q); !errors.Is(err, device.ErrNoMemory) || s != nil {
				t.Errorf("%d bytes: %v, want ErrNoMemory", budget, err)
			}
			if left := dev.InUse() - used; left != 0 {
				t.Errorf("%d bytes: %d are left behind", budget, left)
			}
		}
	})
}

func TestTablesAreCounted(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		d, err := scalar.New(curve.BW6761Fr, 11)
		must(t, err)
		before := q.Device().InUse()
		s, err := d.On(q)
		must(t, err)
		if got := q.Device().InUse() - before; got != s.Bytes() || got == 0 {
			t.Errorf("tables take %d bytes, say %d", got, s.Bytes())
		}
		s.Free()
		if got := q.Device().InUse(); got != before {
			t.Errorf("%d bytes are left behind", got-before)
		}
	})
}
