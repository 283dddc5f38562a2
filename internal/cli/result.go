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
