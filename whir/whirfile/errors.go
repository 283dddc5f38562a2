package whirfile

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/whir"
)

// ErrFormat is what errors about malformed files wrap: those that are none of
// ours, of another version, cut off, too long, or not in canonical numbers.
var ErrFormat = errors.New("malformed")

// Check names a check that a proof can fail here, besides those of package
// whir.
const (
	CheckParameters = "parameters" // proof and commitment have the same
)

// Rejection says that a proof does not show what it should, and by which check.
type Rejection struct {
	Check string
	Err   error // nil where the check says all
}

func (r *Rejection) Error() string {
	if r.Err == nil {
		return r.Check
	}
	return r.Check + ": " + r.Err.Error()
}

// Unwrap returns the cause, if there is one.
func (r *Rejection) Unwrap() error { return r.Err }

// rejection sorts errors of a verification: a *Rejection for a proof that fails
// a check, ErrFormat for what is no proof.
func rejection(err error) error {
	var check *whir.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, whir.ErrEncoding):
		return fmt.Errorf("%w: %w", ErrFormat, err)
	case errors.As(err, &check):
		name := string(check.Check)
		if check.Round >= 0 {
			name = fmt.Sprintf("round %d: %s", check.Round, name)
		}
		return &Rejection{name, check.Err}
	}
	return fmt.Errorf("%w: %w", ErrFormat, err)
}
