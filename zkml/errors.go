package zkml

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// ErrRejected is the class of all errors that mean: this proof does not prove
// this statement under this key. Other errors are about malformed input.
var ErrRejected = errors.New("proof rejected")

// ErrMissing is the class of errors that name an argument that is nil, of this
// package and of those below it.
var ErrMissing = given.ErrMissing

// Names of the checks, as Rejection.Check reports them.
const (
	CheckFormat       = "proof format"
	CheckKeyDigest    = "key digest"
	CheckInput        = "input"
	CheckOutput       = "output"
	CheckWeights      = "weights digest"
	CheckSecurity     = "security budget"
	CheckWork         = "proof of work"
	CheckNumerator    = "lookups: root numerator"
	CheckDenominator  = "lookups: root denominator"
	CheckTree         = "lookups: tree"
	CheckLeafNum      = "lookups: leaf numerators"
	CheckLeafDen      = "lookups: leaf denominators"
	CheckRelation     = "linear relation"
	CheckSumcheck     = "sum-check"
	CheckPublicFactor = "public factor"
	CheckOutputBind   = "output binding"
	CheckInputBind    = "input binding"
	CheckMerge        = "claim merging"
	CheckOpenParams   = "opening of parameters"
	CheckOpenWitness  = "opening of witness"
	CheckOpenMult     = "opening of multiplicities"
	CheckOpenInput    = "opening of a committed input"
	CheckOpenOutput   = "opening of a committed output"
	CheckKeyProof     = "weights of the key"
)

// openingCheck is the check of a commitment's opening.
func openingCheck(p *plan.Plan, h plan.Home) string {
	switch c := p.CommittedAs(h); {
	case c == nil:
		return [...]string{CheckOpenParams, CheckOpenWitness, CheckOpenMult}[h]
	case c.Output:
		return CheckOpenOutput
	}
	return CheckOpenInput
}

// Rejection says which check a proof failed.
type Rejection struct {
	Check string // one of the Check constants
	Err   error  // more about it
}

func (r *Rejection) Error() string {
	if r.Err == nil {
		return fmt.Sprintf("zkml: rejected: %s", r.Check)
	}
	return fmt.Sprintf("zkml: rejected: %s: %v", r.Check, r.Err)
}

// Unwrap makes a Rejection an ErrRejected and keeps the cause.
func (r *Rejection) Unwrap() []error {
	if r.Err == nil {
		return []error{ErrRejected}
	}
	return []error{ErrRejected, r.Err}
}

func reject(check string, err error) error { return &Rejection{Check: check, Err: err} }

func rejectf(check, format string, args ...any) error {
	return reject(check, fmt.Errorf(format, args...))
}

// FailedCheck is the name of the check that err reports, "" if none.
func FailedCheck(err error) string {
	var r *Rejection
	if errors.As(err, &r) {
		return r.Check
	}
	return ""
}
