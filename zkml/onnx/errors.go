package onnx

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

var (
	// ErrMalformed is wrapped by errors about files that are not well-formed ONNX.
	ErrMalformed = errors.New("malformed ONNX file")
	// ErrUnsupported is wrapped by errors about well-formed models that use something this package does not translate. Nothing is
	// ever skipped: what is not understood is refused.
	ErrUnsupported = errors.New("model not supported")
)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnsupported, fmt.Errorf(format, args...))
}

// Quote makes a name from a file safe to print: quoted, control characters escaped, long names cut.
func Quote(name string) string {
	const most = 80
	if len(name) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut--
		}
		return strconv.Quote(name[:cut]) + "..."
	}
	return strconv.Quote(name)
}
