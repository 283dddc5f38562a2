package onnx

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// branch translates an If whose condition is constant: the nodes of the branch that is taken become part of the graph.
func (t *translation) branch() error {
	v := t.value(0)
	if v.Const == nil {
		return t.unsupported("the condition %s depends on an input, expected a constant", t.inputName(0))
	}
	if v.Const.Len() != 1 || !v.Int {
		return t.malformed("the condition %s has shape %v, expected one element", t.inputName(0), v.Shape)
	}
	taken, other := "else_branch", "then_branch"
	if v.Const.Ints[0] != 0 {
		taken, other = other, taken
	}
	t.attrs.take(other, onnxpb.AttributeProto_GRAPH)
	p := t.attrs.take(taken, onnxpb.AttributeProto_GRAPH)
	if p == nil {
		return t.malformed("attribute %q is missing", taken)
	}
	g, err := subgraph(p, t.label)
	if err != nil {
		return err
	}
	if len(g.Input) > 0 || len(g.Output) != len(t.proto.Output) || len(g.SparseInitializer) > 0 || len(g.QuantizationAnnotation) > 0 {
		return t.malformed("the branch has %d inputs and %d outputs, expected none and %d", len(g.Input), len(g.Output), len(t.proto.Output))
	}
	sub := *t.im
	sub.graph, sub.wanted, sub.depth, sub.within = g, g.Output, t.im.depth+1, t.label+": "
	if sub.depth > maxDepth {
		return t.unsupported("branches within branches, more than %d deep", maxDepth)
	}
	// Names of the branch are not seen outside.
	sub.ids = make(map[string]int, len(t.im.ids))
	for name, id := range t.im.ids {
		sub.ids[name] = id
	}
	if err := sub.translate(); err != nil {
		return err
	}
	t.im.given, t.im.folded = sub.given, sub.folded
	for k, info := range g.Output {
		id, ok := sub.ids[info.Name]
		if !ok {
			return t.malformed("output %s of the branch is not computed", Quote(info.Name))
		}
		if name := t.proto.Output[k]; name != "" {
			t.im.ids[name] = id
		}
	}
	return nil
}

// maxDepth bounds branches within branches.
const maxDepth = 8

// subgraph reads the graph in an attribute.
func subgraph(p *onnxpb.AttributeProto, label string) (*onnxpb.GraphProto, error) {
	g := &onnxpb.GraphProto{}
	if err := proto.Unmarshal(p.G, g); err != nil {
		return nil, malformed("%s: attribute %s is no graph of the ONNX schema", label, Quote(p.Name))
	}
	return g, checkKnown(g.ProtoReflect(), "graph")
}

// reads lists the names that a node reads: its inputs, and what the graphs in its attributes take from outside.
func reads(n *onnxpb.NodeProto, depth int) []string {
	names := slices.Clone(n.Input)
	for _, p := range n.Attribute {
		if p.Type != onnxpb.AttributeProto_GRAPH || depth > maxDepth {
			continue
		}
		g, err := subgraph(p, "")
		if err != nil {
			continue // reported when the node is translated
		}
		own := map[string]bool{}
		for _, t := range g.Initializer {
			own[t.Name] = true
		}
		for _, in := range g.Input {
			own[in.Name] = true
		}
		for _, inner := range g.Node {
			for _, out := range inner.Output {
				own[out] = true
			}
		}
		for _, inner := range g.Node {
			for _, name := range reads(inner, depth+1) {
				if name != "" && !own[name] {
					names = append(names, name)
				}
			}
		}
		for _, out := range g.Output {
			if !own[out.Name] {
				names = append(names, out.Name)
			}
		}
	}
	return names
}
