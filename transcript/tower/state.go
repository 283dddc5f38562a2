package tower

import (
	"errors"
	"fmt"
)

// State is a transcript as words, in the layout that kernels use: the key's 8 words, the
// last step's 8 words of challenges, the number of challenges left, and zeros up to a
// multiple of 16 bytes.
type State [20]uint32

// ErrState is returned for words that are no state of a transcript.
var ErrState = errors.New("tower transcript: not a state")

// State of the transcript.
func (t *Transcript) State() State {
	var s State
	copy(s[:8], t.key[:])
	copy(s[8:16], t.out[:])
	s[16] = uint32(t.left)
	return s
}

// FromState is the transcript of that state.
func FromState(s State) (*Transcript, error) {
	if s[16] > perStep {
		return nil, fmt.Errorf("%w: %d challenges left, want at most %d", ErrState, s[16], perStep)
	}
	for i, w := range s[17:] {
		if w != 0 {
			return nil, fmt.Errorf("%w: word %d is %#x, want 0", ErrState, 17+i, w)
		}
	}
	t := &Transcript{left: int(s[16])}
	copy(t.key[:], s[:8])
	copy(t.out[:], s[8:16])
	return t, nil
}
