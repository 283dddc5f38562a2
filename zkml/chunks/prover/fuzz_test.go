package prover

import (
	"bytes"
	"context"
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// FuzzDecode reads keys of chains and their proofs, with public and with committed boundaries: what is read is written the same, and a proof of
// something else is not accepted.
func FuzzDecode(f *testing.F) {
	c := zkmltest.Decoder(1, 2, 4, 1, true)
	cutting, err := chunks.Cut(c.Program, c.Weights, []int{len(c.Program.Ops) / 2})
	if err != nil {
		f.Fatal(err)
	}
	dev := devicetest.Open(f, "cpu")
	q := devicetest.Queue(f, dev)
	chain, keys, err := Setup(q, cutting, nil)
	if err != nil {
		f.Fatal(err)
	}
	r, err := Prove(context.Background(), simulated(f, 1), chain, keys, c.X, nil)
	if err != nil {
		f.Fatal(err)
	}
	key, proof := chain.Encode(), r.Proof.Encode()
	f.Add(key)
	f.Add(proof)
	f.Add(key[:len(key)/2])
	f.Add(proof[:len(proof)-1])
	f.Add((&chunks.PartProof{Chain: chain.Digest(), Part: 1, Y: r.Proof.Y[1], Roots: r.Proof.Roots[1], Proof: r.Proof.Proofs[1]}).Encode())
	cutting.CommitBoundaries()
	hidden, hiddenKeys, err := Setup(q, cutting, nil)
	if err != nil {
		f.Fatal(err)
	}
	secret, err := Prove(context.Background(), simulated(f, 1), hidden, hiddenKeys, c.X, &Options{Seed: new([32]byte)})
	if err != nil {
		f.Fatal(err)
	}
	hiddenProof := secret.Proof.Encode()
	f.Add(hidden.Encode())
	f.Add(hiddenProof)
	f.Add(hiddenProof[:len(hiddenProof)-1])
	f.Add((&chunks.PartProof{Chain: hidden.Digest(), Y: secret.Proof.Y[0], Roots: secret.Proof.Roots[0], Proof: secret.Proof.Proofs[0]}).Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if read, err := chunks.DecodeChain(data); err == nil && !bytes.Equal(read.Encode(), data) {
			t.Error("a key of a chain is written otherwise than it was read")
		}
		if read, err := chunks.DecodePart(data); err == nil && !bytes.Equal(read.Encode(), data) {
			t.Error("the proof of a part is written otherwise than it was read")
		}
		read, err := chunks.DecodeProof(data)
		if err != nil {
			return
		}
		if !bytes.Equal(read.Encode(), data) {
			t.Error("a proof is written otherwise than it was read")
		}
		if err := chunks.Verify(chain, c.X, r.Y, read, nil); (err == nil) != bytes.Equal(data, proof) {
			t.Errorf("verified: %v", err)
		}
		if err := chunks.Verify(hidden, c.X, secret.Y, read, nil); (err == nil) != bytes.Equal(data, hiddenProof) {
			t.Errorf("with committed boundaries: verified: %v", err)
		}
	})
}
