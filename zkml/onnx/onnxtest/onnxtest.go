// Package onnxtest builds small ONNX files for tests.
package onnxtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"google.golang.org/protobuf/proto"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// File is an ONNX file under construction. Node methods return the name of the node's output.
type File struct {
	Proto *onnxpb.ModelProto
}

// New starts a file with one float input. The first axis is symbolic ("batch") when dims[0] is 0.
func New(opset int64, input string, dims ...int64) *File {
	f := &File{&onnxpb.ModelProto{
		IrVersion: 8, ProducerName: "onnxtest", OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: opset}},
		Graph: &onnxpb.GraphProto{Name: "test"},
	}}
	f.Proto.Graph.Input = []*onnxpb.ValueInfoProto{Info(input, onnxpb.TensorProto_FLOAT, dims...)}
	return f
}

// Info declares a tensor; a dimension of 0 becomes the symbol "batch".
func Info(name string, kind onnxpb.TensorProto_DataType, dims ...int64) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{}
	for _, d := range dims {
		axis := &onnxpb.TensorShapeProto_Dimension{}
		if d == 0 {
			axis.Value = &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: "batch"}
		} else {
			axis.Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: d}
		}
		shape.Dim = append(shape.Dim, axis)
	}
	return &onnxpb.ValueInfoProto{Name: name, Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
		TensorType: &onnxpb.TypeProto_Tensor{ElemType: int32(kind), Shape: shape},
	}}}
}

// Node adds a node with one output, named after the operator and its position, and returns the output's name.
func (f *File) Node(op string, inputs []string, attrs ...*onnxpb.AttributeProto) string {
	name := fmt.Sprintf("%s%d", op, len(f.Proto.Graph.Node))
	f.Proto.Graph.Node = append(f.Proto.Graph.Node, &onnxpb.NodeProto{
		Name: name, OpType: op, Input: inputs, Output: []string{name + ".out"}, Attribute: attrs,
	})
	return name + ".out"
}

// Last returns the node added last, for changes.
func (f *File) Last() *onnxpb.NodeProto { return f.Proto.Graph.Node[len(f.Proto.Graph.Node)-1] }

// Floats adds a float initializer and returns its name.
func (f *File) Floats(name string, values []float32, dims ...int64) string {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	f.Proto.Graph.Initializer = append(f.Proto.Graph.Initializer, &onnxpb.TensorProto{
		Name: name, Dims: dims, DataType: int32(onnxpb.TensorProto_FLOAT), RawData: raw,
	})
	return name
}

// Random adds a float initializer with normally distributed values.
func (f *File) Random(seed uint64, name string, deviation float64, dims ...int64) string {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	rng := rand.New(rand.NewPCG(seed, 99))
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64() * deviation)
	}
	return f.Floats(name, values, dims...)
}

// Ints adds an int64 initializer of rank 1 and returns its name.
func (f *File) Ints(name string, values ...int64) string {
	f.Proto.Graph.Initializer = append(f.Proto.Graph.Initializer, &onnxpb.TensorProto{
		Name: name, Dims: []int64{int64(len(values))}, DataType: int32(onnxpb.TensorProto_INT64), Int64Data: values,
	})
	return name
}

// Output makes a tensor the graph's output, without declaring its shape.
func (f *File) Output(name string) *File {
	f.Proto.Graph.Output = append(f.Proto.Graph.Output, &onnxpb.ValueInfoProto{Name: name})
	return f
}

// Bytes returns the file's content.
func (f *File) Bytes() []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(f.Proto)
	if err != nil {
		panic(err) // the messages above are well-formed
	}
	return b
}

// Int is an integer attribute.
func Int(name string, v int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_INT, I: v}
}

// Float is a float attribute.
func Float(name string, v float32) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_FLOAT, F: v}
}

// List is an attribute that holds a list of integers.
func List(name string, v ...int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_INTS, Ints: v}
}

// Text is a string attribute.
func Text(name, v string) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_STRING, S: []byte(v)}
}

// Codes adds an initializer of a small integer type and returns its name; no dims make a scalar.
func (f *File) Codes(name string, kind onnxpb.TensorProto_DataType, values []int32, dims ...int64) string {
	f.Proto.Graph.Initializer = append(f.Proto.Graph.Initializer, &onnxpb.TensorProto{Name: name, Dims: dims, DataType: int32(kind), Int32Data: values})
	return name
}
