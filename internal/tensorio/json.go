package tensorio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// readObject decodes a JSON object with one sample of a model's inputs: {"input_data": [first, second, ...]}, or an entry for each
// input under its name. Each is a rectangular nesting of finite numbers.
func readObject(file []byte, inputs []Input) ([]Tensor, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.UseNumber()
	if err := expect(d, json.Delim('{'), "the file"); err != nil {
		return nil, err
	}
	out := make([]Tensor, len(inputs))
	seen := make([]bool, len(inputs))
	listed, named := false, false
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return nil, jsonError(d, err)
		}
		key, _ := tok.(string)
		k := slices.IndexFunc(inputs, func(in Input) bool { return in.Name == key })
		switch {
		case key == listField && listed, k >= 0 && seen[k] && !listed:
			return nil, fmt.Errorf("field %s occurs twice", Name(key))
		case key == listField && !named:
			listed = true
			if err := readList(d, inputs, out); err != nil {
				return nil, err
			}
		case k >= 0 && !listed:
			named, seen[k] = true, true
			r := nestReader{d: d, name: Name(key)}
			if out[k], err = r.tensor(inputs[k].Shape); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("unknown field %q, want %s alone or the model's inputs: %s", key, listField, InputsText(inputs))
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return nil, jsonError(d, err)
	}
	if k := slices.Index(seen, false); !listed && !named {
		return nil, fmt.Errorf("field %s is missing", listField)
	} else if !listed && k >= 0 {
		return nil, fmt.Errorf("input %s is missing; the model takes %s", Name(inputs[k].Name), InputsText(inputs))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("byte %d: more after the end of the object", d.InputOffset())
	}
	return out, nil
}

// listField holds the inputs in order.
const listField = "input_data"

// readList reads the list of all inputs.
func readList(d *json.Decoder, inputs []Input, out []Tensor) error {
	if err := expect(d, json.Delim('['), listField); err != nil {
		return err
	}
	for k := range inputs {
		if !d.More() {
			return fmt.Errorf("input_data has %d entries, but the model takes %d: %s", k, len(inputs), InputsText(inputs))
		}
		r := nestReader{d: d, name: listField, path: []int{k}}
		var err error
		if out[k], err = r.tensor(inputs[k].Shape); err != nil {
			return err
		}
	}
	switch {
	case d.More() && len(inputs) == 1:
		return fmt.Errorf("input_data has more than one entry, but the model takes one input")
	case d.More():
		return fmt.Errorf("input_data has more than %d entries, but the model takes no more: %s", len(inputs), InputsText(inputs))
	}
	_, err := d.Token()
	return jsonError(d, err)
}

// nestReader reads a rectangular nesting of numbers. The first path down
// fixes the lengths, all others must agree.
type nestReader struct {
	d     *json.Decoder
	name  string // what is read, for messages
	shape []int  // lengths known so far; -1 while an axis' first array is open
	deep  bool   // the depth is known: numbers have been seen
	path  []int  // indices of the current element, for messages
	data  []float64
}

func (r *nestReader) where() string {
	var b strings.Builder
	b.WriteString(r.name)
	for _, i := range r.path {
		b.WriteString("[" + strconv.Itoa(i) + "]")
	}
	return b.String()
}

// tensor reads all of it, which must fit a shape. A single number will do for a tensor of one element.
func (r *nestReader) tensor(want []int) (Tensor, error) {
	tok, err := r.d.Token()
	if err != nil {
		return Tensor{}, jsonError(r.d, err)
	}
	number, single := tok.(json.Number)
	what := r.where()
	switch {
	case tok == json.Delim('['):
		err = r.array(0)
	case single && Elements(want) == 1:
		r.shape = []int{}
		err = r.number(number)
	default:
		err = fmt.Errorf("%s is %s, want an array of shape %s", what, tokenText(tok), ShapeText(want))
	}
	if err != nil {
		return Tensor{}, err
	}
	if !sameLayout(r.shape, want) {
		return Tensor{}, fmt.Errorf("%s has shape %s, the model takes %s", what, ShapeText(r.shape), ShapeText(want))
	}
	return Tensor{Shape: r.shape, Data: r.data}, nil
}

// number takes one number.
func (r *nestReader) number(v json.Number) error {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return fmt.Errorf("%s is %s, want a finite number", r.where(), v)
	}
	r.data = append(r.data, f)
	return nil
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
		return r.number(v)
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
