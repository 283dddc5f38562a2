package prover

import (
	"context"
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/internal/hostile"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestHostileBytes damages the key of a chain, its proof, and that of a part.
func TestHostileBytes(t *testing.T) {
	c := zkmltest.MLP(2, 1, 3, 5, 4)
	cutting, err := chunks.Cut(c.Program, c.Weights, []int{len(c.Program.Ops) / 2})
	if err != nil {
		t.Fatal(err)
	}
	cutting.CommitBoundaries()
	chain, keys, err := Setup(devicetest.Queue(t, devicetest.Open(t, "cpu")), cutting, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Prove(context.Background(), simulated(t, 1), chain, keys, c.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	part := &chunks.PartProof{Chain: chain.Digest(), Y: r.Proof.Y[0], Roots: r.Proof.Roots[0], Proof: r.Proof.Proofs[0]}
	if len(part.Roots) == 0 {
		t.Fatal("the first part should hand on what is committed")
	}
	for _, d := range []hostile.Decoder{
		{Name: "key", Code: chain.Encode(), Tries: 400, Decode: func(data []byte) ([]byte, error) {
			c, err := chunks.DecodeChain(data)
			if err != nil {
				return nil, err
			}
			return c.Encode(), nil
		}},
		{Name: "proof", Code: r.Proof.Encode(), Tries: 400, Decode: func(data []byte) ([]byte, error) {
			p, err := chunks.DecodeProof(data)
			if err != nil {
				return nil, err
			}
			return p.Encode(), nil
		}},
		{Name: "part", Code: part.Encode(), Tries: 400, Decode: func(data []byte) ([]byte, error) {
			p, err := chunks.DecodePart(data)
			if err != nil {
				return nil, err
			}
			return p.Encode(), nil
		}},
		{Name: "verified", Code: r.Proof.Encode(), Tries: 150, Decode: func(data []byte) ([]byte, error) {
			p, err := chunks.DecodeProof(data)
			if err != nil {
				return nil, err
			}
			return r.Proof.Encode(), chunks.Verify(chain, c.X, r.Y, p, nil)
		}},
	} {
		hostile.Test(t, d)
	}
}
