package prover

import (
	"bytes"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
)

// seeds are an encoding and damaged copies of it.
func seeds(f *testing.F, code []byte) {
	f.Add(code)
	f.Add(code[:len(code)/2])
	f.Add(append(bytes.Clone(code), code...))
	for _, at := range []int{0, 9, 40, 60, len(code) / 3, len(code) - 1} {
		bad := bytes.Clone(code)
		bad[at] ^= 0xff
		f.Add(bad)
	}
}

func FuzzDecodeVerifyingKey(f *testing.F) {
	seeds(f, mlp(f).vk.Encode())
	f.Fuzz(func(t *testing.T, code []byte) {
		vk, err := zkml.DecodeVerifyingKey(code)
		if err != nil {
			return
		}
		if !bytes.Equal(vk.Encode(), code) {
			t.Error("a key has two encodings")
		}
		if s := zkml.Security(vk); s.Min < s.Sum {
			t.Errorf("a key's steps have %f bits and more in all: %f", s.Min, s.Sum)
		}
		_ = vk.Check()
	})
}

func FuzzDecodeProvingKey(f *testing.F) {
	code, err := mlp(f).pk.Encode()
	if err != nil {
		f.Fatal(err)
	}
	seeds(f, code)
	f.Fuzz(func(t *testing.T, code []byte) {
		pk, err := DecodeProvingKey(code)
		if err != nil {
			return
		}
		again, err := pk.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again, code) {
			t.Error("a key has two encodings")
		}
	})
}

// FuzzVerify looks for another proof of a true statement, and for panics.
func FuzzVerify(f *testing.F) {
	k := mlp(f)
	r := k.prove(f, hooks{})
	seeds(f, r.Proof)
	f.Fuzz(func(t *testing.T, proof []byte) {
		err := zkml.Verify(k.vk, k.X, r.Y, proof, nil)
		if same := bytes.Equal(proof, r.Proof); same != (err == nil) {
			t.Errorf("the honest proof: %t; verified: %v", same, err)
		}
		if err != nil && zkml.FailedCheck(err) == "" {
			t.Errorf("a rejection that names no check: %v", err)
		}
	})
}
