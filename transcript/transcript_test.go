package transcript

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
)

// test is one test of all variants.
type test struct {
	m31                    func(*testing.T)
	babyBear4, babyBear5   func(*testing.T)
	koalaBear4, koalaBear5 func(*testing.T)
}

func (x test) run(t *testing.T) {
	t.Run("m31", x.m31)
	t.Run("babybear4", x.babyBear4)
	t.Run("babybear5", x.babyBear5)
	t.Run("koalabear4", x.koalaBear4)
	t.Run("koalabear5", x.koalaBear5)
}

// numbers is the words as plain numbers.
func numbers[W field.Base[W]](list ...W) []uint32 {
	out := make([]uint32, len(list))
	for i, w := range list {
		out[i] = w.Uint32()
	}
	return out
}

// list is the numbers as words.
func list[W field.Base[W]](n ...uint32) []W {
	out := make([]W, len(n))
	for i, v := range n {
		out[i] = word[W](uint64(v))
	}
	return out
}

// step is one step of a golden file, whose words are plain numbers.
type step struct {
	Op    string
	Words []uint32
	Hex   string
	Bits  int
	Want  []uint32
}

func TestGolden(t *testing.T) {
	test{golden(M31(), "golden.json"), golden(BabyBear4(), "golden-babybear4.json"), golden(BabyBear5(), "golden-babybear5.json"),
		golden(KoalaBear4(), "golden-koalabear4.json"), golden(KoalaBear5(), "golden-koalabear5.json")}.run(t)
}

func golden[W field.Base[W], E field.Element[E]](v *Variant[W, E], file string) func(*testing.T) {
	return func(t *testing.T) {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var g struct {
			Tag   uint32
			Steps []step
		}
		if err := json.Unmarshal(text, &g); err != nil {
			t.Fatal(err)
		}
		tr := v.New(g.Tag)
		seen := map[string]int{}
		for i, s := range g.Steps {
			seen[s.Op]++
			var got []uint32
			switch s.Op {
			case "absorb":
				tr.Absorb(list[W](s.Words...))
			case "bytes":
				b, err := hex.DecodeString(s.Hex)
				if err != nil {
					t.Fatal(err)
				}
				tr.AbsorbBytes(b)
			case "digest":
				var d [DigestWords]W
				for i, w := range s.Words {
					d[i] = W(w)
				}
				tr.AbsorbDigest(d, true)
			case "squeeze":
				got = numbers(tr.Squeeze())
			case "challenge":
				got = tr.Challenge().AppendWords(nil)
			case "index":
				n, err := tr.Index(s.Bits)
				if err != nil {
					t.Fatal(err)
				}
				got = []uint32{uint32(n)}
			case "grind":
				check := tr.Clone()
				n, err := tr.Grind(s.Bits)
				if err != nil {
					t.Fatal(err)
				}
				if err := check.CheckWork(s.Bits, n); err != nil || *check != *tr {
					t.Fatalf("step %d: the verifier disagrees: %v", i, err)
				}
				got = numbers(n[:]...)
			case "state":
				st := tr.State()
				got = append(numbers(st[:16]...), uint32(st[16]), uint32(st[17]))
			default:
				t.Fatalf("step %d: %q", i, s.Op)
			}
			if !slices.Equal(got, s.Want) {
				t.Fatalf("step %d, %s: got %v, want %v", i, s.Op, got, s.Want)
			}
		}
		if len(seen) < 7 || seen["grind"] < 8 || v.Field() != "m31" && seen["digest"] == 0 {
			t.Fatalf("the golden file has %v", seen)
		}
	}
}

// Runs with the same number of absorbs between squeezes, of whatever lengths,
// give different challenges when a list differs.
func TestInjective(t *testing.T) {
	test{injective(M31()), injective(BabyBear4()), injective(BabyBear5()), injective(KoalaBear4()), injective(KoalaBear5())}.run(t)
}

func injective[W field.Base[W], E field.Element[E]](v *Variant[W, E]) func(*testing.T) {
	return func(t *testing.T) {
		seen := map[E]string{}
		try := func(a, b []W) {
			tr := v.New(TagTest)
			tr.Absorb(a)
			tr.Absorb(b)
			c, text := tr.Challenge(), fmt.Sprint(a, b)
			if o, ok := seen[c]; ok {
				t.Errorf("%s and %s agree", text, o)
			}
			seen[c] = text
		}
		for a := range 20 {
			for b := range 20 {
				try(make([]W, a), make([]W, b))
				if a > 0 {
					for _, w := range []uint32{1, 2, modulus[W]() - 1} {
						x := make([]W, a)
						x[a-1] = word[W](uint64(w))
						try(x, make([]W, b))
					}
				}
			}
		}
		texts := [][]byte{nil, {0}, {0, 0}, {0, 0, 0}, {0, 0, 0, 0}, {1}, {1, 0}, {0, 1}, {255, 255, 255, 255}}
		for i, b := range texts {
			for j, c := range texts {
				if same := slices.Equal(BytesToWords[W](b), BytesToWords[W](c)); same != (i == j) {
					t.Errorf("%v and %v as words: equal is %v", b, c, same)
				}
			}
		}
		// A digest of bytes counts with all of its bits, one of field elements as a list.
		var zero, p [DigestWords]W
		p[3] = W(modulus[W]()) // no canonical word
		for _, c := range []struct {
			d   [DigestWords]W
			raw bool
		}{{zero, true}, {p, true}, {zero, false}} {
			tr := v.New(TagTest)
			tr.AbsorbDigest(c.d, c.raw)
			r, text := tr.Challenge(), fmt.Sprint("digest", c)
			if o, ok := seen[r]; ok {
				t.Errorf("%s and %s agree", text, o)
			}
			seen[r] = text
		}
		a, b := v.New(TagTest), v.New(TagTest)
		a.AbsorbDigest([DigestWords]W(list[W](1, 2, 3, 4, 5, 6, 7, 8)), false)
		b.Absorb(list[W](1, 2, 3, 4, 5, 6, 7, 8))
		if *a != *b {
			t.Error("a digest of field elements is not its list")
		}
	}
}

// Variants over one field agree on all but the number of words of a challenge.
func TestDegrees(t *testing.T) {
	four, five := BabyBear4().New(TagTest), BabyBear5().New(TagTest)
	for i := range 7 {
		a, b := four.Challenge(), five.Challenge()
		if i == 0 && [4]uint32(a.AppendWords(nil)) != [4]uint32(b.AppendWords(nil)[:4]) {
			t.Errorf("first challenges %v and %v", a, b)
		}
	}
	for range 7 {
		four.Squeeze()
	}
	if four.Squeeze() != five.Squeeze() {
		t.Error("seven quintic challenges are not 35 words")
	}
}

func TestState(t *testing.T) {
	test{states(M31()), states(BabyBear4()), states(BabyBear5()), states(KoalaBear4()), states(KoalaBear5())}.run(t)
}

func states[W field.Base[W], E field.Element[E]](v *Variant[W, E]) func(*testing.T) {
	return func(t *testing.T) {
		tr := v.New(TagTest)
		for i := range 40 {
			back, err := v.FromState(tr.State())
			if err != nil || *back != *tr {
				t.Fatalf("step %d: %v", i, err)
			}
			if i%3 == 0 {
				tr.Absorb(make([]W, i))
			} else {
				tr.Squeeze()
			}
		}
		p := W(modulus[W]())
		for _, s := range []StateOf[W]{{0: p}, {15: p}, {16: 8}, {16: math.MaxUint32}, {17: 9}, {16: 1, 17: 1}} {
			if _, err := v.FromState(s); !errors.Is(err, ErrState) {
				t.Errorf("%v: %v", s, err)
			}
		}
	}
}

func BenchmarkGrind12(b *testing.B) {
	b.Run("m31", grindBenchmark(M31()))
	b.Run("babybear", grindBenchmark(BabyBear4()))
	b.Run("koalabear", grindBenchmark(KoalaBear4()))
}

func grindBenchmark[W field.Base[W], E field.Element[E]](v *Variant[W, E]) func(*testing.B) {
	return func(b *testing.B) {
		tr := v.New(TagTest)
		for b.Loop() {
			tr.Squeeze()
			if _, err := tr.Clone().Grind(12); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A state is accepted exactly if it comes back the same, and then goes on to
// canonical words.
func FuzzFromState(f *testing.F) {
	start := New(TagTest).State()
	f.Add(m31.AppendBytes(nil, start[:]))
	f.Add(make([]byte, 72))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzState(t, M31(), b)
		fuzzState(t, BabyBear5(), b)
	})
}

func fuzzState[W field.Base[W], E field.Element[E]](t *testing.T, v *Variant[W, E], b []byte) {
	var s StateOf[W]
	for i := range s {
		for j := range 4 {
			if k := 4*i + j; k < len(b) {
				s[i] |= W(b[k]) << (8 * j)
			}
		}
	}
	tr, err := v.FromState(s)
	if err != nil {
		if !errors.Is(err, ErrState) {
			t.Fatal(err)
		}
		return
	}
	if tr.State() != s {
		t.Fatalf("%v came back as %v", s, tr.State())
	}
	tr.Absorb(list[W](1))
	if c := tr.Challenge(); canonical(v.Words([]E{c})) != nil {
		t.Fatalf("challenge %v", c)
	}
}
