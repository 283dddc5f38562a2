package tensorio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadJSON decodes {"input_data": [input]}: a list with one entry for each of
// the model's inputs, of which there is one. The input is a rectangular
// nesting of finite numbers.
func ReadJSON(file []byte) (Tensor, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.UseNumber()
	if err := expect(d, json.Delim('{'), "the file"); err != nil {
		return Tensor{}, err
	}
	var t Tensor
	seen := false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return Tensor{}, jsonError(d, err)
		}
		if key != "input_data" {
			return Tensor{}, fmt.Errorf("unknown field %q, want input_data alone", key)
		}
		if seen {
			return Tensor{}, fmt.Errorf("field input_data occurs twice")
		}
		seen = true
		if t, err = readInputs(d); err != nil {
			return Tensor{}, err
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return Tensor{}, jsonError(d, err)
	}
	if !seen {
		return Tensor{}, fmt.Errorf("field input_data is missing")
	}
	if _, err := d.Token(); err != io.EOF {
		return Tensor{}, fmt.Errorf("byte %d: more after the end of the object", d.InputOffset())
	}
	return t, nil
}

func readInputs(d *json.Decoder) (Tensor, error) {
	if err := expect(d, json.Delim('['), "input_data"); err != nil {
		return Tensor{}, err
	}
	if !d.More() {
		return Tensor{}, fmt.Errorf("input_data is empty, want one input")
	}
	r := nestReader{d: d, path: []int{0}}
	tok, err := d.Token()
	if err != nil {
		return Tensor{}, jsonError(d, err)
	}
	if tok != json.Delim('[') {
		return Tensor{}, fmt.Errorf("input_data[0] is %s, want an array: {\"input_data\": [[...]]}", tokenText(tok))
	}
	if err := r.array(0); err != nil {
		return Tensor{}, err
	}
	if d.More() {
		return Tensor{}, fmt.Errorf("input_data has more than one entry, but the model takes one input")
	}
	_, err = d.Token()
	return Tensor{Shape: r.shape, Data: r.data}, jsonError(d, err)
}

// nestReader reads a rectangular nesting of numbers. The first path down
// fixes the lengths, all others must agree.
type nestReader struct {
	d     *json.Decoder
	shape []int // lengths known so far; -1 while an axis' first array is open
	deep  bool  // the depth is known: numbers have been seen
	path  []int // indices of the current element, for messages
	data  []float64
}

func (r *nestReader) where() string {
	var b strings.Builder
	b.WriteString("input_data")
	for _, i := range r.path {
		b.WriteString("[" + strconv.Itoa(i) + "]")
	}
	return b.String()
}

// array reads the rest of an array whose opening bracket has been read.
func (r *nestReader) array(depth int) error {
	if depth == maxRank {
		return fmt.Errorf("%s is nested more than %d deep", r.where(), maxRank)
	}
	if depth == len(r.shape) {
		if r.deep {
			return fmt.Errorf("%s is an array, but others at this depth are numbers", r.where())
		}
		r.shape = append(r.shape, -1)
	}
	n := 0
	for ; r.d.More(); n++ {
		r.path = append(r.path, n)
		if err := r.element(depth); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
	}
	if _, err := r.d.Token(); err != nil {
		return jsonError(r.d, err)
	}
	if n == 0 {
		return fmt.Errorf("%s is empty", r.where())
	}
	if r.shape[depth] == -1 {
		r.shape[depth] = n
	}
	if n != r.shape[depth] {
		return fmt.Errorf("%s has %d entries, its neighbours have %d", r.where(), n, r.shape[depth])
	}
	return nil
}

func (r *nestReader) element(depth int) error {
	tok, err := r.d.Token()
	if err != nil {
		return jsonError(r.d, err)
	}
	switch v := tok.(type) {
	case json.Delim:
		if v == '[' {
			return r.array(depth + 1)
		}
	case json.Number:
		if depth+1 != len(r.shape) {
			return fmt.Errorf("%s is a number, but others at this depth are arrays", r.where())
		}
		r.deep = true
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return fmt.Errorf("%s is %s, want a finite number", r.where(), v)
		}
		r.data = append(r.data, f)
		return nil
	}
	return fmt.Errorf("%s is %s, want a number", r.where(), tokenText(tok))
}

func expect(d *json.Decoder, want json.Delim, what string) error {
	tok, err := d.Token()
	if err != nil {
		return jsonError(d, err)
	}
	if tok != want {
		return fmt.Errorf("%s is %s, want %q", what, tokenText(tok), want.String())
	}
	return nil
}

func tokenText(tok json.Token) string {
	switch v := tok.(type) {
	case nil:
		return "null"
	case string:
		if len(v) > 40 {
			v = v[:40] + "..."
		}
		return fmt.Sprintf("the string %q", v)
	case json.Delim:
		if v == '{' {
			return "an object"
		}
		return "an array"
	}
	return fmt.Sprint(tok)
}

func jsonError(d *json.Decoder, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("JSON ends early, at byte %d", d.InputOffset())
	}
	return fmt.Errorf("not JSON, near byte %d: %w", d.InputOffset(), err)
}
