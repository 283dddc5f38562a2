package onnx

import (
	"math"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// ints returns a list of integers, nil if the node has no such attribute.
func (a *attributes) ints(name string) []int64 {
	if p := a.take(name, onnxpb.AttributeProto_INTS); p != nil {
		return p.Ints
	}
	return nil
}

// floats returns a list of real numbers, nil if the node has no such attribute. They must be finite.
func (a *attributes) floats(name string) []float64 {
	p := a.take(name, onnxpb.AttributeProto_FLOATS)
	if p == nil {
		return nil
	}
	out := make([]float64, len(p.Floats))
	for i, v := range p.Floats {
		out[i] = float64(v)
		if (math.IsNaN(out[i]) || math.IsInf(out[i], 0)) && a.err == nil {
			a.err = unsupported("%s: attribute %s, element %d is %g", a.node, Quote(name), i, v)
		}
	}
	return out
}

// str returns a string.
func (a *attributes) str(name, otherwise string) string {
	if p := a.take(name, onnxpb.AttributeProto_STRING); p != nil {
		return string(p.S)
	}
	return otherwise
}

// strs returns a list of strings, nil if the node has no such attribute.
func (a *attributes) strs(name string) []string {
	p := a.take(name, onnxpb.AttributeProto_STRINGS)
	if p == nil {
		return nil
	}
	out := make([]string, len(p.Strings))
	for i, v := range p.Strings {
		out[i] = string(v)
	}
	return out
}
