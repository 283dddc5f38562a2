package onnx

import (
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// attributes reads the attributes of one node and remembers which were asked for, so that the rest can be refused. The first error
// sticks.
type attributes struct {
	node string // for errors
	all  map[string]*onnxpb.AttributeProto
	used map[string]bool
	err  error
}

func newAttributes(node string, list []*onnxpb.AttributeProto) (*attributes, error) {
	a := &attributes{node: node, all: make(map[string]*onnxpb.AttributeProto, len(list)), used: map[string]bool{}}
	for _, p := range list {
		if a.all[p.Name] != nil {
			return nil, malformed("%s: attribute %s is given twice", node, Quote(p.Name))
		}
		if p.RefAttrName != "" {
			return nil, unsupported("%s: attribute %s refers to the attribute of a function", node, Quote(p.Name))
		}
		a.all[p.Name] = p
	}
	return a, nil
}

// take returns the attribute of that name and type, or nil if the node has none.
func (a *attributes) take(name string, kind onnxpb.AttributeProto_AttributeType) *onnxpb.AttributeProto {
	p := a.all[name]
	if p == nil {
		return nil
	}
	a.used[name] = true
	if p.Type != kind {
		if a.err == nil {
			a.err = unsupported("%s: attribute %s has type %s, expected %s", a.node, Quote(name), p.Type, kind)
		}
		return nil
	}
	return p
}

func (a *attributes) has(name string) bool { return a.all[name] != nil }

func (a *attributes) float(name string, otherwise float64) float64 {
	if p := a.take(name, onnxpb.AttributeProto_FLOAT); p != nil {
		return float64(p.F)
	}
	return otherwise
}

func (a *attributes) int(name string, otherwise int64) int64 {
	if p := a.take(name, onnxpb.AttributeProto_INT); p != nil {
		return p.I
	}
	return otherwise
}

// flag reads an integer that must be 0 or 1.
func (a *attributes) flag(name string, otherwise bool) bool {
	i := int64(0)
	if otherwise {
		i = 1
	}
	v := a.int(name, i)
	if v != 0 && v != 1 && a.err == nil {
		a.err = unsupported("%s: attribute %s is %d, expected 0 or 1", a.node, Quote(name), v)
	}
	return v == 1
}

// done returns the first error, or one about an attribute that nobody asked for.
func (a *attributes) done(list []*onnxpb.AttributeProto) error {
	if a.err != nil {
		return a.err
	}
	for _, p := range list {
		if !a.used[p.Name] {
			return unsupported("%s: unknown attribute %s", a.node, Quote(p.Name))
		}
	}
	return nil
}
