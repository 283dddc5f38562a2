package sumcheck

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
)

// AppendBinary appends the proof's words, little-endian: the round messages,
// then the evaluations.
func (p *Proof) AppendBinary(b []byte) ([]byte, error) {
	return AppendWords(AppendWords(b, p.Rounds), p.Evals), nil
}

// DecodeProof reads the proof of a batch of the given shapes from exactly data.
func DecodeProof(shapes []Shape, data []byte) (*Proof, error) {
	for j, s := range shapes {
		if err := s.Check(); err != nil {
			return nil, fmt.Errorf("shape %d: %w", j, err)
		}
	}
	all, err := ReadWords(data, Words(shapes)/4)
	if err != nil {
		return nil, err
	}
	k := Rounds(shapes) * Degree(shapes)
	return &Proof{Rounds: all[:k:k], Evals: all[k:]}, nil
}

// AppendWords appends the words of v, little-endian.
func AppendWords(b []byte, v []m31.QM31) []byte {
	return m31.AppendBytes(b, m31.Words(v))
}

// ReadWords reads exactly n canonical field elements from exactly data.
func ReadWords(data []byte, n int) ([]m31.QM31, error) {
	if len(data) != 16*n {
		return nil, fmt.Errorf("%w: %d bytes, want %d", ErrLength, len(data), 16*n)
	}
	v := make([]m31.QM31, n)
	if err := m31.DecodeQM31(v, data); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCanonical, err)
	}
	return v, nil
}
