package onnx

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	// ErrMalformed is wrapped by errors about files that are not well-formed ONNX.
	ErrMalformed = errors.New("malformed ONNX file")
	// ErrUnsupported is wrapped by errors about well-formed models that use something this package does not translate. Nothing is
	// ever skipped: what is not understood is refused.
	ErrUnsupported = errors.New("model not supported")
	// ErrOption is wrapped by errors about Options that name what the model does not have.
	ErrOption = errors.New("no such part of the model")
)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnsupported, fmt.Errorf(format, args...))
}

// unknown is the error about an option that names none of the things there are.
func unknown(kind, name, option string, there []string) error {
	const most = 12
	text := "there is none"
	if len(there) > 0 {
		quoted := make([]string, 0, most)
		for _, n := range there[:min(len(there), most)] {
			quoted = append(quoted, Quote(n))
		}
		text = "there are " + strings.Join(quoted, ", ")
		if len(there) == 1 {
			text = "there is " + quoted[0]
		}
		if n := len(there) - most; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
	}
	return fmt.Errorf("%w: no %s is named %s (%s); %s", ErrOption, kind, Quote(name), option, text)
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
