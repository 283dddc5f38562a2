package onnx

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// OperatorUse is an operator that a file uses.
type OperatorUse struct {
	Name      string // with the domain and a point before it, unless that is the standard one
	Nodes     int
	Supported bool // the importer knows it; attributes and shapes may still be beyond it
}

// Survey lists the operators in a file, those of branches and loops included, without importing it.
func Survey(data []byte) ([]OperatorUse, error) {
	file := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(data, file); err != nil || file.Graph == nil {
		return nil, malformed("it is not a protocol buffer of the ONNX schema")
	}
	count := map[string]int{}
	survey(file.Graph, count, 0)
	var out []OperatorUse
	for name, n := range count {
		_, known := operators[name]
		out = append(out, OperatorUse{name, n, known})
	}
	slices.SortFunc(out, func(a, b OperatorUse) int { return cmp.Or(b.Nodes-a.Nodes, cmp.Compare(a.Name, b.Name)) })
	return out, nil
}

// surveyDepth bounds how deep branches within branches are looked at.
const surveyDepth = 8

func survey(g *onnxpb.GraphProto, count map[string]int, depth int) {
	for _, n := range g.Node {
		key := n.OpType
		if !standardDomain(n.Domain) {
			key = n.Domain + "." + key
		}
		count[key]++
		for _, a := range n.Attribute {
			for _, packed := range append(a.Graphs, a.G) {
				sub := &onnxpb.GraphProto{}
				if len(packed) > 0 && depth < surveyDepth && proto.Unmarshal(packed, sub) == nil {
					survey(sub, count, depth+1)
				}
			}
		}
	}
}
