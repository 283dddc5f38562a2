package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/hostile"
	"github.com/zkwarp/zkwarp/zkml"
)

// TestHostileBytes damages keys, proofs, openings and commitments at every place that there is time for, and as many more as fuzzing finds.
func TestHostileBytes(t *testing.T) {
	k := secret(t)
	r := k.proveSalted(t, hooks{})
	code, err := k.pk.Encode()
	if err != nil {
		t.Fatal(err)
	}
	one := k.vk.Committed()[1]
	key := func(data []byte) ([]byte, error) {
		vk, err := zkml.DecodeVerifyingKey(data)
		if err != nil {
			return nil, err
		}
		return vk.Encode(), nil
	}
	for _, d := range []hostile.Decoder{
		{Name: "verifying key", Code: k.vk.Encode(), Tries: 1200, Decode: key},
		{Name: "verifying key of committed tokens", Code: embedded(t).vk.Encode(), Tries: 1200, Decode: key},
		{Name: "proving key", Code: code, Tries: 600, Decode: func(data []byte) ([]byte, error) {
			pk, err := DecodeProvingKey(data)
			if err != nil {
				return nil, err
			}
			return pk.Encode()
		}},
		{Name: "proof", Code: r.Proof, Tries: 500, Decode: func(data []byte) ([]byte, error) {
			h, body, err := zkml.DecodeProofHeader(data)
			if err != nil {
				return nil, err
			}
			p, err := k.vk.Inference().DecodeProof(body)
			if err != nil {
				return nil, err
			}
			digests := h.Digests
			if h.Key != k.vk.Digest() {
				return nil, nil // read, and for another key
			}
			return zkml.EncodeProof(k.vk, digests, p)
		}},
		// What is verified is one proof only, whatever is well formed.
		{Name: "verified", Code: r.Proof, Tries: 250, Decode: func(data []byte) ([]byte, error) {
			err := zkml.VerifyStatement(k.vk, &r.Statement, data, nil)
			if err != nil && zkml.FailedCheck(err) == "" {
				t.Errorf("a rejection that names no check: %v", err)
			}
			return r.Proof, err
		}},
		{Name: "proof of the weights", Code: k.vk.WeightsProof(), Tries: 400, Decode: func(data []byte) ([]byte, error) {
			p, err := k.vk.WeightsArgument().DecodeProof(data)
			if err != nil {
				return nil, err
			}
			return k.vk.WeightsArgument().AppendProof(nil, p)
		}},
		{Name: "opening", Code: r.Openings[1].Encode(), Decode: func(data []byte) ([]byte, error) {
			o, err := zkml.DecodeOpening(data)
			if err != nil {
				return nil, err
			}
			if one.Check(o) == nil {
				for i, v := range o.Values {
					if int64(v) < one.Lo || int64(v) > one.Hi {
						t.Errorf("value %d is %d", i, v)
					}
				}
			}
			return o.Encode(), nil
		}},
		{Name: "commitment", Code: r.Statement.Commitments[1].Encode(), Decode: func(data []byte) ([]byte, error) {
			c, err := zkml.DecodeCommitment(data)
			if err != nil {
				return nil, err
			}
			return c.Encode(), nil
		}},
	} {
		hostile.Test(t, d)
	}
}
