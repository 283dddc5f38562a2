package onnx

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// MaxFileSize bounds an ONNX file; the format itself ends at 2 GiB.
const MaxFileSize = 1<<31 - 1

// Options say how to read a model.
type Options struct {
	// Dims gives lengths to symbolic axes of the inputs by name. A first axis is 1 when it has no given length; every other
	// symbolic axis needs an entry, and every entry must be used.
	Dims map[string]int
	// An axis is also named by its input and position, as in "x:1", whether the file names it or not.
	//
	// Fix makes inputs constants, with the same number everywhere: masks that hide nothing, switches.
	Fix map[string]float64
	// Ranges bounds the elements of integer inputs where the graph does not: those that are neither token numbers of an embedding nor
	// masks of 0 and 1.
	Ranges map[string][2]int64
	// Outputs names the outputs that are wanted, in order; none means all. What they do not depend on is left out.
	Outputs []string
	// Folder is where constants may lie that the file keeps in other files beside it; Load takes the file's own. No file outside of it is
	// read. Without a folder such constants are refused.
	Folder string
}

// Load reads a model from a file.
func Load(path string, opts Options) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a model: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading a model: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("reading %s: %w", Quote(path), malformed("it is a folder"))
	}
	if info.Size() > MaxFileSize {
		return nil, fmt.Errorf("reading %s: %w", Quote(path), malformed("%d bytes, an ONNX file has less than 2 GiB", info.Size()))
	}
	if opts.Folder == "" {
		opts.Folder = filepath.Dir(path)
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(f, MaxFileSize+1)); err != nil {
		return nil, fmt.Errorf("reading a model: %w", err)
	}
	m, err := Parse(data.Bytes(), opts)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", Quote(path), err)
	}
	return m, nil
}

// Parse reads a model from the bytes of a file. Errors wrap ErrMalformed or ErrUnsupported.
func Parse(data []byte, opts Options) (*Model, error) {
	if len(data) == 0 {
		return nil, malformed("it is empty")
	}
	if len(data) > MaxFileSize {
		return nil, malformed("%d bytes, an ONNX file has less than 2 GiB", len(data))
	}
	file := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(data, file); err != nil {
		return nil, malformed("it is not a protocol buffer of the ONNX schema")
	}
	if err := checkKnown(file.ProtoReflect(), "model"); err != nil {
		return nil, err
	}
	opset, err := checkHeader(file)
	if err != nil {
		return nil, err
	}
	im := &importer{
		m: &Model{
			Name: file.Graph.Name, Producer: file.ProducerName, IR: file.IrVersion, Opset: opset,
			Dims: map[string]int{},
		},
		external: &externals{folder: opts.Folder}, fix: opts.Fix, ranges: opts.Ranges,
		graph: file.Graph, dims: opts.Dims, ids: map[string]int{}, masks: map[string]string{}, dynamic: map[string]string{},
	}
	if err := im.choose(opts.Outputs); err != nil {
		return nil, err
	}
	err = im.run()
	if e := im.external.close(); err == nil && e != nil {
		err = malformed("closing a file of external data: %w", e)
	}
	if err != nil {
		return nil, err
	}
	im.m.Choices = Choices{Fix: maps.Clone(opts.Fix), Ranges: maps.Clone(opts.Ranges), Outputs: slices.Clone(opts.Outputs)}
	im.m.SHA256 = opts.identify(im.external.identify(sha256.Sum256(data)))
	return im.m, nil
}

// identify lets what identifies a model depend on fixed inputs, ranges and chosen outputs.
func (o *Options) identify(model [32]byte) [32]byte {
	if len(o.Fix) == 0 && len(o.Outputs) == 0 && len(o.Ranges) == 0 {
		return model
	}
	h := sha256.New()
	fmt.Fprintf(h, "zkwarp ONNX file with choices\n%x\n", model)
	for _, name := range slices.Sorted(maps.Keys(o.Fix)) {
		fmt.Fprintf(h, "fix %q %x\n", name, math.Float64bits(o.Fix[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Ranges)) {
		fmt.Fprintf(h, "range %q %d %d\n", name, o.Ranges[name][0], o.Ranges[name][1])
	}
	for _, name := range o.Outputs {
		fmt.Fprintf(h, "output %q\n", name)
	}
	return [32]byte(h.Sum(nil))
}

// checkKnown refuses fields that onnx.proto does not list, anywhere in the file.
func checkKnown(m protoreflect.Message, where string) error {
	if len(m.GetUnknown()) > 0 {
		return malformed("the %s has a field that ONNX does not define or that this program does not know", where)
	}
	var err error
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Kind() != protoreflect.MessageKind {
			return true
		}
		if f.IsList() {
			for i := range v.List().Len() {
				if err = checkKnown(v.List().Get(i).Message(), string(f.Name())); err != nil {
					return false
				}
			}
			return true
		}
		err = checkKnown(v.Message(), string(f.Name()))
		return err == nil
	})
	return err
}

// checkHeader checks everything outside the graph and returns the operator set.
func checkHeader(file *onnxpb.ModelProto) (int, error) {
	switch {
	case file.Graph == nil || file.IrVersion == 0 || len(file.OpsetImport) == 0:
		return 0, malformed("it has no graph, format version or operator set; is it an ONNX file?")
	case file.IrVersion < 3 || file.IrVersion > 13:
		return 0, unsupported("format (IR) version %d, expected 3 to 13", file.IrVersion)
	case len(file.Functions) > 0:
		return 0, unsupported("the model defines %d functions of its own", len(file.Functions))
	case len(file.TrainingInfo) > 0:
		return 0, unsupported("the model carries training information; export it for inference")
	case len(file.Configuration) > 0:
		return 0, unsupported("the model is sharded over devices")
	case len(file.Graph.SparseInitializer) > 0:
		return 0, unsupported("the model has sparse constants")
	case len(file.Graph.QuantizationAnnotation) > 0:
		return 0, unsupported("the model has quantisation annotations; give the float model")
	}
	opset := -1
	for _, set := range file.OpsetImport {
		if !standardDomain(set.Domain) {
			continue // harmless until a node uses it, and then the node is refused
		}
		if opset >= 0 {
			return 0, malformed("the standard operator set is imported twice")
		}
		if set.Version < MinOpset || set.Version > MaxOpset {
			return 0, unsupported("operator set %d, expected %d to %d", set.Version, MinOpset, MaxOpset)
		}
		opset = int(set.Version)
	}
	if opset < 0 {
		return 0, malformed("the standard operator set is not imported")
	}
	return opset, nil
}

func standardDomain(domain string) bool { return domain == "" || domain == "ai.onnx" }
