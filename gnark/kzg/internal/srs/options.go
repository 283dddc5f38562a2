// Package srs keeps the points of a structured reference string on devices, and sums over
// them: what the committers over all curves have in common.
package srs

import (
	"errors"
	"fmt"
	"log/slog"
)

// ErrInput is the class of errors in what the caller passes.
var ErrInput = errors.New("kzg: bad input")

// ErrClosed is what a committer returns after Close.
var ErrClosed = errors.New("kzg: the committer was closed")

// Option is a choice of a committer.
type Option func(*Options) error

// Options are all choices.
type Options struct {
	Device string
	Memory int64 // bytes of each device that points may take; 0 is three fifths of what is free
	Logger *slog.Logger
	Check  bool // commitments of devices
	VK     any  // the verifying key of the curve's kzg, by value; nil: openings are not verified
}

// Choose is the choices of a list of options.
func Choose(list []Option) (*Options, error) {
	o := &Options{Device: "auto", Logger: slog.Default()}
	for _, option := range list {
		if option == nil {
			return nil, fmt.Errorf("%w: an option that is nil", ErrInput)
		}
		if err := option(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}
