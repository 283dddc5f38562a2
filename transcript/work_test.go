package transcript

import (
	"errors"
	"math"
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
)

func TestWork(t *testing.T) {
	test{work(M31()), work(BabyBear4()), work(BabyBear5()), work(KoalaBear4()), work(KoalaBear5())}.run(t)
}

func work[W field.Base[W], E field.Element[E]](v *Variant[W, E]) func(*testing.T) {
	return func(t *testing.T) {
		tr := v.New(TagTest)
		good := tr.Clone()
		n, err := good.Grind(6)
		if err != nil {
			t.Fatal(err)
		}
		zeros := 0
		for i := range 40 { // with so little work, many a smallest nonce is 0
			tr.Absorb(list[W](uint32(i)))
			bits := 1 + i%4
			n, err := tr.Clone().Grind(bits)
			if err != nil {
				t.Fatal(err)
			}
			for x := range n[0].Uint32() {
				if tr.Clone().CheckWork(bits, NonceFrom[W](uint64(x))) == nil {
					t.Fatalf("%d is a smaller nonce than %v", x, n)
				}
			}
			if n == (NonceOf[W]{}) {
				zeros++
			}
		}
		if zeros == 0 {
			t.Error("no smallest nonce is 0")
		}
		one, p := word[W](1), W(modulus[W]())
		for _, c := range []struct {
			name string
			bits int
			n    NonceOf[W]
			want error
		}{
			{"next nonce", 20, NonceOf[W]{n[0].Add(one)}, ErrWork},
			{"high word", 20, NonceOf[W]{n[0], one}, ErrWork},
			{"not canonical", 6, NonceOf[W]{n[0], p}, ErrWork},
			{"not canonical, no work", 0, NonceOf[W]{0, p}, ErrWork},
			{"nonce without work", 0, NonceOf[W]{one}, ErrWork},
			{"too much work", 31, n, ErrBits},
			{"negative work", -1, NonceOf[W]{}, ErrBits},
		} {
			if err := tr.Clone().CheckWork(c.bits, c.n); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		same := tr.Clone()
		// One bit of work comes by itself half of the time, so that some of these
		// pass but for not being canonical.
		for i := range W(64) {
			for _, n := range []NonceOf[W]{{p + i}, {0, p + i}} {
				if err := tr.Clone().CheckWork(1, n); !errors.Is(err, ErrWork) {
					t.Errorf("nonce %v: error %v", n, err)
				}
			}
		}
		if err := same.CheckWork(0, NonceOf[W]{}); err != nil || *same != *tr {
			t.Errorf("no work changed the transcript: %v", err)
		}
		if _, err := tr.Grind(31); !errors.Is(err, ErrBits) {
			t.Errorf("grinding 31 bits: %v", err)
		}
		if _, err := tr.Index(31); !errors.Is(err, ErrBits) {
			t.Errorf("index of 31 bits: %v", err)
		}
		if _, err := tr.Indices(3, -1); !errors.Is(err, ErrBits) {
			t.Errorf("index of -1 bits: %v", err)
		}
	}
}

// Exactly the bits that are due count: work for one bit less is refused half of the
// time, and it belongs to the place in the transcript where it was asked for.
func TestWorkIsExact(t *testing.T) {
	test{exactWork(M31()), exactWork(BabyBear4()), exactWork(BabyBear5()), exactWork(KoalaBear4()), exactWork(KoalaBear5())}.run(t)
}

func exactWork[W field.Base[W], E field.Element[E]](v *Variant[W, E]) func(*testing.T) {
	return func(t *testing.T) {
		const tries, bits = 64, 5
		short, moved := 0, 0
		for i := range uint32(tries) {
			tr := v.New(TagTest)
			tr.Absorb(list[W](i))
			less, err := tr.Clone().Grind(bits - 1)
			if err != nil {
				t.Fatal(err)
			}
			if tr.Clone().CheckWork(bits, less) == nil {
				short++
			}
			enough, err := tr.Clone().Grind(bits)
			if err != nil {
				t.Fatal(err)
			}
			tr.Challenge()
			if tr.CheckWork(bits, enough) == nil {
				moved++
			}
		}
		// 32 and 2 are expected.
		if short < 16 || short > 48 {
			t.Errorf("of %d nonces for %d bits, %d do for %d", tries, bits-1, short, bits)
		}
		if moved > 12 {
			t.Errorf("of %d nonces, %d do after a challenge that they came before", tries, moved)
		}
	}
}

// WorkWorth is what counting gives for a small prime, and close to the bits for ours.
func TestWorkWorth(t *testing.T) {
	const small = 13
	for bits := range 4 {
		good := 0
		for w := range small {
			if w&(1<<bits-1) == 0 {
				good++
			}
		}
		if got, want := WorkWorth(small, bits), math.Log2(small/float64(good)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d bits over %d: worth %v, want %v", bits, small, got, want)
		}
	}
	for _, p := range []uint64{m31.P, babybear.P, koalabear.P} {
		for bits := range MaxWorkBits + 1 {
			if got := float64(bits) - WorkWorth(p, bits); got < 0 || got > 0.1 || bits <= 20 && got > 0.001 {
				t.Errorf("%d bits over %d: worth %v less", bits, p, got)
			}
		}
	}
}

// Words near the modulus are rejected exactly where they would bias an index.
func TestIndexRejection(t *testing.T) {
	test{rejection(M31()), rejection(BabyBear4()), rejection(BabyBear5()), rejection(KoalaBear4()), rejection(KoalaBear5())}.run(t)
}

func rejection[W field.Base[W], E field.Element[E]](v *Variant[W, E]) func(*testing.T) {
	return func(t *testing.T) {
		p := modulus[W]()
		for bits := range MaxIndexBits + 1 {
			size := uint32(1) << bits
			limit := p - p%size // so many words are as many of every index
			for _, c := range []struct{ word, want uint32 }{
				{0, 0}, {size - 1, size - 1}, {limit - 1, size - 1}, {limit, 5 % size}, {p - 1, 5 % size},
			} {
				if c.word >= p {
					continue // nothing is rejected
				}
				if c.word == p-1 && limit == p {
					c.want = size - 1
				}
				tr := v.New(TagTest)
				tr.words[0], tr.words[1], tr.left = word[W](uint64(c.word)), word[W](5), Rate
				if got, err := tr.Index(bits); err != nil || uint32(got) != c.want {
					t.Errorf("%d bits of %d: got %d, %v, want %d", bits, c.word, got, err, c.want)
				}
			}
		}
	}
}

// Indices are uniform where a sampler without rejection would be the most biased:
// of 30 bits, a fifth or more of them twice as likely.
func TestIndexDistribution(t *testing.T) {
	test{distribution(M31()), distribution(BabyBear4()), distribution(BabyBear5()), distribution(KoalaBear4()), distribution(KoalaBear5())}.run(t)
}

func distribution[W field.Base[W], E field.Element[E]](v *Variant[W, E]) func(*testing.T) {
	return func(t *testing.T) {
		const classes, draws = 16, 1 << 14
		var counts [classes]float64
		tr := v.New(TagTest)
		for range draws {
			n, err := tr.Index(30)
			if err != nil {
				t.Fatal(err)
			}
			counts[n>>26]++
		}
		chi := 0.0
		for _, c := range counts {
			chi += (c - draws/classes) * (c - draws/classes) / (draws / classes)
		}
		// With 15 degrees of freedom, 50 is exceeded once in 10^5; one class of
		// twice the size adds about 1000.
		if chi > 50 {
			t.Errorf("chi square %.1f of %v", chi, counts)
		}
	}
}
