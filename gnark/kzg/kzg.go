// Package kzg is for polynomial commitments of gnark-crypto's packages ecc/*/kzg
// (Kate, Zaverucha and Goldberg, ASIACRYPT 2010) with the points of the reference string
// on NVIDIA GPUs, where there are any. The packages below it have a Committer for each
// curve:
//
//	c, err := bn254.New(srs.Pk, kzg.WithDevice("auto"))
//	defer c.Close()
//	digest, err := c.Commit(p)
//
// Keys, digests and proofs are gnark-crypto's own types, and the same bytes as those of
// its functions on every device. A Committer is one of gnark-crypto's (interface
// kzg.Committer), and so can be given to its OpenWithCommitter and
// BatchOpenSinglePointWithCommitter; its own Open and BatchOpenSinglePoint divide
// polynomials on all cores.
//
// This package has what the committers have in common: options and errors. What is
// computed where and what is checked is in docs/kzg.md.
package kzg

//go:generate go run ./internal/gen .

import (
	"fmt"
	"log/slog"

	"github.com/zkwarp/zkwarp/gnark/kzg/internal/srs"
)

// Option is a choice of a Committer. The packages of the curves have one more,
// WithVerifyingKey.
type Option = srs.Option

// ErrInput is the class of errors in what the caller passes: polynomials and keys that do not
// fit one another, elements that are not below the modulus, options out of range.
var ErrInput = srs.ErrInput

// ErrClosed is what a Committer returns after Close.
var ErrClosed = srs.ErrClosed

// WithDevice says where commitments are computed: "auto" (the default) is the first GPU, if
// there is one, and the CPU for polynomials of few coefficients; "cuda:N" and "cpu" are
// just that, and "cuda:all" is all GPUs, which share each commitment. The environment
// variable ZKWARP_DEVICE stands in for "auto".
func WithDevice(name string) Option {
	return func(o *srs.Options) error { o.Device = name; return nil }
}

// WithMemory limits what points may take of each device's memory, in bytes; 0 is three
// fifths of what is free when the Committer is made. Points that do not fit are uploaded
// for each commitment.
func WithMemory(bytes int64) Option {
	return func(o *srs.Options) error {
		if bytes < 0 {
			return fmt.Errorf("%w: %d bytes of memory", ErrInput, bytes)
		}
		o.Memory = bytes
		return nil
	}
}

// WithCheck makes Commit, CommitContext and CommitMany check what devices compute: with a
// random g the commitment to the sum of all g^(i+1) p_i, one more sum for a call, must be that
// of the commitments. Where it is not, all are made again on the CPU, and the fault is
// logged. A fault that turns each polynomial's commitment into that of another which depends
// on it linearly is not found so.
func WithCheck() Option {
	return func(o *srs.Options) error { o.Check = true; return nil }
}

// WithLogger says where faults of devices are reported; slog.Default() is the default.
func WithLogger(l *slog.Logger) Option {
	return func(o *srs.Options) error {
		if l == nil {
			return fmt.Errorf("%w: no logger", ErrInput)
		}
		o.Logger = l
		return nil
	}
}
