package whir

import "fmt"

// Check names a check of the verifier.
type Check string

// The checks.
const (
	CheckStatement  Check = "statement"        // claims fit the parameters
	CheckPacking    Check = "packed value"     // a claim against its two halves
	CheckShape      Check = "proof shape"      // lengths
	CheckEncoding   Check = "encoding"         // canonical words, nothing left over
	CheckBatchWork  Check = "batching work"    // proof of work before the tables are combined
	CheckFoldWork   Check = "folding work"     // proof of work before a folding challenge
	CheckQueryWork  Check = "query work"       // proof of work before the indices
	CheckOpening    Check = "query multiproof" // rows against the root
	CheckFinalQuery Check = "final query"      // final table against the last tree's rows
	CheckFinalClaim Check = "final claim"      // final table against the folded claims
)

// Error says which check a proof failed, and in which round; Round is -1
// where there is none, and the number of rounds for the final sum-check.
type Error struct {
	Round int
	Check Check
	Err   error
}

func (e *Error) Error() string {
	s := "whir: "
	if e.Round >= 0 {
		s += fmt.Sprintf("round %d: ", e.Round)
	}
	s += string(e.Check)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

func fail(round int, check Check, err error) error { return &Error{round, check, err} }

func failf(round int, check Check, format string, args ...any) error {
	return fail(round, check, fmt.Errorf(format, args...))
}
