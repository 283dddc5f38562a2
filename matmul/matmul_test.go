package matmul_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/mutant"
	"github.com/zkwarp/zkwarp/matmul"
	"github.com/zkwarp/zkwarp/matmul/matmultest"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
)

func newTranscript() *transcript.Transcript {
	tr := transcript.New(transcript.TagTest)
	tr.Absorb([]m31.Element{2, 7, 1})
	return tr
}

func newBatch(seed uint64, bytes bool) *matmultest.Batch {
	return matmultest.NewBatch(rand.New(rand.NewPCG(seed, 1)), matmultest.Shapes(), bytes)
}

func TestComplete(t *testing.T) {
	for _, words := range []bool{true, false} {
		b := newBatch(1, words)
		ptr, vtr := newTranscript(), newTranscript()
		data, err := b.Prove(ptr, sumchecktest.Cheat{}).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := matmul.DecodeProof(matmul.Shapes(b.Claims), data)
		if err != nil {
			t.Fatal(err)
		}
		r, err := matmul.Verify(vtr, b.Claims, proof)
		if err != nil {
			t.Fatal(err)
		}
		for j := range b.Claims {
			if left, right := b.True(j, r[j]); !left || !right {
				t.Errorf("claim %d: A true: %v, B true: %v", j, left, right)
			}
		}
		if ptr.Challenge() != vtr.Challenge() {
			t.Error("transcripts ended in different states")
		}
	}
}

// A false claim is caught, whatever claim of the batch it is.
func TestCheatFalseClaim(t *testing.T) {
	for j := range matmultest.Shapes() {
		b := newBatch(2, true)
		b.Claims[j].Value = b.Claims[j].Value.Add(m31.OneQM31())
		if _, err := matmul.Verify(newTranscript(), b.Claims, b.Prove(newTranscript(), sumchecktest.Cheat{})); !errors.Is(err, sumcheck.ErrFinal) {
			t.Errorf("claim %d: %v", j, err)
		}
	}
}

// A prover that computes with other matrices than the claim's gives a proof of
// another product: the claim about it is caught, and for a true one the
// evaluations are not those of the caller's matrices.
func TestCheatOtherMatrix(t *testing.T) {
	for j := range matmultest.Shapes() {
		b := newBatch(3, true)
		other := newBatch(3, true)
		other.A[j][0] = other.A[j][0].Add(1)
		if _, err := matmul.Verify(newTranscript(), b.Claims, other.Prove(newTranscript(), sumchecktest.Cheat{})); !errors.Is(err, sumcheck.ErrFinal) {
			t.Errorf("claim %d, another A: %v", j, err)
		}
		tables := other.Tables()[j]
		other.Claims[j].Value = m31.DotQM31(tables[0], tables[1])
		r, err := matmul.Verify(newTranscript(), other.Claims, other.Prove(newTranscript(), sumchecktest.Cheat{}))
		if err != nil {
			t.Fatal(err)
		}
		if left, right := b.True(j, r[j]); left || !right {
			t.Errorf("claim %d: A true: %v, B true: %v; only A is another", j, left, right)
		}
	}
}

func TestCheatMessages(t *testing.T) {
	one := m31.OneQM31()
	b := newBatch(4, true)
	for i := range 7 { // rounds of an inner dimension of 100
		for e := range 2 {
			proof := b.Prove(newTranscript(), sumchecktest.Cheat{Round: func(at int, message []m31.QM31) {
				if at == i {
					message[e] = message[e].Add(one)
				}
			}})
			if _, err := matmul.Verify(newTranscript(), b.Claims, proof); !errors.Is(err, sumcheck.ErrFinal) {
				t.Errorf("round %d, value %d: %v", i, e, err)
			}
		}
	}
	for k := range 2 * len(b.Claims) {
		proof := b.Prove(newTranscript(), sumchecktest.Cheat{Evals: func(v []m31.QM31) { v[k] = v[k].Add(one) }})
		if _, err := matmul.Verify(newTranscript(), b.Claims, proof); !errors.Is(err, sumcheck.ErrFinal) {
			t.Errorf("evaluation %d: %v", k, err)
		}
	}
}

// Claims about one product at the points of another, and a point's coordinates
// swapped, end in evaluations at the verifier's points, where they are false.
func TestCheatPoint(t *testing.T) {
	b := newBatch(5, true)
	const j = 1 // 3 x 5 by 5 x 7
	claims := slices.Clone(b.Claims)
	claims[j].Row = []m31.QM31{claims[j].Row[1], claims[j].Row[0]}
	proof := b.Prove(newTranscript(), sumchecktest.Cheat{})
	r, err := matmul.Verify(newTranscript(), claims, proof)
	if err != nil {
		t.Fatal(err)
	}
	if left, right := b.True(j, r[j]); left || !right {
		t.Errorf("row point swapped: A true: %v, B true: %v", left, right)
	}
}

func TestCheatStatements(t *testing.T) {
	b := newBatch(6, true)
	proof := b.Prove(newTranscript(), sumchecktest.Cheat{})
	for name, spoil := range map[string]func([]matmul.Claim) []matmul.Claim{
		"no claims": func([]matmul.Claim) []matmul.Claim { return nil },
		"no rows":   func(c []matmul.Claim) []matmul.Claim { c[0].M = 0; return c },
		"negative":  func(c []matmul.Claim) []matmul.Claim { c[0].K = -1; return c },
		"large": func(c []matmul.Claim) []matmul.Claim {
			c[0].N, c[0].Col = matmul.MaxSide+1, make([]m31.QM31, 31)
			return c
		},
		"short row":      func(c []matmul.Claim) []matmul.Claim { c[1].Row = c[1].Row[1:]; return c },
		"long column":    func(c []matmul.Claim) []matmul.Claim { c[1].Col = append(c[1].Col, m31.OneQM31()); return c },
		"more rows":      func(c []matmul.Claim) []matmul.Claim { c[1].M = 5; return c },
		"point of a row": func(c []matmul.Claim) []matmul.Claim { c[0].Row = make([]m31.QM31, 1); return c },
	} {
		if _, err := matmul.Verify(newTranscript(), spoil(slices.Clone(b.Claims)), proof); !errors.Is(err, matmul.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	claims := slices.Clone(b.Claims)
	claims[2].K = 129 // one round more
	for name, p := range map[string]*matmul.Proof{"no proof": nil, "empty proof": {}, "another length": proof} {
		if _, err := matmul.Verify(newTranscript(), claims, p); !errors.Is(err, sumcheck.ErrLength) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecode(t *testing.T) {
	b := newBatch(7, true)
	shapes := matmul.Shapes(b.Claims)
	data, err := b.Prove(newTranscript(), sumchecktest.Cheat{}).AppendBinary([]byte{9})
	if err != nil || data[0] != 9 {
		t.Fatalf("%v, %v", data[0], err)
	}
	data = data[1:]
	for name, bad := range map[string][]byte{"short": data[:len(data)-1], "long": append(slices.Clone(data), 0), "empty": nil} {
		if _, err := matmul.DecodeProof(shapes, bad); !errors.Is(err, sumcheck.ErrLength) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := matmul.DecodeProof(shapes, bytes.Repeat([]byte{255}, len(data))); !errors.Is(err, sumcheck.ErrCanonical) {
		t.Errorf("words that are not reduced: %v", err)
	}
	if _, err := matmul.DecodeProof([]matmul.Shape{{M: 1, K: 0, N: 1}}, nil); !errors.Is(err, matmul.ErrShape) {
		t.Errorf("no inner dimension: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	shapes := []matmul.Shape{{M: 1, K: 3, N: 2}, {M: 2, K: 1, N: 1}}
	f.Add(make([]byte, 128))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := matmul.DecodeProof(shapes, data)
		if err != nil {
			return
		}
		if again, err := p.AppendBinary(nil); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("encodes as %x, %v", again, err)
		}
	})
}

func TestEncodeNothing(t *testing.T) {
	for _, p := range []*matmul.Proof{nil, {}} {
		if b, err := p.AppendBinary(nil); len(b) > 0 || !errors.Is(err, sumcheck.ErrLength) {
			t.Errorf("%v encodes as %x, %v", p, b, err)
		}
	}
}

func TestErrorNumerator(t *testing.T) {
	if got := matmul.ErrorNumerator([]matmul.Shape{{M: 4, K: 100, N: 1}, {M: 1, K: 3, N: 1}}); got != 1+7*2 {
		t.Errorf("got %v, want L - 1 and two a round", got)
	}
	for _, none := range [][]matmul.Shape{nil, {{M: 4, K: 0, N: 1}}, {{M: 1, K: 1 << 31, N: 1}}} {
		if got := matmul.ErrorNumerator(none); !math.IsInf(got, 1) {
			t.Errorf("%v: got %v for a statement that is refused", none, got)
		}
	}
}

// TestMutants deletes or weakens each check of the verifier in turn.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(name, old, changed, tests string) {
		list = append(list, mutant.Mutant{Name: name, File: "matmul/matmul.go", Old: old, New: changed, Package: "./matmul", Tests: tests})
	}
	add("sides", "if side < 1 || side > MaxSide {", "if side > MaxSide {", "CheatStatements")
	add("large sides", "if side < 1 || side > MaxSide {", "if side < 1 {", "CheatStatements")
	add("points", "len(c.Row) != m || len(c.Col) != n {", "len(c.Row) < m || len(c.Col) < n {", "CheatStatements")
	add("some claim", "if len(shapes) == 0 {", "if len(shapes) < 0 {", "CheatStatements")
	add("a proof", "if proof == nil {", "if false && proof == nil {", "CheatStatements")
	add("the row's coordinates", "Point: join(c.Row, r)", "Point: join(r, c.Row)", "Complete")
	add("the column's coordinates", "Point: join(r, c.Col)", "Point: join(c.Col, r)", "Complete")
	add("each claim's own point", "r := res.PointOf(mle.Log(c.K))", "r := res.Point[:mle.Log(c.K)]", "Complete")
	mutant.Run(t, list)
}

// The product of a 2 x 2 matrix with another: the verifier knows both, and so
// can check what the claim is reduced to.
func ExampleVerify() {
	b := matmultest.NewBatch(rand.New(rand.NewPCG(8, 8)), []matmul.Shape{{M: 2, K: 2, N: 2}}, false)
	proof := b.Prove(transcript.New(transcript.TagTest), sumchecktest.Cheat{}) // package matmul/prover for large ones

	r, err := matmul.Verify(transcript.New(transcript.TagTest), b.Claims, proof)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.True(0, r[0]))
	// Output:
	// true true
}
