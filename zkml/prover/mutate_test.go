package prover

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml"
)

// openingsAt is where the openings begin in an encoded proof.
func openingsAt(t *testing.T, k *keyed, code []byte) int {
	t.Helper()
	a := k.vk.Inference()
	_, body, err := zkml.DecodeProofHeader(code)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.DecodeProof(body)
	if err != nil {
		t.Fatal(err)
	}
	p.Openings = nil
	short, err := a.AppendProof(nil, p)
	if err != nil {
		t.Fatal(err)
	}
	return len(code) - len(body) + len(short)
}

// TestMutatedProofs changes words of encoded proofs, one at a time: all words
// before the openings, and a sample of the openings, which have their own tests.
func TestMutatedProofs(t *testing.T) {
	checks := map[string]int{}
	count := 0
	for _, make := range allCases {
		k := make(t)
		r := k.prove(t, hooks{})
		rng := rand.New(rand.NewPCG(3, uint64(len(r.Proof))))
		openings := openingsAt(t, k, r.Proof)
		for at := 0; at+4 <= len(r.Proof); at += 4 {
			if at >= openings && rng.IntN(64) != 0 {
				continue
			}
			bad := bytes.Clone(r.Proof)
			w := binary.LittleEndian.Uint32(bad[at:])
			values := []uint32{(w + 1 + rng.Uint32N(m31.P-1)) % m31.P}
			if at%64 == 44%64 || at >= openings {
				values = append(values, m31.P, m31.P+w, 1<<32-1) // not canonical
			}
			for _, v := range values {
				if v == w {
					continue
				}
				binary.LittleEndian.PutUint32(bad[at:], v)
				err := zkml.Verify(k.vk, k.X, r.Y, bad, nil)
				check := zkml.FailedCheck(err)
				if check == "" {
					t.Fatalf("%s: word %d changed from %d to %d: %v", k.Name, at/4, w, v, err)
				}
				checks[check]++
				count++
			}
		}
	}
	t.Logf("%d mutants rejected, by check: %v", count, checks)
	for _, c := range []string{
		zkml.CheckFormat, zkml.CheckKeyDigest, zkml.CheckInputBind, zkml.CheckOutputBind, zkml.CheckNumerator, zkml.CheckTree,
		zkml.CheckLeafNum, zkml.CheckLeafDen, zkml.CheckRelation, zkml.CheckSumcheck, zkml.CheckMerge,
		zkml.CheckOpenParams, zkml.CheckOpenWitness, zkml.CheckOpenMult,
	} {
		if checks[c] == 0 {
			t.Errorf("no mutant was rejected by %q", c)
		}
	}
}

// TestMutatedWeightsProof does the same to the key's own proof.
func TestMutatedWeightsProof(t *testing.T) {
	k := residual(t)
	rng := rand.New(rand.NewPCG(3, 4))
	proof := k.vk.WeightsProof()
	count := 0
	for at := 0; at+4 <= len(proof); at += 4 {
		if at > 4096 && rng.IntN(64) != 0 {
			continue
		}
		bad := bytes.Clone(proof)
		binary.LittleEndian.PutUint32(bad[at:], (binary.LittleEndian.Uint32(bad[at:])+1+rng.Uint32N(m31.P-1))%m31.P)
		vk, err := k.vk.WithWeightsProof(bad)
		if err != nil {
			t.Fatal(err)
		}
		rejected(t, vk.Check(), zkml.CheckKeyProof)
		count++
	}
	t.Logf("%d mutants rejected", count)
}

// TestReshapedProofs cuts, extends and rearranges encoded proofs.
func TestReshapedProofs(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		r := k.prove(t, hooks{})
		openings := openingsAt(t, k, r.Proof)
		for n := 0; n < len(r.Proof); n += 1 + n/9 {
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof[:n], nil), zkml.CheckFormat)
		}
		for _, extra := range []string{"\x00", "\x00\x00\x00\x00", string(r.Proof[openings:])} {
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, append(bytes.Clone(r.Proof), extra...), nil), zkml.CheckFormat)
		}
		for cut := 108; cut < len(r.Proof)-16; cut += 4096 { // leave out one field element
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, append(bytes.Clone(r.Proof[:cut]), r.Proof[cut+16:]...), nil),
				zkml.CheckFormat, zkml.CheckTree, zkml.CheckWork)
		}
		bad := bytes.Clone(r.Proof)
		binary.LittleEndian.PutUint32(bad[8:], zkml.Version+1)
		rejected(t, zkml.Verify(k.vk, k.X, r.Y, bad, nil), zkml.CheckFormat)
		bad = bytes.Clone(r.Proof)
		binary.LittleEndian.PutUint32(bad[openings:], 1<<31) // a length
		rejected(t, zkml.Verify(k.vk, k.X, r.Y, bad, nil), zkml.CheckFormat)
	}
}
