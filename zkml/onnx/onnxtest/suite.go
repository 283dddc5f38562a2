package onnxtest

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// Test is one test of ONNX's node suite, or one in its form: a model, its inputs and the expected outputs.
type Test struct {
	Name            string
	Model           *onnxpb.ModelProto
	Inputs, Outputs []*onnxpb.TensorProto // nil where the archive has no data or it is no tensor
}

// ReadSuite unpacks an archive made by node.py or quantised.py of zkml/onnx/testdata.
func ReadSuite(file string) ([]Test, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	tests := map[string]*Test{}
	for archive := tar.NewReader(bzip2.NewReader(bytes.NewReader(data))); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		dir, name := path.Split(header.Name)
		test := tests[dir]
		if test == nil {
			test = &Test{Name: strings.TrimSuffix(dir, "/")}
			tests[dir] = test
		}
		if name == "model.onnx" {
			test.Model = &onnxpb.ModelProto{}
			if err := proto.Unmarshal(content, test.Model); err != nil {
				return nil, fmt.Errorf("%s: %w", header.Name, err)
			}
			continue
		}
		tensor := &onnxpb.TensorProto{}
		if proto.Unmarshal(content, tensor) != nil || len(tensor.ProtoReflect().GetUnknown()) > 0 {
			tensor = nil // a sequence or an optional value
		}
		kind, number, _ := strings.Cut(strings.TrimSuffix(name, ".pb"), "_")
		i, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s is no numbered tensor", header.Name)
		}
		list := &test.Inputs
		if kind == "output" {
			list = &test.Outputs
		}
		for len(*list) <= i {
			*list = append(*list, nil)
		}
		(*list)[i] = tensor
	}
	var all []Test
	for _, dir := range slices.Sorted(maps.Keys(tests)) {
		all = append(all, *tests[dir])
	}
	return all, nil
}

// fixedInputs are the inputs that become constants for an operator, beside every input of an integer or boolean type of an operator that
// is not listed in integerInputs: they determine shapes, or must be constant to make sense of the model.
var fixedInputs = map[string][]int{
	"BatchNormalization": {1, 2, 3, 4}, "Clip": {1, 2}, "Dropout": {1, 2}, "Pad": {2}, "Resize": {1, 2}, "Upsample": {1}, "Pow": {1},
	"QuantizeLinear": {1, 2}, "DequantizeLinear": {1, 2}, "QLinearConv": {1, 2, 3, 4, 5, 6, 7, 8}, "QLinearMatMul": {1, 2, 4, 5, 6, 7},
	"ConvInteger": {1, 2, 3}, "MatMulInteger": {2, 3}, "ConstantOfShape": {0}, "Range": {0, 1, 2}, "CastLike": {1}, "LSTM": {1, 2, 3, 4, 7}, "GRU": {1, 2, 3, 4}, "RNN": {1, 2, 3, 4},
}

// integerInputs are inputs of integer or boolean types that stay inputs.
var integerInputs = map[string][]int{
	"Where": {0}, "Not": {0}, "And": {0, 1}, "Or": {0, 1}, "Xor": {0, 1}, "Gather": {0}, "QLinearMatMul": {0, 3}, "QLinearConv": {0}, "ConvInteger": {0}, "MatMulInteger": {0, 1},
	"DequantizeLinear": {0}, "Identity": {0}, "MaxPool": {0}, "Cast": {0}, "Max": {0, 1, 2}, "Min": {0, 1, 2}, "ReduceMax": {0}, "ReduceMin": {0}, "Trilu": {0}, "Add": {0, 1},
	"Sub": {0, 1}, "Mul": {0, 1}, "Equal": {0}, "Concat": {0}, "Clip": {0},
	"QGemm": {0}, "QLinearAdd": {0, 3}, "QLinearMul": {0, 3}, "QLinearConcat": {2, 5}, "QLinearSigmoid": {0}, "QLinearLeakyRelu": {0},
	"QLinearAveragePool": {0}, "QLinearGlobalAveragePool": {0}, "QLinearSoftmax": {0},
}

// File returns the test's model, with those inputs as constants that determine shapes, and the tensors for the others. With fold all
// inputs become constants, and what the model computes from them is added to an input of its own: so operators are tested that are only
// understood in arithmetic on constants.
func (n *Test) File(fold bool) ([]byte, []*onnxpb.TensorProto, error) {
	model := proto.Clone(n.Model).(*onnxpb.ModelProto)
	// Tests carry the operator set in which their operator was last changed; older ones than 9 mean the same in 9.
	for _, set := range model.OpsetImport {
		set.Version = max(set.Version, 9)
	}
	g := model.Graph
	if len(n.Inputs) == 0 && len(n.Outputs) == 0 {
		return nil, nil, errors.New("its data are left out of the archive for their size")
	}
	type use struct {
		op string
		at int
	}
	uses := map[string][]use{}
	for _, node := range g.Node {
		for k, name := range node.Input {
			uses[name] = append(uses[name], use{node.OpType, k})
		}
	}
	var inputs []*onnxpb.ValueInfoProto
	var given []*onnxpb.TensorProto
	for i, info := range g.Input {
		if i >= len(n.Inputs) || n.Inputs[i] == nil {
			return nil, nil, fmt.Errorf("input %d is no tensor", i)
		}
		t := proto.Clone(n.Inputs[i]).(*onnxpb.TensorProto)
		t.Name = info.Name
		integer := !slices.Contains([]onnxpb.TensorProto_DataType{onnxpb.TensorProto_FLOAT, onnxpb.TensorProto_DOUBLE, onnxpb.TensorProto_FLOAT16,
			onnxpb.TensorProto_BFLOAT16}, onnxpb.TensorProto_DataType(t.DataType))
		fixed := fold || !slices.ContainsFunc(uses[info.Name], func(u use) bool {
			return !slices.Contains(fixedInputs[u.op], u.at) && !(integer && !slices.Contains(integerInputs[u.op], u.at))
		})
		if fixed {
			g.Initializer = append(g.Initializer, t)
			continue
		}
		inputs, given = append(inputs, info), append(given, t)
	}
	g.Input = inputs
	dropUnused(g)
	if fold {
		probe := &onnxpb.TensorProto{Name: "probe", DataType: int32(onnxpb.TensorProto_FLOAT), FloatData: []float32{0}}
		g.Input, given = []*onnxpb.ValueInfoProto{Info("probe", onnxpb.TensorProto_FLOAT)}, []*onnxpb.TensorProto{probe}
		for i, info := range g.Output {
			name := fmt.Sprintf("probed%d", i)
			g.Node = append(g.Node,
				&onnxpb.NodeProto{OpType: "Cast", Input: []string{info.Name}, Output: []string{name + "f"}, Attribute: []*onnxpb.AttributeProto{Int("to", 1)}},
				&onnxpb.NodeProto{OpType: "Add", Input: []string{name + "f", "probe"}, Output: []string{name}})
			g.Output[i] = &onnxpb.ValueInfoProto{Name: name}
		}
	}
	data, err := proto.Marshal(model)
	return data, given, err
}

// dropUnused removes what the expansion of a function leaves without a reader: such nodes are an error in a file.
func dropUnused(g *onnxpb.GraphProto) {
	for {
		read := map[string]bool{}
		for _, info := range g.Output {
			read[info.Name] = true
		}
		for _, n := range g.Node {
			for _, name := range n.Input {
				read[name] = true
			}
		}
		before := len(g.Node)
		g.Node = slices.DeleteFunc(g.Node, func(n *onnxpb.NodeProto) bool {
			return !slices.ContainsFunc(n.Output, func(name string) bool { return read[name] })
		})
		if len(g.Node) == before {
			return
		}
	}
}

// Operator is what a test is about: its node, or the function whose expansion it holds.
func (n *Test) Operator() string {
	nodes := n.Model.Graph.Node
	if len(nodes) == 1 {
		if nodes[0].Domain != "" {
			return nodes[0].Domain + "." + nodes[0].OpType
		}
		return nodes[0].OpType
	}
	for _, f := range [][2]string{
		{"layer_norm", "LayerNormalization"}, {"group_norm", "GroupNormalization"}, {"mvn", "MeanVarianceNormalization"}, {"reduce_", "Reduce*"},
		{"softmax", "Softmax"}, {"logsoftmax", "LogSoftmax"}, {"gelu", "Gelu"}, {"relu", "Relu"}, {"leakyrelu", "LeakyRelu"}, {"prelu", "PRelu"},
		{"elu", "Elu"}, {"selu", "Selu"}, {"celu", "Celu"}, {"thresholdedrelu", "ThresholdedRelu"}, {"clip", "Clip"}, {"hardsigmoid", "HardSigmoid"},
		{"hardswish", "HardSwish"}, {"mish", "Mish"}, {"softplus", "Softplus"}, {"softsign", "Softsign"},
	} {
		if strings.HasPrefix(n.Name, f[0]) {
			return f[1] + " (expanded)"
		}
	}
	return "several operators"
}
