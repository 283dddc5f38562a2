package graph

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/hostile"
)

// TestHostileBytes damages a program of every operation, and weights.
func TestHostileBytes(t *testing.T) {
	p, w, _ := composed(t)
	program, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	weights, err := w.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	hostile.Test(t, hostile.Decoder{Name: "program", Code: program, Decode: func(data []byte) ([]byte, error) {
		p, err := DecodeProgram(data)
		if err != nil {
			return nil, err
		}
		return p.Encode()
	}})
	hostile.Test(t, hostile.Decoder{Name: "weights", Code: weights, Decode: func(data []byte) ([]byte, error) {
		w, err := DecodeWeights(p, data)
		if err != nil {
			return nil, err
		}
		return w.Encode(p)
	}})
}
