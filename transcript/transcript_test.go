package transcript

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

// step is one step of the golden file.
type step struct {
	Op    string
	Words []m31.Element
	Hex   string
	Bits  int
	Want  []m31.Element
}

func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Tag   m31.Element
		Steps []step
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	tr := New(g.Tag)
	seen := map[string]int{}
	for i, s := range g.Steps {
		seen[s.Op]++
		var got []m31.Element
		switch s.Op {
		case "absorb":
			tr.Absorb(s.Words)
		case "bytes":
			b, err := hex.DecodeString(s.Hex)
			if err != nil {
				t.Fatal(err)
			}
			tr.AbsorbBytes(b)
		case "squeeze":
			got = []m31.Element{tr.Squeeze()}
		case "challenge":
			w := tr.Challenge().Words()
			got = w[:]
		case "index":
			n, err := tr.Index(s.Bits)
			if err != nil {
				t.Fatal(err)
			}
			got = []m31.Element{m31.Element(n)}
		case "grind":
			check := tr.Clone()
			n, err := tr.Grind(s.Bits)
			if err != nil {
				t.Fatal(err)
			}
			if err := check.CheckWork(s.Bits, n); err != nil || *check != *tr {
				t.Fatalf("step %d: the verifier disagrees: %v", i, err)
			}
			got = n[:]
		case "state":
			st := tr.State()
			got = st[:]
		default:
			t.Fatalf("step %d: %q", i, s.Op)
		}
		if !slices.Equal(got, s.Want) {
			t.Fatalf("step %d, %s: got %v, want %v", i, s.Op, got, s.Want)
		}
	}
	if len(seen) != 7 || seen["grind"] < 8 {
		t.Fatalf("the golden file has %v", seen)
	}
}

// Runs with the same number of absorbs between squeezes, of whatever lengths,
// give different challenges when a list differs.
func TestInjective(t *testing.T) {
	type lists [2][]m31.Element
	seen := map[m31.QM31]lists{}
	try := func(l lists) {
		tr := New(TagTest)
		tr.Absorb(l[0])
		tr.Absorb(l[1])
		c := tr.Challenge()
		if o, ok := seen[c]; ok {
			t.Errorf("%v and %v agree", l, o)
		}
		seen[c] = l
	}
	for a := range 20 {
		for b := range 20 {
			try(lists{make([]m31.Element, a), make([]m31.Element, b)})
			if a > 0 {
				for _, v := range []m31.Element{1, 2, m31.P - 1} {
					x := make([]m31.Element, a)
					x[a-1] = v
					try(lists{x, make([]m31.Element, b)})
				}
			}
		}
	}
	for i, b := range [][]byte{nil, {0}, {0, 0}, {0, 0, 0}, {0, 0, 0, 0}, {1}, {1, 0}, {0, 1}, {255, 255, 255, 255}} {
		for j, c := range [][]byte{nil, {0}, {0, 0}, {0, 0, 0}, {0, 0, 0, 0}, {1}, {1, 0}, {0, 1}, {255, 255, 255, 255}} {
			if same := slices.Equal(BytesToWords[m31.Element](b), BytesToWords[m31.Element](c)); same != (i == j) {
				t.Errorf("%v and %v as words: equal is %v", b, c, same)
			}
		}
	}
}

func TestWork(t *testing.T) {
	tr := New(TagTest)
	good := tr.Clone()
	n, err := good.Grind(6)
	if err != nil {
		t.Fatal(err)
	}
	zeros := 0
	for i := range 40 { // with so little work, many a smallest nonce is 0
		tr.Absorb([]m31.Element{m31.Element(i)})
		bits := 1 + i%4
		n, err := tr.Clone().Grind(bits)
		if err != nil {
			t.Fatal(err)
		}
		for v := m31.Element(0); v < n[0]; v++ {
			if tr.Clone().CheckWork(bits, Nonce{v}) == nil {
				t.Fatalf("%d is a smaller nonce than %d", v, n[0])
			}
		}
		if n == (Nonce{}) {
			zeros++
		}
	}
	if zeros == 0 {
		t.Error("no smallest nonce is 0")
	}
	for _, c := range []struct {
		name string
		bits int
		n    Nonce
		want error
	}{
		{"next nonce", 20, Nonce{n[0] + 1}, ErrWork},
		{"high word", 20, Nonce{n[0], 1}, ErrWork},
		{"not canonical", 6, Nonce{n[0], m31.P}, ErrWork},
		{"not canonical, no work", 0, Nonce{0, m31.P}, ErrWork},
		{"nonce without work", 0, Nonce{1}, ErrWork},
		{"too much work", 31, n, ErrBits},
		{"negative work", -1, Nonce{}, ErrBits},
	} {
		if err := tr.Clone().CheckWork(c.bits, c.n); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	same := tr.Clone()
	// One bit of work comes by itself half of the time, so that some of these
	// pass but for not being canonical.
	for i := range m31.Element(64) {
		for _, n := range []Nonce{{m31.P + i}, {0, m31.P + i}} {
			if err := tr.Clone().CheckWork(1, n); !errors.Is(err, ErrWork) {
				t.Errorf("nonce %v: error %v", n, err)
			}
		}
	}
	if err := same.CheckWork(0, Nonce{}); err != nil || *same != *tr {
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

// Words near P are rejected exactly where they would bias an index.
func TestIndexRejection(t *testing.T) {
	for _, c := range []struct {
		word, next m31.Element
		bits, want int
	}{
		{m31.P - 1, 5, 0, 0},
		{m31.P - 1, 5, 1, 1}, // 2^30-1 pairs below P-1: the word P-1 is thrown away
		{m31.P - 2, 5, 1, 1}, // the last one accepted
		{1<<30 - 1, 5, 30, 1<<30 - 1},
		{1 << 30, 5, 30, 5},
		{3 << 29, 6, 29, 6},
		{3<<29 - 1, 6, 29, 1<<29 - 1},
	} {
		tr := New(TagTest)
		tr.words[0], tr.words[1], tr.left = c.word, c.next, 8
		if got, err := tr.Index(c.bits); err != nil || got != c.want {
			t.Errorf("%d bits of %d: got %d, %v, want %d", c.bits, c.word, got, err, c.want)
		}
	}
}

func TestState(t *testing.T) {
	tr := New(TagTest)
	for i := range 40 {
		back, err := FromState(tr.State())
		if err != nil || *back != *tr {
			t.Fatalf("step %d: %v", i, err)
		}
		if i%3 == 0 {
			tr.Absorb(make([]m31.Element, i))
		} else {
			tr.Squeeze()
		}
	}
	for _, s := range []State{{0: m31.P}, {16: 8}, {17: 9}, {16: 1, 17: 1}} {
		if _, err := FromState(s); !errors.Is(err, ErrState) {
			t.Errorf("%v: %v", s, err)
		}
	}
}

func BenchmarkGrind12(b *testing.B) {
	tr := New(TagTest)
	for b.Loop() {
		tr.Squeeze()
		if _, err := tr.Clone().Grind(12); err != nil {
			b.Fatal(err)
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
		var s State
		for i := range s {
			for j := range 4 {
				if k := 4*i + j; k < len(b) {
					s[i] |= m31.Element(b[k]) << (8 * j)
				}
			}
		}
		tr, err := FromState(s)
		if err != nil {
			if !errors.Is(err, ErrState) {
				t.Fatal(err)
			}
			return
		}
		if tr.State() != s {
			t.Fatalf("%v came back as %v", s, tr.State())
		}
		tr.Absorb([]m31.Element{1})
		if w := tr.Challenge().Words(); m31.CheckCanonical(w[:]) != nil {
			t.Fatalf("challenge %v", w)
		}
	})
}
