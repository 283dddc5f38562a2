package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/zkwarp/zkwarp/device"
)

// Exit codes of the program.
const (
	ExitOK          = 0
	ExitRejected    = 1   // a proof, key or output was rejected
	ExitUsage       = 2   // wrong flags or arguments
	ExitInput       = 3   // a file cannot be read, understood or written
	ExitUnsupported = 4   // the model uses something that cannot be proved
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

// withCode gives err an exit code unless it carries one already, or is one of
// the failures (interruption, memory, device) that have their own.
func withCode(code int, err error) error {
	if err == nil || exitCode(err) != unclassified {
		return err
	}
	return &codeError{code, err}
}

func usageError(format string, args ...any) error {
	return &codeError{ExitUsage, fmt.Errorf(format, args...)}
}

// plainFlag says of a flag's value that is no number what was expected, rather than
// which function of Go read it.
func plainFlag(err error) error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return err
	}
	f, want := invalid.GetFlag(), "a whole number"
	switch kind := f.Value.Type(); {
	case kind == "bool":
		want = "true or false"
	case kind == "intSlice":
		want = "whole numbers with commas between"
	case strings.HasPrefix(kind, "uint"):
		want = "a whole number that is not negative"
	case strings.HasPrefix(kind, "float"):
		want = "a number"
	}
	if errors.Is(number, strconv.ErrRange) {
		want += " that fits into 64 bits"
	}
	return fmt.Errorf("--%s %q: want %s", f.Name, invalid.GetValue(), want)
}

func inputError(format string, args ...any) error {
	return withCode(ExitInput, fmt.Errorf(format, args...))
}

func rejected(format string, args ...any) error {
	return &codeError{ExitRejected, fmt.Errorf(format, args...)}
}

const unclassified = -1

// exitCode finds the code of an error, or unclassified.
func exitCode(err error) int {
	var coded *codeError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ExitInterrupted
	case errors.Is(err, device.ErrNoMemory), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.ENOMEM):
		return ExitMemory
	case errors.Is(err, device.ErrFault), errors.Is(err, device.ErrUnavailable), errors.Is(err, device.ErrUsage):
		return ExitDevice
	}
	return unclassified
}

// finalCode is exitCode for the end of the program: what nobody classified is
// a file system failure or else a defect of the program, and both report as
// bad input rather than as a rejected proof.
func finalCode(err error) int {
	if c := exitCode(err); c != unclassified {
		return c
	}
	return ExitInput
}

// oneLine makes text safe to print as one line on a terminal: names from
// files may hold anything.
func oneLine(text string) string {
	const limit = 600
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case !unicode.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "..."
	}
	return text
}

// plainFS strips the operation from a file system error ("open x: no such
// file" becomes "no such file"), for messages that name the file themselves.
func plainFS(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
