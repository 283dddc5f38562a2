package prover_test

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/ntt"
	"github.com/zkwarp/zkwarp/ntt/prover"
)

func TestMain(m *testing.M) { devicetest.Main(m, prover.Sources()...) }

// random is n elements of T whose words are all between 1 and p-1.
func random[T any](g *devicetest.Gen, n int, p uint32) []T {
	out := make([]T, n)
	devicetest.Fill(g, words(out), p)
	return out
}

func words[T any](v []T) []uint32 {
	var z T
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(z)/4))
}

// columns is the transform of columns of 2^live coefficients to 2^n values by package
// ntt, each coordinate by itself and in natural order, so by another way than Encode.
func columns[T, W any](t ntt.Transform[W], src []T, n, live int) []T {
	count := len(src) >> live
	out := make([]T, count<<n)
	var z T
	var unit W
	width := int(unsafe.Sizeof(z) / unsafe.Sizeof(unit))
	in := unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(src))), len(src)*width)
	to := unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(out))), len(out)*width)
	for c := range count {
		for k := range width {
			column := make([]W, 1<<n)
			for i := range 1 << live {
				column[i] = in[(c<<live+i)*width+k]
			}
			if err := t.Forward(column, n); err != nil {
				panic(err)
			}
			for j, v := range column {
				to[(c<<n+ntt.Reverse(j, n))*width+k] = v
			}
		}
	}
	return out
}

// kind is a type of element. run transforms random columns, extremes some of words that
// are 0 or p-1.
type kind struct {
	name     string
	run      func(t *testing.T, q *device.Queue, count, n, live int)
	extremes func(t *testing.T, q *device.Queue)
}

func kindOf[T comparable, W any](name string, f prover.Field, t ntt.Transform[W], p uint32) kind {
	encode := func(tt *testing.T, q *device.Queue, coefficients []T, count, n, live int) {
		tt.Helper()
		src := devicetest.Upload(tt, q, coefficients)
		dst := devicetest.Upload(tt, q, random[T](devicetest.Rand(3), count<<n, p))
		must(tt, prover.Encode(q, f, dst, src, count, n, live))
		got, err := dst.Read(q)
		must(tt, err)
		want := columns(t, coefficients, n, live)
		for i := range want {
			if got[i] != want[i] {
				tt.Fatalf("%s, %d columns of 2^%d from 2^%d: at %d %v, want %v", name, count, n, live, i, got[i], want[i])
			}
		}
		if left, err := src.Read(q); err != nil || !slices.Equal(left, coefficients) {
			tt.Fatalf("%s: the coefficients were overwritten (%v)", name, err)
		}
		if live == n {
			must(tt, prover.Forward(q, f, src, n))
			if got, err := src.Read(q); err != nil || !slices.Equal(got, want) {
				tt.Fatalf("%s, 2^%d: in place differs (%v)", name, n, err)
			}
		}
	}
	return kind{
		name: name,
		run: func(tt *testing.T, q *device.Queue, count, n, live int) {
			tt.Helper()
			encode(tt, q, random[T](devicetest.Rand(uint64(n<<8|live)), count<<live, p), count, n, live)
		},
		extremes: func(tt *testing.T, q *device.Queue) {
			tt.Helper()
			g := devicetest.Rand(5)
			for kind := range 4 {
				v := make([]T, 1<<10)
				for i, w := 0, words(v); i < len(w); i++ {
					if kind == 0 || kind == 1 && i&1 == 0 || kind >= 2 && g.Intn(2) == 0 {
						w[i] = p - 1
					}
				}
				encode(tt, q, v, 1, 10, 10)
			}
		},
	}
}

var kinds = []kind{
	kindOf[babybear.Element]("BabyBear", prover.BabyBear, ntt.BabyBear{}, babybear.P),
	kindOf[babybear.E4]("BabyBear^4", prover.BabyBear, ntt.BabyBear{}, babybear.P),
	kindOf[babybear.E5]("BabyBear^5", prover.BabyBear, ntt.BabyBear{}, babybear.P),
	kindOf[koalabear.Element]("KoalaBear", prover.KoalaBear, ntt.KoalaBear{}, koalabear.P),
	kindOf[koalabear.E4]("KoalaBear^4", prover.KoalaBear, ntt.KoalaBear{}, koalabear.P),
	kindOf[koalabear.E5]("KoalaBear^5", prover.KoalaBear, ntt.KoalaBear{}, koalabear.P),
	kindOf[m31.CM31]("CM31", prover.CM31, ntt.CM31{}, m31.P),
	kindOf[m31.QM31]("QM31", prover.CM31, ntt.CM31{}, m31.P),
}

func TestEncode(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, k := range kinds {
			t.Run(k.name, func(t *testing.T) {
				for n := 0; n <= 14; n++ {
					count := 1
					if n < 9 {
						count = 3
					}
					k.run(t, q, count, n, n)
				}
			})
		}
	})
}

func TestZeroPadding(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, k := range kinds {
			t.Run(k.name, func(t *testing.T) {
				for _, n := range []int{5, 9, 13} {
					for live := range n {
						if n < 13 || live%5 == 2 || live >= n-2 {
							k.run(t, q, 1+n%2, n, live)
						}
					}
				}
			})
		}
	})
}

// Sizes that only a GPU does in time; package ntt's transforms are what it is held
// against.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of megabytes")
	}
	q := devicetest.Queue(t, devicetest.Open(t, "cuda"))
	large(t, q, prover.BabyBear, ntt.BabyBear{}, babybear.P, 1, 24, 23)
	large(t, q, prover.BabyBear, ntt.BabyBear{}, babybear.P, 1, 25, 25)
	large(t, q, prover.BabyBear, ntt.BabyBear{}, babybear.P, 1, 27, 26)
	large(t, q, prover.BabyBear, ntt.BabyBear{}, babybear.P, 64, 19, 18)
	large(t, q, prover.KoalaBear, ntt.KoalaBear{}, koalabear.P, 3, 24, 20)
	large(t, q, prover.CM31, ntt.CM31{}, m31.P, 1, 24, 23)
	large(t, q, prover.CM31, ntt.CM31{}, m31.P, 1, 25, 17)
}

func large[W comparable](t *testing.T, q *device.Queue, f prover.Field, host ntt.Transform[W], p uint32, count, n, live int) {
	t.Helper()
	coefficients := random[W](devicetest.Rand(uint64(n)), count<<live, p)
	want := make([]W, count<<n)
	for c := range count {
		copy(want[c<<n:], coefficients[c<<live:(c+1)<<live])
	}
	must(t, host.ForwardReversed(want, n, live))
	src := devicetest.Upload(t, q, coefficients)
	dst, err := device.Alloc[W](q, count<<n)
	must(t, err)
	defer dst.Free()
	must(t, prover.Encode(q, f, dst, src, count, n, live))
	got, err := dst.Read(q)
	must(t, err)
	if !slices.Equal(got, want) {
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%v, %d columns of 2^%d from 2^%d: at %d %v, want %v", f, count, n, live, i, got[i], want[i])
			}
		}
	}
}
