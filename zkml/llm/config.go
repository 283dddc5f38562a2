// Package llm reads decoders (large language models of the LLaMA and Qwen families) from their published form, a config.json beside
// safetensors files, and makes the float graph that package onnx evaluates and package quant turns into an integer program.
//
// A model can be cut by layers: each piece takes the hidden state that the one before it gives.
package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

var (
	// ErrMalformed is wrapped by errors about files that are not what their names say.
	ErrMalformed = errors.New("malformed checkpoint")
	// ErrUnsupported is wrapped by errors about well-formed models that use something this package does not build.
	ErrUnsupported = errors.New("model not supported")
)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnsupported, fmt.Errorf(format, args...))
}

// Config is the shape of a decoder.
type Config struct {
	Family       string // llama, qwen2 or qwen3
	Hidden       int    // width of the residual stream
	Layers       int
	Heads        int // of queries
	KVHeads      int // of keys and values; each serves Heads / KVHeads heads of queries
	HeadDim      int
	Intermediate int // width of the gated layer
	Vocabulary   int
	Positions    int // most tokens the model was made for
	Epsilon      float64
	Theta        float64 // base of the rotary embedding
	Scaling      Scaling
	Tied         bool // the output layer is the embedding
	QKNorm       bool // queries and keys are normalised by head
	QKVBias      bool // queries, keys and values have offsets
	OutputBias   bool // the projection after attention has one, too
}

// Scaling stretches the rotary embedding's wavelengths; the zero value does not.
type Scaling struct {
	Kind      string // "", "linear" or "llama3"
	Factor    float64
	Low, High float64 // llama3: wavelengths beyond Original/Low are stretched, those below Original/High are not
	Original  float64
}

// file is config.json as it is published. Fields that say how a model is trained, stored or sampled from are not listed.
type file struct {
	ModelType        string          `json:"model_type"`
	Hidden           int             `json:"hidden_size"`
	Layers           int             `json:"num_hidden_layers"`
	Heads            int             `json:"num_attention_heads"`
	KVHeads          *int            `json:"num_key_value_heads"`
	HeadDim          *int            `json:"head_dim"`
	Intermediate     int             `json:"intermediate_size"`
	Vocabulary       int             `json:"vocab_size"`
	Positions        int             `json:"max_position_embeddings"`
	Epsilon          *float64        `json:"rms_norm_eps"`
	Theta            *float64        `json:"rope_theta"`
	Rope             json.RawMessage `json:"rope_scaling"`
	RopeParameters   json.RawMessage `json:"rope_parameters"`
	Activation       string          `json:"hidden_act"`
	Tied             bool            `json:"tie_word_embeddings"`
	AttentionBias    bool            `json:"attention_bias"`
	MLPBias          bool            `json:"mlp_bias"`
	SlidingWindow    bool            `json:"use_sliding_window"`
	LayerTypes       []string        `json:"layer_types"`
	Quantisation     json.RawMessage `json:"quantization_config"`
	PartialRotary    *float64        `json:"partial_rotary_factor"`
	PretrainingTP    *int            `json:"pretraining_tp"`
	Experts          *int            `json:"num_experts"`
	LocalExperts     *int            `json:"num_local_experts"`
	LogitsSoftcap    *float64        `json:"final_logit_softcapping"`
	AttentionSoftcap *float64        `json:"attn_logit_softcapping"`
}

// maxConfig bounds config.json.
const maxConfig = 1 << 20

// ParseConfig reads config.json.
func ParseConfig(data []byte) (*Config, error) {
	if len(data) > maxConfig {
		return nil, malformed("config.json has %d bytes, expected at most 2^20", len(data))
	}
	var f file
	if err := unmarshal(data, &f, false); err != nil {
		return nil, malformed("config.json: %w", err)
	}
	return f.config()
}

func (f *file) config() (*Config, error) {
	c := &Config{
		Family: f.ModelType, Hidden: f.Hidden, Layers: f.Layers, Heads: f.Heads, KVHeads: f.Heads, Intermediate: f.Intermediate,
		Vocabulary: f.Vocabulary, Positions: f.Positions, Epsilon: 1e-6, Theta: 10000, Tied: f.Tied,
	}
	switch f.ModelType {
	case "llama":
		c.QKVBias, c.OutputBias = f.AttentionBias, f.AttentionBias
	case "qwen2":
		c.QKVBias = true
	case "qwen3":
		c.QKNorm, c.QKVBias, c.OutputBias = true, f.AttentionBias, f.AttentionBias
	default:
		return nil, unsupported("config.json: model_type is %s, expected llama, qwen2 or qwen3", onnx.Quote(f.ModelType))
	}
	switch {
	case f.Activation != "silu" && f.Activation != "swish":
		return nil, unsupported("config.json: hidden_act is %s, expected silu", onnx.Quote(f.Activation))
	case f.MLPBias:
		return nil, unsupported("config.json: mlp_bias is set")
	case f.SlidingWindow:
		return nil, unsupported("config.json: use_sliding_window is set")
	case given(f.Quantisation):
		return nil, unsupported("config.json: quantization_config is set; give the model in floating point")
	case f.PartialRotary != nil && *f.PartialRotary != 1:
		return nil, unsupported("config.json: partial_rotary_factor is %g, expected 1", *f.PartialRotary)
	case f.PretrainingTP != nil && *f.PretrainingTP > 1:
		return nil, unsupported("config.json: pretraining_tp is %d, expected 1", *f.PretrainingTP)
	case f.Experts != nil || f.LocalExperts != nil:
		return nil, unsupported("config.json: layers of several experts")
	case f.LogitsSoftcap != nil || f.AttentionSoftcap != nil:
		return nil, unsupported("config.json: logits with a soft cap")
	}
	for i, t := range f.LayerTypes {
		if t != "full_attention" {
			return nil, unsupported("config.json: layer_types[%d] is %s, expected full_attention", i, onnx.Quote(t))
		}
	}
	if f.KVHeads != nil {
		c.KVHeads = *f.KVHeads
	}
	if f.Epsilon != nil {
		c.Epsilon = *f.Epsilon
	}
	if f.Theta != nil {
		c.Theta = *f.Theta
	}
	switch {
	case f.HeadDim != nil:
		c.HeadDim = *f.HeadDim
	case f.ModelType == "qwen3":
		c.HeadDim = 128
	case f.Heads > 0 && f.Hidden%f.Heads == 0:
		c.HeadDim = f.Hidden / f.Heads
	default:
		return nil, malformed("config.json: %d heads do not divide a width of %d, and there is no head_dim", f.Heads, f.Hidden)
	}
	for _, rope := range []json.RawMessage{f.Rope, f.RopeParameters} {
		if given(rope) {
			if err := c.scaling(rope); err != nil {
				return nil, err
			}
		}
	}
	return c, c.Validate()
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// scaling reads how the rotary embedding is stretched.
func (c *Config) scaling(raw json.RawMessage) error {
	var r struct {
		Type     string   `json:"rope_type"`
		Old      string   `json:"type"`
		Factor   float64  `json:"factor"`
		Low      float64  `json:"low_freq_factor"`
		High     float64  `json:"high_freq_factor"`
		Original float64  `json:"original_max_position_embeddings"`
		Theta    *float64 `json:"rope_theta"`
	}
	if err := unmarshal(raw, &r, false); err != nil {
		return malformed("config.json: scaling of the rotary embedding: %w", err)
	}
	if r.Type == "" {
		r.Type = r.Old
	}
	if r.Theta != nil {
		c.Theta = *r.Theta
	}
	switch r.Type {
	case "default", "":
	case "linear":
		c.Scaling = Scaling{Kind: r.Type, Factor: r.Factor}
	case "llama3":
		c.Scaling = Scaling{r.Type, r.Factor, r.Low, r.High, r.Original}
	default:
		return unsupported("config.json: rope_type is %s, expected default, linear or llama3", onnx.Quote(r.Type))
	}
	return nil
}

// Limits of a decoder.
const (
	maxWidth  = 1 << 18
	maxLayers = 1 << 10
	maxTokens = 1 << 14
)

// Validate checks that every size makes sense.
func (c *Config) Validate() error {
	for _, s := range []struct {
		name       string
		value, top int
	}{
		{"hidden_size", c.Hidden, maxWidth},
		{"num_hidden_layers", c.Layers, maxLayers},
		{"num_attention_heads", c.Heads, maxWidth},
		{"num_key_value_heads", c.KVHeads, maxWidth},
		{"head_dim", c.HeadDim, 1 << 12},
		{"intermediate_size", c.Intermediate, maxWidth},
		{"vocab_size", c.Vocabulary, 1 << 20},
		{"max_position_embeddings", c.Positions, 1 << 30},
	} {
		if s.value < 1 || s.value > s.top {
			return malformed("config.json: %s is %d, expected 1 to %d", s.name, s.value, s.top)
		}
	}
	switch {
	case c.Heads%c.KVHeads != 0:
		return malformed("config.json: %d heads for %d heads of keys and values, expected a multiple", c.Heads, c.KVHeads)
	case c.HeadDim%2 != 0:
		return malformed("config.json: head_dim is %d, expected an even number", c.HeadDim)
	case !(c.Epsilon > 0 && c.Epsilon < 1):
		return malformed("config.json: rms_norm_eps is %g, expected more than 0 and less than 1", c.Epsilon)
	case !(c.Theta > 1 && c.Theta < 1e12):
		return malformed("config.json: rope_theta is %g, expected more than 1 and less than 1e12", c.Theta)
	case c.Scaling.Kind != "" && !(c.Scaling.Factor >= 1 && c.Scaling.Factor < 1e6):
		return malformed("config.json: the rotary embedding's factor is %g, expected 1 to 1e6", c.Scaling.Factor)
	case c.Scaling.Kind == "llama3" && !(c.Scaling.Low > 0 && c.Scaling.High > c.Scaling.Low && c.Scaling.Original >= 1):
		return malformed("config.json: low_freq_factor %g, high_freq_factor %g and original_max_position_embeddings %g are not positive and in order",
			c.Scaling.Low, c.Scaling.High, c.Scaling.Original)
	}
	return nil
}

// frequencies are the angles by which a step of one token turns each pair of a head's elements.
func (c *Config) frequencies() []float64 {
	f := make([]float64, c.HeadDim/2)
	for i := range f {
		f[i] = math.Pow(c.Theta, -2*float64(i)/float64(c.HeadDim))
		s := c.Scaling
		switch s.Kind {
		case "linear":
			f[i] /= s.Factor
		case "llama3":
			turns := s.Original * f[i] / (2 * math.Pi) // within the length the model was first made for
			smooth := min(max((turns-s.Low)/(s.High-s.Low), 0), 1)
			f[i] = (1-smooth)*f[i]/s.Factor + smooth*f[i]
		}
	}
	return f
}
