package llm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pack is a safetensors file of a header and data.
func pack(header string, data []byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

func TestHeaderErrors(t *testing.T) {
	one := func(s string) string { return `{"a":` + s + `}` }
	for name, k := range map[string]struct {
		file []byte
		want string
	}{
		"short":      {[]byte{1, 2, 3}, "expected a header"},
		"long":       {pack("{}", nil)[:9], "a header of 2 bytes"},
		"huge":       {append(binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "{}"...), "a header at most"},
		"no object":  {pack("[]", nil), "no JSON object"},
		"cut":        {pack(`{"a":`, nil), "EOF"},
		"tail":       {pack(`{} {}`, nil), "something follows"},
		"metadata":   {pack(`{"__metadata__":{"a":1}}`, nil), "__metadata__"},
		"twice":      {pack(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, nil), "given twice"},
		"dtype":      {pack(one(`{"dtype":"X8","shape":[],"data_offsets":[0,1]}`), make([]byte, 1)), "unknown dtype"},
		"field":      {pack(one(`{"dtype":"U8","shape":[],"data_offsets":[0,1],"x":1}`), make([]byte, 1)), "unknown field"},
		"spelling":   {pack(one(`{"dtype":"U8","shape":[],"Shape":[1],"data_offsets":[0,1]}`), make([]byte, 1)), `field "Shape", expected shape`},
		"kind twice": {pack(one(`{"dtype":"BF16","dtype":"F16","shape":[],"data_offsets":[0,2]}`), make([]byte, 2)), `field "dtype" is given twice`},
		"null":       {pack(one(`{"dtype":"U8","shape":[null],"data_offsets":[0,0]}`), nil), "null among"},
		"no shape":   {pack(one(`{"dtype":"U8","data_offsets":[0,1]}`), make([]byte, 1)), "a shape of 0 axes"},
		"negative":   {pack(one(`{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}`), make([]byte, 1)), "shape [-1]"},
		"overflow":   {pack(one(`{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}`), make([]byte, 4)), "needs more than"},
		"backwards":  {pack(one(`{"dtype":"U8","shape":[1],"data_offsets":[1,0]}`), make([]byte, 1)), "data_offsets [1 0]"},
		"beyond":     {pack(one(`{"dtype":"U8","shape":[2],"data_offsets":[0,2]}`), make([]byte, 1)), "data_offsets [0 2]"},
		"size":       {pack(one(`{"dtype":"F32","shape":[2],"data_offsets":[0,4]}`), make([]byte, 8)), "expected 8 for shape [2] of F32"},
		"gap":        {pack(one(`{"dtype":"U8","shape":[1],"data_offsets":[1,2]}`), make([]byte, 2)), "gaps or overlaps"},
		"tail bytes": {pack(one(`{"dtype":"U8","shape":[1],"data_offsets":[0,1]}`), make([]byte, 2)), "1 bytes follow"},
		"overlap": {pack(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, make([]byte, 3)),
			"gaps or overlaps"},
	} {
		if _, err := parseHeader("f", k.file); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, expected %q", name, err, k.want)
		}
	}
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{0: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 1: 0x1p-24, 0x03ff: 1023 * 0x1p-24, 0x0400: 0x1p-14, 0x8001: -0x1p-24,
		0x7c00: float32(math.Inf(1)), 0xfc00: float32(math.Inf(-1)), 0x3555: 0.333251953125} {
		if got := half(bits); got != want {
			t.Errorf("half(%#x) = %g, expected %g", bits, got, want)
		}
	}
	if v := half(0x7e00); v == v {
		t.Errorf("half(0x7e00) = %g, expected NaN", v)
	}
}

// folder makes a checkpoint from files.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCheckpointErrors(t *testing.T) {
	config := read(t, "llama", "config.json")
	tensor := pack(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, make([]byte, 4))
	index := func(s string) []byte { return []byte(`{"weight_map":` + s + `}`) }
	for name, k := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"no config":  {map[string][]byte{"model.safetensors": tensor}, "config.json"},
		"no weights": {map[string][]byte{"config.json": config}, "model.safetensors"},
		"no map":     {map[string][]byte{"config.json": config, indexName: []byte(`{}`)}, "no weight_map"},
		"escape":     {map[string][]byte{"config.json": config, indexName: index(`{"a":"../x"}`)}, "a file beside the index"},
		"absolute":   {map[string][]byte{"config.json": config, indexName: index(`{"a":"/etc/passwd"}`)}, "a file beside the index"},
		"twice":      {map[string][]byte{"config.json": config, indexName: index(`{"a":"x","a":"y"}`)}, "given twice"},
		"no shard":   {map[string][]byte{"config.json": config, indexName: index(`{"a":"x"}`)}, `"x"`},
		"missing":    {map[string][]byte{"config.json": config, indexName: index(`{"a":"x","b":"x"}`), "x": tensor}, `tensor "b" in "x"`},
		"unlisted":   {map[string][]byte{"config.json": config, indexName: index(`{"a":"x","b":"y"}`), "x": tensor, "y": pack(`{"b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, nil)}, "does not list there"},
	} {
		c, err := Open(folder(t, k.files))
		if err == nil {
			err = errors.Join(fmt.Errorf("no error"), c.Close())
		}
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, expected %q", name, err, k.want)
		}
	}
}

func TestTensorErrors(t *testing.T) {
	nan := binary.LittleEndian.AppendUint32(make([]byte, 4), math.Float32bits(float32(math.NaN())))
	c, err := Open(folder(t, map[string][]byte{
		"config.json": read(t, "llama", "config.json"),
		"model.safetensors": pack(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"I32","shape":[1],"data_offsets":[8,12]}}`,
			append(nan, 0, 0, 0, 0)),
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		name  string
		shape []int
		is    error
		want  string
	}{
		{"a", []int{2}, ErrMalformed, "element 1 is NaN"},
		{"a", []int{1, 2}, ErrMalformed, "expected [1 2]"},
		{"b", []int{1}, ErrUnsupported, "type I32"},
		{"c", []int{1}, ErrMalformed, "missing"},
	} {
		if _, err := c.Tensor(k.name, k.shape...); !errors.Is(err, k.is) || !strings.Contains(err.Error(), k.want) {
			t.Errorf("tensor %s: %v, expected %q", k.name, err, k.want)
		}
	}
	if _, err := Build(c.Config(), c, Options{Tokens: 2}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "model.embed_tokens.weight") {
		t.Errorf("a model without weights: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestConfigErrors(t *testing.T) {
	whole := string(read(t, "llama", "config.json"))
	if _, err := ParseConfig([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct{ from, to, want string }{
		{`"llama"`, `"gpt2"`, "model_type"},
		{`"silu"`, `"gelu"`, "hidden_act"},
		{`"rope_type": "llama3"`, `"rope_type": "yarn"`, "rope_type"},
		{`"factor": 8.0`, `"factor": 0.0`, "factor is 0"},
		{`"low_freq_factor": 1.0`, `"low_freq_factor": 9.0`, "in order"},
		{`"num_key_value_heads": 2`, `"num_key_value_heads": 3`, "expected a multiple"},
		{`"head_dim": 8`, `"head_dim": 7`, "even"},
		{`"hidden_size": 32`, `"hidden_size": 0`, "hidden_size is 0"},
		{`"vocab_size": 50`, `"vocab_size": 50000000`, "vocab_size"},
		{`"rms_norm_eps": 1e-05`, `"rms_norm_eps": 0`, "rms_norm_eps"},
		{`"rope_theta": 10000.0`, `"rope_theta": -1`, "rope_theta"},
		{`"hidden_size": 32`, `"hidden_size": 32, "mlp_bias": true`, "mlp_bias"},
		{`"hidden_size": 32`, `"hidden_size": 32, "use_sliding_window": true`, "use_sliding_window"},
		{`"hidden_size": 32`, `"hidden_size": 32, "quantization_config": {}`, "quantization_config"},
		{`"hidden_size": 32`, `"hidden_size": 32, "num_experts": 8`, "experts"},
		{`"hidden_size": 32`, `"hidden_size": 32, "layer_types": ["sliding_attention"]`, "layer_types[0]"},
		{`"hidden_size": 32`, `"hidden_size": 32, "rms_norm_eps": 0.1`, `field "rms_norm_eps" is given twice`},
		{`"hidden_size": 32`, `"hidden_size": 32, "RMS_norm_eps": 0.1`, `field "RMS_norm_eps", expected rms_norm_eps`},
		{`"hidden_size": 32`, `"hidden_size": 32, "hidden_\u017fize": 16`, "expected hidden_size"},
		{`"factor": 8.0`, `"factor": 8.0, "Factor": 4.0`, `field "Factor", expected factor`},
		{`"hidden_size": 32`, `"hidden_size": "x"`, "config.json"},
		{`"hidden_size": 32`, `"hidden_size": 32}{`, "something follows"},
	} {
		text := strings.Replace(whole, k.from, k.to, 1)
		if text == whole {
			t.Fatalf("%s is not in the file", k.from)
		}
		if k.want == "something follows" {
			text = whole + "{}"
		}
		if _, err := ParseConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, expected %q", k.to, err, k.want)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	c, _ := open(t, "llama")
	for _, k := range []struct {
		o    Options
		want string
	}{
		{Options{}, "0 tokens"},
		{Options{Tokens: 513}, "expected 1 to 512"},
		{Options{Tokens: 4, From: 2}, "layers 2:2"},
		{Options{Tokens: 4, From: -1}, "layers -1:2"},
		{Options{Tokens: 4, To: 3}, "layers 0:3"},
		{Options{Tokens: 4, To: 1, LastToken: true}, "give no logits"},
	} {
		if _, err := Build(c.Config(), c, k.o); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%+v: %v, expected %q", k.o, err, k.want)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(pack(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, make([]byte, 4)))
	f.Add(pack(`{"__metadata__":{"format":"pt"}}`, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseHeader("f", data)
		if err != nil {
			return
		}
		for name, e := range entries {
			if e.begin < 8 || e.end > len(data) || e.begin > e.end {
				t.Errorf("tensor %q at [%d, %d) of %d bytes", name, e.begin, e.end, len(data))
			}
		}
	})
}
