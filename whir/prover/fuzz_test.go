package prover

import (
	"bytes"
	"testing"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/whir"
)

// FuzzDecodeProof: what decodes encodes to the same bytes, and the verifier
// takes it without panic and rejects it unless it is the honest proof.
func FuzzDecodeProof(f *testing.F) { fuzzDecodeProof(f, kindM31()) }

// FuzzDecodeBabyBear is FuzzDecodeProof where memory does not hold canonical
// words.
func FuzzDecodeBabyBear(f *testing.F) { fuzzDecodeProof(f, kindBabyBear4()) }

func fuzzDecodeProof[W field.Base[W], F field.Element[F], E field.Element[E]](f *testing.F, k *kind[W, F, E]) {
	q := queue(f)
	// Small, so that the fuzzer gets through many.
	c := k.config(3, 1, whir.Round{Fold: 1, Shrink: 1, Queries: 3}, whir.Round{Fold: 1, Samples: 1, Queries: 3, FoldWork: 2, QueryWork: 2})
	c.Batch, c.BatchWork = 2, 2
	sc := k.scenario(f, 50, c)
	root, pf := sc.prove(f, q, tamper[W, E]{}, k.recorder())
	good, err := k.scheme.AppendProof(nil, sc.p, pf)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		pf, err := k.scheme.DecodeProof(sc.p, data)
		if err != nil {
			return
		}
		again, err := k.scheme.AppendProof(nil, sc.p, pf)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("decoded %d bytes encode to %d others (%v)", len(data), len(again), err)
		}
		if err := k.verifyBytes(sc.p, root, sc.statement(), data); (err == nil) != bytes.Equal(data, good) {
			t.Fatalf("verification of decoded bytes: %v", err)
		}
	})
}

// FuzzDecodeProofM31 is FuzzDecodeProof for packed tables.
func FuzzDecodeProofM31(f *testing.F) {
	p, err := whir.ChooseM31(5, whir.Options{Lambda: 10, FoldWork: 2, QueryWork: 2, Claims: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(2, make([]byte, 400))
	f.Add(0, []byte{})
	f.Add(1<<40, []byte{1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, claims int, data []byte) {
		pf, err := p.DecodeProof(claims, data)
		if err != nil {
			return
		}
		if again, err := p.AppendProof(nil, pf); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("decoded %d bytes encode to %d others (%v)", len(data), len(again), err)
		}
	})
}
