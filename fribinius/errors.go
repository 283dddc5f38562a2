package fribinius

import "fmt"

// Check names a check of the verifier.
type Check string

// The checks.
const (
	CheckStatement     Check = "statement"      // the point has the parameters' number of coordinates
	CheckShape         Check = "proof shape"    // lengths
	CheckRingSwitch    Check = "ring switching" // the value against the partial evaluations
	CheckFinalClaim    Check = "final claim"    // the sum-check's last claim against the final message
	CheckOpening       Check = "opening"        // rows against a layer's root
	CheckFold          Check = "fold"           // a layer's rows, folded, against the next layer's
	CheckFinalCodeword Check = "final codeword" // the last layer's rows, folded, against the final message
)

// Error says which check a proof failed, and in which layer; Layer is -1 where there
// is none.
type Error struct {
	Layer int
	Check Check
	Err   error
}

func (e *Error) Error() string {
	s := "fribinius: "
	if e.Layer >= 0 {
		s += fmt.Sprintf("layer %d: ", e.Layer)
	}
	s += string(e.Check)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

func failf(layer int, check Check, format string, args ...any) error {
	return &Error{layer, check, fmt.Errorf(format, args...)}
}
