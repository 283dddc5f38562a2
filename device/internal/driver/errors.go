package driver

import (
	"errors"
	"fmt"
)

// Classes of failure; package device exports them under the same names.
var (
	ErrUnavailable = errors.New("device unavailable")
	ErrNoMemory    = errors.New("not enough device memory")
	ErrFault       = errors.New("device fault")
	ErrUsage       = errors.New("bad device call")
	// ErrAbsent is the ErrUnavailable of a machine that has no such device at
	// all, which is no reason for a warning.
	ErrAbsent = fmt.Errorf("%w: none in this machine", ErrUnavailable)
)

// Error is what a driver returns when an operation fails. Package device adds
// the device's name.
type Error struct {
	Op    string // what was being done: "alloc", "launch mle_fold"
	Code  int    // the driver's code, 0 if none
	Text  string // the driver's words
	Bytes int64  // bytes asked for, 0 if not about memory
	Class error  // one of the Err values above
}

func (e *Error) Error() string {
	s := e.Op + ": "
	if e.Bytes != 0 {
		s += fmt.Sprintf("%d bytes: ", e.Bytes)
	}
	s += e.Text
	if e.Code != 0 {
		s += fmt.Sprintf(" (code %d)", e.Code)
	}
	return s
}

// Unwrap returns the class.
func (e *Error) Unwrap() error { return e.Class }
