// Package cli is the zkwarp-gnark command line. Its manners are those of zkwarp's
// (docs/cli.md).
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/consensys/gnark/logger"
	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
)

// Exit codes of the program.
const (
	ExitOK          = 0
	ExitRejected    = 1   // the proof is wrong, or the witness does not satisfy the circuit
	ExitUsage       = 2   // wrong flags or arguments
	ExitInput       = 3   // a file cannot be read, understood or written
	ExitMemory      = 5   // not enough memory or disk
	ExitDevice      = 6   // the device is missing or failed
	ExitInterrupted = 130 // Ctrl-C
)

// codeError is an error that knows its exit code.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &codeError{ExitUsage, fmt.Errorf(format, args...)}
}

// noArgs refuses arguments that are not flags.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("unexpected argument %q", args[0])
	}
	return nil
}

// coded gives an error a code, unless it has one or is a failure that has its own.
func coded(code int, err error) error {
	var c *codeError
	if err == nil || errors.As(err, &c) || exitCode(err) != ExitInput {
		return err
	}
	return &codeError{code, err}
}

// exitCode is the code of an error; what nobody classified is bad input.
func exitCode(err error) int {
	var c *codeError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &c):
		return c.code
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.Is(err, device.ErrNoMemory), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.ENOMEM):
		return ExitMemory
	case errors.Is(err, device.ErrFault), errors.Is(err, device.ErrUnavailable), errors.Is(err, device.ErrUsage):
		return ExitDevice
	}
	return ExitInput
}

// app is one run of the program.
type app struct {
	out, err io.Writer
	log      *slog.Logger
	device   string
	force    bool
	json     bool
	quiet    bool
	progress string
	logLevel string

	temps temporaries
}

// graceful is how long an interrupted verb may take to come to an end by itself: gnark's
// solver does not look at contexts.
const graceful = time.Second

// within runs a verb, and leaves it to itself when the context has ended and some time has
// passed. Its unfinished files are gone in the end.
func (a *app) within(ctx context.Context, wait time.Duration, verb func() error) error {
	defer a.temps.removeAll()
	done := make(chan error, 1)
	go func() { done <- verb() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(wait):
		return ctx.Err()
	}
}

// Main runs the program with the given arguments, without its name, and returns the exit
// code.
func Main(ctx context.Context, args []string, out, errors io.Writer) int {
	logger.Disable() // gnark's, which writes to standard output; errors are told below
	a := &app{out: out, err: errors, log: slog.New(slog.DiscardHandler)}
	root := &cobra.Command{
		Use:           "zkwarp-gnark",
		Short:         "Prove circuits of gnark and circom with Groth16, and verify such proofs",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,

		PersistentPreRunE: a.before,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&a.device, "device", "auto", "where sums are computed: auto, cpu, cuda:N, cuda:all (all GPUs, which share each sum), or simt (kernels emulated, for tests)")
	f.BoolVar(&a.force, "force", false, "replace files that exist")
	f.BoolVar(&a.json, "json", false, "print one JSON object on standard output and nothing else there")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print results only")
	f.StringVar(&a.progress, "progress", "auto", "auto (one line on a terminal that changes, else a line every few seconds), plain (lines) or none")
	f.StringVar(&a.logLevel, "log-level", "warn", "debug, info, warn or error")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &codeError{ExitUsage, err} })
	root.SetOut(out)
	root.SetErr(errors)
	root.AddCommand(a.proveCommand(), a.verifyCommand(), a.keyCommand(), a.benchCommand(args), a.versionCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetArgs(args)
	var cmd atomic.Pointer[cobra.Command]
	cmd.Store(root)
	err := a.within(ctx, graceful, func() error {
		c, err := root.ExecuteContextC(ctx)
		cmd.Store(c)
		return err
	})
	switch {
	case err == nil:
		return ExitOK
	case ctx.Err() != nil:
		fmt.Fprintln(errors, "zkwarp-gnark: interrupted")
		return ExitInterrupted
	case cmd.Load() == root: // cobra's about verbs that there are not
		err = &codeError{ExitUsage, err}
	}
	fmt.Fprintf(errors, "%s: %s\n", cmd.Load().CommandPath(), oneLine(err.Error()))
	return exitCode(err)
}
