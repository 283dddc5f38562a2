package zkml

import (
	"bytes"
	"testing"
)

// FuzzDecodeOpening feeds the decoders of openings and commitments, which tell
// each other's files apart. What is accepted has one encoding, and checking it
// against a tensor refuses what is not the tensor's without a panic.
func FuzzDecodeOpening(f *testing.F) {
	tensor := &CommittedTensor{Name: "x", Shape: []int{2, 2}, Lo: -8, Hi: 7, Format: [32]byte{1, 2, 3}}
	opening, err := tensor.Open([]int32{-8, 0, 1, 7}, [32]byte{9})
	if err != nil {
		f.Fatal(err)
	}
	data := opening.Encode()
	f.Add(data)
	f.Add(data[:len(data)-1])
	f.Add(append(bytes.Clone(data), 0))
	commitment := (&Commitment{Format: tensor.Format}).Encode()
	f.Add(commitment)
	f.Add(commitment[:len(commitment)-1])
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := DecodeOpening(data)
		if err == nil {
			if !bytes.Equal(o.Encode(), data) {
				t.Error("an opening has two encodings")
			}
			fits := o.Format == tensor.Format && len(o.Values) == 4
			for _, v := range o.Values {
				fits = fits && v >= -8 && v <= 7
			}
			if err := tensor.Check(o); (err == nil) != fits {
				t.Errorf("check of an opening of %v: %v", o.Values, err)
			}
		}
		c, other := DecodeCommitment(data)
		if other == nil && !bytes.Equal(c.Encode(), data) {
			t.Error("a commitment has two encodings")
		}
		if err == nil && other == nil {
			t.Error("a file is both an opening and a commitment")
		}
	})
}
