package tower

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
)

// words is the elements' words.
func words(list ...gf2.Element) []uint32 {
	var out []uint32
	for _, e := range list {
		out = e.AppendWords(out)
	}
	return out
}

func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Label Label
		Steps []struct {
			Op      string
			Words   []uint32
			Hex     string
			N, Bits int
			Want    []uint32
		}
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	if g.Label != LabelTest {
		t.Fatalf("label %q, want %q", g.Label, LabelTest)
	}
	tr := New(g.Label)
	seen := map[string]int{}
	for i, s := range g.Steps {
		seen[s.Op]++
		var got []uint32
		switch s.Op {
		case "absorb":
			if len(s.Words)%4 == 0 && i%2 == 0 { // elements are their words
				list := make([]gf2.Element, len(s.Words)/4)
				for k := range list {
					w := s.Words[4*k:]
					list[k] = gf2.Element{Lo: uint64(w[0]) | uint64(w[1])<<32, Hi: uint64(w[2]) | uint64(w[3])<<32}
				}
				tr.Absorb(list)
			} else {
				tr.AbsorbWords(s.Words)
			}
		case "bytes":
			b, err := hex.DecodeString(s.Hex)
			if err != nil {
				t.Fatal(err)
			}
			tr.AbsorbBytes(b)
		case "challenge":
			got = words(tr.Challenge())
		case "indices":
			if got, err = tr.Indices(s.N, s.Bits); err != nil {
				t.Fatal(err)
			}
		case "grind":
			check := tr.Clone()
			n, err := tr.Grind(context.Background(), s.Bits)
			if err != nil {
				t.Fatal(err)
			}
			if err := check.CheckWork(s.Bits, n); err != nil || *check != *tr {
				t.Fatalf("step %d: the verifier disagrees: %v", i, err)
			}
			got = []uint32{uint32(n), uint32(n >> 32)}
		case "state":
			st := tr.State()
			got = append(slices.Clone(st[:8]), st[16])
		default:
			t.Fatalf("step %d: unknown operation %q", i, s.Op)
		}
		if !slices.Equal(got, s.Want) {
			t.Fatalf("step %d, %s: got %x, want %x", i, s.Op, got, s.Want)
		}
	}
	for op, n := range map[string]int{"absorb": 10, "bytes": 5, "challenge": 20, "indices": 5, "grind": 5, "state": 10} {
		if seen[op] < n {
			t.Errorf("%d steps of kind %s, want at least %d", seen[op], op, n)
		}
	}
}

// Different sequences of calls lead to different states: all sequences of up to three
// calls out of these. (A challenge that the last step has at hand leaves no trace.)
func TestInjective(t *testing.T) {
	calls := []func(*Transcript){
		func(tr *Transcript) { tr.AbsorbWords(nil) },
		func(tr *Transcript) { tr.AbsorbWords([]uint32{0}) },
		func(tr *Transcript) { tr.AbsorbWords([]uint32{0, 0}) },
		func(tr *Transcript) { tr.AbsorbWords(make([]uint32, 16)) },
		func(tr *Transcript) { tr.AbsorbWords(make([]uint32, 17)) },
		func(tr *Transcript) { tr.AbsorbWords(make([]uint32, 256)) },
		func(tr *Transcript) { tr.AbsorbWords(make([]uint32, 257)) },
		func(tr *Transcript) { tr.Absorb([]gf2.Element{{Lo: 1}}) },
		func(tr *Transcript) { tr.Absorb([]gf2.Element{{Hi: 1}}) },
		func(tr *Transcript) { tr.AbsorbBytes([]byte{7}) },
		func(tr *Transcript) { tr.AbsorbBytes([]byte{7, 0}) },
		func(tr *Transcript) { tr.Challenges(3) },
	}
	seen := map[State][]int{}
	var walk func(tr *Transcript, path []int)
	walk = func(tr *Transcript, path []int) {
		s := tr.State()
		if other, ok := seen[s]; ok {
			t.Fatalf("calls %v and %v lead to one state", other, path)
		}
		seen[s] = slices.Clone(path)
		if len(path) == 3 {
			return
		}
		for i, call := range calls {
			next := tr.Clone()
			call(next)
			walk(next, append(path, i))
		}
	}
	walk(New(LabelTest), nil)
	if *New(LabelTest) == *New(LabelSumcheck) || *New(LabelFRIBinius) == *New(LabelBinary) {
		t.Error("labels do not count")
	}
}

// Challenges not drawn are gone after an absorb, and nothing is handed out twice.
func TestChallenges(t *testing.T) {
	tr := New(LabelTest)
	seen := map[gf2.Element]bool{}
	for range 50 {
		tr.AbsorbWords([]uint32{1})
		for range 5 {
			c := tr.Challenge()
			if seen[c] {
				t.Fatalf("%v twice", c)
			}
			seen[c] = true
		}
		tr.Challenges(1)
	}
	a, b := New(LabelTest), New(LabelTest)
	a.AbsorbWords([]uint32{1})
	b.AbsorbWords([]uint32{1})
	b.Challenge()
	a.AbsorbWords([]uint32{2})
	b.AbsorbWords([]uint32{2})
	if *a != *b {
		t.Error("a challenge left over lives on after an absorb")
	}
}

func TestIndices(t *testing.T) {
	tr := New(LabelTest)
	for _, bits := range []int{-1, 33} {
		if _, err := tr.Indices(1, bits); !errors.Is(err, ErrBits) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
	const n = 1 << 14
	list, err := tr.Indices(n, 4)
	if err != nil {
		t.Fatal(err)
	}
	var count [16]int
	for _, x := range list {
		if x >= 16 {
			t.Fatalf("index %d of 4 bits", x)
		}
		count[x]++
	}
	for x, c := range count {
		if c < n/16-200 || c > n/16+200 { // over six standard deviations of 31
			t.Errorf("index %d came %d times out of %d", x, c, n)
		}
	}
}

func TestWork(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	ctx := context.Background()
	for bits := 1; bits < 12; bits++ {
		tr := New(LabelTest)
		tr.AbsorbWords([]uint32{rng.Uint32()})
		ground := tr.Clone()
		n, err := ground.Grind(ctx, bits)
		if err != nil {
			t.Fatal(err)
		}
		for k := range n {
			if err := tr.Clone().CheckWork(bits, k); !errors.Is(err, ErrWork) {
				t.Fatalf("nonce %d below %d does the work of %d bits: %v", k, n, bits, err)
			}
		}
		if err := tr.Clone().CheckWork(bits, n^1<<40); err == nil && bits > 4 {
			t.Errorf("the nonce's upper word does not count")
		}
		after := tr.Clone()
		after.AbsorbWords([]uint32{uint32(n), uint32(n >> 32)})
		after.Challenge()
		if *after != *ground {
			t.Error("the state after a search is not that of the nonce absorbed")
		}
	}
	tr := New(LabelTest)
	if err := tr.CheckWork(0, 1); !errors.Is(err, ErrWork) {
		t.Errorf("a nonce where no work is due: %v", err)
	}
	if err := tr.CheckWork(0, 0); err != nil || *tr != *New(LabelTest) {
		t.Errorf("no work: %v", err)
	}
	if n, err := tr.Grind(ctx, 0); n != 0 || err != nil || *tr != *New(LabelTest) {
		t.Errorf("a search for no work: %d, %v", n, err)
	}
	for _, bits := range []int{-1, MaxWorkBits + 1} {
		if err := tr.CheckWork(bits, 0); !errors.Is(err, ErrBits) {
			t.Errorf("%d bits checked: %v", bits, err)
		}
		if _, err := tr.Grind(ctx, bits); !errors.Is(err, ErrBits) {
			t.Errorf("%d bits ground: %v", bits, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := tr.Grind(ended, MaxWorkBits); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that was called off: %v", err)
	}
}

func TestState(t *testing.T) {
	tr := New(LabelTest)
	for i := range 6 {
		s := tr.State()
		again, err := FromState(s)
		if err != nil || *again != *tr {
			t.Fatalf("%d: %v", i, err)
		}
		for k, w := range map[int]uint32{16: 3, 17: 1, 18: 1, 19: 1 << 31} {
			bad := s
			bad[k] = w
			if _, err := FromState(bad); !errors.Is(err, ErrState) {
				t.Errorf("word %d is %#x: %v", k, w, err)
			}
		}
		tr.Challenge()
		if i == 3 {
			tr.AbsorbBytes([]byte("x"))
		}
	}
}
