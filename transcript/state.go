package transcript

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
)

// State is a transcript as words, in the layout that kernels use: the sponge's
// 16 words, the rate word that comes next, and the number of output words left.
type State [18]m31.Element

// ErrState is returned for words that are no state of a transcript.
var ErrState = errors.New("transcript: not a state")

// State of the transcript.
func (t *Transcript) State() State {
	var s State
	copy(s[:], t.words[:])
	s[16], s[17] = m31.Element(t.at), m31.Element(t.left)
	return s
}

// FromState is the transcript of that state.
func FromState(s State) (*Transcript, error) {
	if err := m31.CheckCanonical(s[:]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	if s[16] >= Rate || s[17] > Rate || s[16] != 0 && s[17] != 0 {
		return nil, fmt.Errorf("%w: next rate word %d, %d output words left", ErrState, s[16], s[17])
	}
	t := &Transcript{at: int(s[16]), left: int(s[17])}
	copy(t.words[:], s[:])
	return t, nil
}
