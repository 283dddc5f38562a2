package transcript

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
)

// StateOf is a transcript as words, in the layout that kernels use: the sponge's
// 16 words, in the form that W keeps them in, then two plain numbers, the rate
// word that comes next and the number of output words left.
type StateOf[W any] [18]W

// State is that of a transcript over Mersenne-31.
type State = StateOf[m31.Element]

// ErrState is returned for words that are no state of a transcript.
var ErrState = errors.New("transcript: not a state")

// State of the transcript.
func (t *Of[W, E]) State() StateOf[W] {
	var s StateOf[W]
	copy(s[:], t.words[:])
	s[16], s[17] = W(t.at), W(t.left)
	return s
}

// FromState is the transcript of that state.
func (v *Variant[W, E]) FromState(s StateOf[W]) (*Of[W, E], error) {
	if err := canonical[W](s[:16]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	at, left := uint32(s[16]), uint32(s[17])
	if at >= Rate || left > Rate || at != 0 && left != 0 {
		return nil, fmt.Errorf("%w: next rate word %d, %d output words left", ErrState, at, left)
	}
	t := &Of[W, E]{variant: v, at: int(at), left: int(left)}
	copy(t.words[:], s[:])
	return t, nil
}

// FromState is the transcript over Mersenne-31 of that state.
func FromState(s State) (*Transcript, error) { return M31().FromState(s) }
