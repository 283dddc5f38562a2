// Package given checks that exported functions are not called with nil for what they need.
package given

import (
	"errors"
	"fmt"
)

// ErrMissing is the class of the errors that name an argument that is nil.
var ErrMissing = errors.New("missing argument")

// Arg is an argument.
type Arg struct {
	Name  string
	Given bool
}

// Check is nil, or an ErrMissing that names the first argument that is not given.
func Check(args ...Arg) error {
	for _, a := range args {
		if !a.Given {
			return fmt.Errorf("%w: the %s is nil", ErrMissing, a.Name)
		}
	}
	return nil
}
