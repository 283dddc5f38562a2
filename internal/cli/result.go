package cli

import (
	"encoding/json"
	"fmt"
)

// result prints the outcome of a verb: object as JSON under --json, else the
// text, which unlike say's is printed even under --quiet.
func (a *app) result(object any, format string, args ...any) error {
	if a.json {
		return a.printJSON(object)
	}
	_, err := fmt.Fprintf(a.Out, format+"\n", args...)
	return err
}

// wrote reports what a verb did whose output went to a file; when that file is
// standard output, nothing else is printed there.
func (a *app) wrote(path string, object any, format string, args ...any) error {
	switch {
	case path == "-":
		return nil
	case a.json:
		return a.printJSON(object)
	}
	a.say(format, args...)
	return nil
}

func (a *app) printJSON(object any) error {
	data, err := encodeJSON(object)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(data)
	return err
}

// encodeJSON is object as indented JSON with a newline at the end.
func encodeJSON(object any) ([]byte, error) {
	data, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return append(data, '\n'), nil
}
