// Package cli is the zkwarp-gnark command line. Its manners are those of zkwarp's
// (docs/cli.md).
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"

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
	out    io.Writer
	log    *slog.Logger
	device string
	force  bool
}

// Main runs the program with the given arguments, without its name, and returns the exit
// code.
func Main(ctx context.Context, args []string, out, errors io.Writer) int {
	logger.Disable() // gnark's, which writes to standard output; errors are told below
	a := &app{out: out, log: slog.New(slog.NewTextHandler(errors, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	root := &cobra.Command{
		Use:           "zkwarp-gnark",
		Short:         "Prove circuits of gnark and circom with Groth16, and verify such proofs",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().StringVar(&a.device, "device", "auto", "where sums are computed: auto, cpu, cuda:N, cuda:all (all GPUs, which share each sum), or simt (kernels emulated, for tests)")
	root.PersistentFlags().BoolVar(&a.force, "force", false, "replace files that exist")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &codeError{ExitUsage, err} })
	root.SetOut(out)
	root.SetErr(errors)
	root.AddCommand(a.proveCommand(), a.verifyCommand(), a.benchCommand(args))
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return ExitOK
	case ctx.Err() != nil:
		fmt.Fprintln(errors, "zkwarp-gnark: interrupted")
		return ExitInterrupted
	case cmd == root: // cobra's about verbs that there are not
		err = &codeError{ExitUsage, err}
	}
	fmt.Fprintf(errors, "%s: %s\n", cmd.CommandPath(), oneLine(err.Error()))
	return exitCode(err)
}
