package prover

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

const goldenSymbols = "../testdata/golden-symbols.json"

// symbolsCase is a statement about tables of symbols with its proof, in canonical
// words.
type symbolsCase struct {
	Kind   string         `json:"kind"`
	Tag    uint32         `json:"tag"`
	Params []uint32       `json:"params"`
	Root   []uint32       `json:"root"`
	Claims []symbolsClaim `json:"claims"`
	Proof  string         `json:"proof"`
}

type symbolsClaim struct {
	Weight int        `json:"weight"`
	Point  [][]uint32 `json:"point"`
	Values [][]uint32 `json:"values"`
}

// The provers' bytes over all fields stay as they are; TestGoldenByScript has them
// verified.
func TestGoldenSymbols(t *testing.T) {
	got := []symbolsCase{
		newSymbolsCase(t, kindM31(), "m31"),
		newSymbolsCase(t, kindBabyBear4(), "babybear4"),
		newSymbolsCase(t, newKind(BabyBear5(whir.Poseidon2), transcript.BabyBear5()), "babybear5"),
		newSymbolsCase(t, newKind(KoalaBear4(whir.Poseidon2), transcript.KoalaBear4()), "koalabear4"),
		newSymbolsCase(t, newKind(KoalaBear5(whir.Poseidon2), transcript.KoalaBear5()), "koalabear5"),
	}
	if *update {
		data, err := json.MarshalIndent(got, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(goldenSymbols, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(goldenSymbols)
	if err != nil {
		t.Fatal(err)
	}
	var want []symbolsCase
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("proofs differ from the golden file's (written anew with -update)")
	}
}

// newSymbolsCase proves three claims about two tables, with samples and work.
func newSymbolsCase[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E], name string) symbolsCase {
	t.Helper()
	c := k.config(6, 1, whir.Round{Fold: 2, Shrink: 1, Queries: 5, FoldWork: 2, QueryWork: 3},
		whir.Round{Fold: 2, Multiplicity: 3, Samples: 2, Queries: 4, QueryWork: 1})
	c.Batch, c.BatchWork = 2, 2
	sc := k.scenario(t, 60, c)
	sc.claims = sc.claims[1:4]
	tr := k.transcript.New(transcript.TagWHIR)
	cm := sc.commit(t, queue(t), tamper[W, E]{})
	tr.Absorb(words(t, cm))
	pf, err := cm.open(cm.q, k.hosted(cm.q, tr), sc.statement())
	if err != nil {
		t.Fatal(err)
	}
	enc, err := k.scheme.AppendProof(nil, sc.p, pf)
	if err != nil {
		t.Fatal(err)
	}
	out := symbolsCase{Kind: name, Tag: transcript.TagWHIR, Proof: hex.EncodeToString(enc)}
	for enc := sc.p.AppendBinary(nil); len(enc) > 0; enc = enc[4:] {
		out.Params = append(out.Params, binary.LittleEndian.Uint32(enc))
	}
	for _, w := range rootOf(t, cm) {
		out.Root = append(out.Root, w.Uint32())
	}
	lists := func(v []E) (out [][]uint32) {
		for _, e := range v {
			out = append(out, e.AppendWords(nil))
		}
		return out
	}
	for _, c := range sc.claims {
		g := symbolsClaim{Weight: whir.KindEq, Values: lists(c.Values)}
		switch w := c.Weight.(type) {
		case whir.Eq[E]:
			g.Point = lists(w.Point)
		case whir.Sel[E]:
			g.Weight, g.Point = whir.KindSel, lists(w.Point)
		}
		out.Claims = append(out.Claims, g)
	}
	return out
}
