package llm

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/internal/mapped"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// A safetensors file is the length of its header (8 bytes, least first), the header, and the data. The header is a JSON object: by name,
// each tensor's type, shape and place in the data; and "__metadata__", an object of strings.

// maxHeader bounds a header, as the format does.
const maxHeader = 100 << 20

// entry is a tensor of a safetensors file.
type entry struct {
	file       string
	kind       string
	shape      []int
	begin, end int // in the file
}

// sizeOf is the number of bytes of an element, 0 for a type that is not read.
func sizeOf(kind string) int {
	switch kind {
	case "F32":
		return 4
	case "F16", "BF16":
		return 2
	}
	return 0
}

// widthOf is the number of bytes of an element of any type of the format.
func widthOf(kind string) int {
	switch kind {
	case "BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3":
		return 1
	case "I16", "U16", "F16", "BF16":
		return 2
	case "I32", "U32", "F32":
		return 4
	case "I64", "U64", "F64":
		return 8
	}
	return 0
}

// parseHeader reads the header of a file and checks that the tensors fill the data without gap and overlap.
func parseHeader(name string, data []byte) (map[string]entry, error) {
	bad := func(format string, args ...any) error {
		return malformed("%s: %w", onnx.Quote(name), fmt.Errorf(format, args...))
	}
	if len(data) < 8 {
		return nil, bad("%d bytes, expected a header", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || n > uint64(len(data)-8) {
		return nil, bad("a header of %d bytes, the file has %d and a header at most %d", n, len(data), maxHeader)
	}
	header, start := data[8:8+n], 8+int(n)
	if len(header) == 0 || header[0] != '{' {
		return nil, bad("the header is no JSON object")
	}
	entries := map[string]entry{}
	err := eachField(header, func(key string, raw json.RawMessage) error {
		if key == "__metadata__" {
			if err := json.Unmarshal(raw, new(map[string]string)); err != nil {
				return fmt.Errorf("__metadata__ is no object of strings")
			}
			return nil
		}
		e, err := parseEntry(raw, len(data)-start)
		if err != nil {
			return fmt.Errorf("tensor %s: %w", onnx.Quote(key), err)
		}
		e.file, e.begin, e.end = name, e.begin+start, e.end+start
		entries[key] = e
		return nil
	})
	if err != nil {
		return nil, bad("%w", err)
	}
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := entries[names[i]], entries[names[j]]
		if a.begin != b.begin {
			return a.begin < b.begin
		}
		return a.end < b.end || a.end == b.end && names[i] < names[j]
	})
	at := start
	for _, key := range names {
		if e := entries[key]; e.begin != at {
			return nil, bad("tensor %s begins at byte %d, expected %d: there are gaps or overlaps", onnx.Quote(key), e.begin-start, at-start)
		}
		at = entries[key].end
	}
	if at != len(data) {
		return nil, bad("%d bytes follow the last tensor", len(data)-at)
	}
	return entries, nil
}

// eachField walks through the fields of a JSON object, none of which may come twice.
func eachField(object []byte, field func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("no JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok || seen[key] {
			return fmt.Errorf("field %s is given twice", onnx.Quote(key))
		}
		seen[key] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := field(key, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if rest, err := io.ReadAll(io.MultiReader(d.Buffered(), bytes.NewReader(object[d.InputOffset():]))); err != nil || len(bytes.Trim(rest, " \t\r\n")) > 0 {
		return errors.New("something follows the object")
	}
	return nil
}

// unmarshal reads the fields of a JSON object, whose names must be exact and come once: other readers take other ones of several that are spelt alike,
// and would have another model. Only if exact are there to be no further fields.
func unmarshal(object []byte, into any, exact bool) error {
	known := reflect.TypeOf(into).Elem()
	err := eachField(object, func(key string, _ json.RawMessage) error {
		for i := range known.NumField() {
			if name := known.Field(i).Tag.Get("json"); name != key && strings.EqualFold(name, key) {
				return fmt.Errorf("field %s, expected %s", onnx.Quote(key), name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if exact {
		d.DisallowUnknownFields()
	}
	return d.Decode(into)
}

// parseEntry reads one tensor's type, shape and place.
func parseEntry(raw json.RawMessage, size int) (entry, error) {
	var t struct {
		Kind    string   `json:"dtype"`
		Shape   []*int64 `json:"shape"`
		Offsets []*int64 `json:"data_offsets"`
	}
	if err := unmarshal(raw, &t, true); err != nil {
		return entry{}, err
	}
	shape, ok := present(t.Shape)
	offsets, all := present(t.Offsets)
	if !ok || !all {
		return entry{}, errors.New("null among the numbers of shape or data_offsets")
	}
	width := widthOf(t.Kind)
	switch {
	case width == 0:
		return entry{}, fmt.Errorf("unknown dtype %s", onnx.Quote(t.Kind))
	case t.Shape == nil || len(shape) > 8:
		return entry{}, fmt.Errorf("a shape of %d axes, expected 0 to 8", len(shape))
	case len(offsets) != 2 || offsets[0] < 0 || offsets[0] > offsets[1] || offsets[1] > int64(size):
		return entry{}, fmt.Errorf("data_offsets %v, expected two increasing numbers up to %d", offsets, size)
	}
	e := entry{kind: t.Kind, begin: int(offsets[0]), end: int(offsets[1])}
	n := int64(width)
	for _, d := range shape {
		if d < 0 || d > 0 && n > int64(size)/d {
			return entry{}, fmt.Errorf("shape %v needs more than the file's %d bytes", shape, size)
		}
		n *= d
		e.shape = append(e.shape, int(d))
	}
	if n != offsets[1]-offsets[0] {
		return entry{}, fmt.Errorf("%d bytes of data, expected %d for shape %v of %s", offsets[1]-offsets[0], n, shape, t.Kind)
	}
	return e, nil
}

// present are the numbers of a list without nulls, which would pass for zeros.
func present(list []*int64) (out []int64, ok bool) {
	for _, v := range list {
		if v == nil {
			return nil, false
		}
		out = append(out, *v)
	}
	return out, true
}

// Checkpoint is a folder with config.json and the weights in one or several safetensors files. It is not safe for concurrent use.
type Checkpoint struct {
	folder  *mapped.Folder
	config  *Config
	entries map[string]entry
}

// Names of the files of a checkpoint.
const (
	configName = "config.json"
	singleName = "model.safetensors"
	indexName  = "model.safetensors.index.json"
)

// Open opens a checkpoint. Headers are checked at once, elements when they are read.
func Open(path string) (*Checkpoint, error) {
	folder, err := mapped.OpenFolder(path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", onnx.Quote(path), err)
	}
	c := &Checkpoint{folder: folder, entries: map[string]entry{}}
	if err := c.open(); err != nil {
		return nil, fmt.Errorf("opening %s: %w", onnx.Quote(path), errors.Join(err, folder.Close()))
	}
	return c, nil
}

// Close lets go of the files.
func (c *Checkpoint) Close() error { return c.folder.Close() }

// Config returns the model's shape.
func (c *Checkpoint) Config() *Config { return c.config }

func (c *Checkpoint) open() error {
	f, err := c.folder.Open(configName)
	if err != nil {
		return malformed("%s: %w", configName, err)
	}
	if c.config, err = ParseConfig(f.Bytes); err != nil {
		return err
	}
	index, err := c.folder.Open(indexName)
	if errors.Is(err, fs.ErrNotExist) {
		return c.add(singleName, nil)
	}
	if err != nil {
		return malformed("%s: %w", indexName, err)
	}
	var parsed struct {
		Map json.RawMessage `json:"weight_map"`
	}
	if err := unmarshal(index.Bytes, &parsed, false); err != nil {
		return malformed("%s: %w", indexName, err)
	}
	if len(parsed.Map) == 0 {
		return malformed("%s has no weight_map", indexName)
	}
	files := map[string]map[string]bool{} // file -> tensors that it must hold
	err = eachField(parsed.Map, func(key string, raw json.RawMessage) error {
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return fmt.Errorf("the file of tensor %s: %w", onnx.Quote(key), err)
		}
		if name == "" || strings.ContainsAny(name, `/\:`) || strings.HasPrefix(name, ".") {
			return fmt.Errorf("tensor %s is in the file %s, expected a file beside the index", onnx.Quote(key), onnx.Quote(name))
		}
		if files[name] == nil {
			files[name] = map[string]bool{}
		}
		files[name][key] = true
		return nil
	})
	if err != nil {
		return malformed("%s: %w", indexName, err)
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := c.add(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// add takes the tensors of a file, which must be those listed, if there is a list.
func (c *Checkpoint) add(name string, listed map[string]bool) error {
	f, err := c.folder.Open(name)
	if err != nil {
		return malformed("%s: %w", onnx.Quote(name), err)
	}
	entries, err := parseHeader(name, f.Bytes)
	if err != nil {
		return err
	}
	for key := range listed {
		if _, ok := entries[key]; !ok {
			return malformed("%s lists tensor %s in %s, which does not have it", indexName, onnx.Quote(key), onnx.Quote(name))
		}
	}
	for key, e := range entries {
		if listed != nil && !listed[key] {
			return malformed("%s has tensor %s, which %s does not list there", onnx.Quote(name), onnx.Quote(key), indexName)
		}
		c.entries[key] = e
	}
	return nil
}

// Has reports whether there is a tensor of that name.
func (c *Checkpoint) Has(name string) bool {
	_, ok := c.entries[name]
	return ok
}

// Names returns the names of all tensors in order.
func (c *Checkpoint) Names() []string {
	names := make([]string, 0, len(c.entries))
	for name := range c.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// find returns a tensor's entry and bytes.
func (c *Checkpoint) find(name string, shape []int) (entry, *mapped.File, error) {
	e, ok := c.entries[name]
	switch {
	case !ok:
		return e, nil, malformed("tensor %s is missing", onnx.Quote(name))
	case !slices.Equal(e.shape, shape):
		return e, nil, malformed("tensor %s has shape %v, expected %v", onnx.Quote(name), e.shape, shape)
	case sizeOf(e.kind) == 0:
		return e, nil, unsupported("tensor %s has type %s, expected F32, F16 or BF16", onnx.Quote(name), e.kind)
	}
	f, err := c.folder.Open(e.file)
	return e, f, err
}

// Prefetch asks the system to read tensors, so that they come in as one bulk while earlier ones are converted.
func (c *Checkpoint) Prefetch(names ...string) error {
	for _, name := range names {
		e, ok := c.entries[name]
		if !ok {
			continue
		}
		f, err := c.folder.Open(e.file)
		if err == nil {
			err = f.Need(e.begin, e.end-e.begin)
		}
		if err != nil {
			return fmt.Errorf("tensor %s: %w", onnx.Quote(name), err)
		}
	}
	return nil
}

// Tensor reads a tensor of that shape. NaN and infinities are refused.
func (c *Checkpoint) Tensor(name string, shape ...int) (*onnx.Tensor, error) {
	e, f, err := c.find(name, shape)
	if err != nil {
		return nil, err
	}
	data := f.Bytes[e.begin:e.end]
	n := len(data) / sizeOf(e.kind)
	out := &onnx.Tensor{Shape: shape, Real: make([]float32, n)}
	var wrong atomic.Int64 // the first element that is no number
	wrong.Store(int64(n))
	parallel.For(n, 1<<16, func(lo, hi int) {
		convert(out.Real[lo:hi], data[lo*sizeOf(e.kind):], e.kind)
		for i, v := range out.Real[lo:hi] {
			if v-v != 0 {
				for was := wrong.Load(); int64(lo+i) < was && !wrong.CompareAndSwap(was, int64(lo+i)); was = wrong.Load() {
				}
				return
			}
		}
	})
	if i := wrong.Load(); i < int64(n) {
		return nil, malformed("tensor %s, element %d is %g", onnx.Quote(name), i, out.Real[i])
	}
	return out, nil
}

// convert reads little-endian elements.
func convert(out []float32, data []byte, kind string) {
	le := binary.LittleEndian
	switch kind {
	case "F32":
		for i := range out {
			out[i] = math.Float32frombits(le.Uint32(data[4*i:]))
		}
	case "BF16":
		for i := range out {
			out[i] = math.Float32frombits(uint32(le.Uint16(data[2*i:])) << 16)
		}
	case "F16":
		for i := range out {
			out[i] = half(le.Uint16(data[2*i:]))
		}
	}
}

// half converts an IEEE number of 16 bits.
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, int(h>>10)&31, uint32(h&1023)
	switch exponent {
	case 0:
		v := math.Ldexp(float64(fraction), -24)
		if sign != 0 {
			v = -v
		}
		return float32(v)
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | uint32(exponent+112)<<23 | fraction<<13)
}
