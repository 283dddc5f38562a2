package onnxtest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// Transformer is the shape of a transformer whose weights are made up. They are drawn so that nothing in it is trivial, as in trained
// networks: scores of attention spread by about 2 (some positions get most of the weight), activations between the layers stay within
// one order of magnitude of 1, and the logits spread by about 4.
type Transformer struct {
	Vocabulary, Tokens, Width, Heads, Layers, Hidden int
	Seed                                             uint64
	// WholeNorm writes each normalisation as one LayerNormalization (operator set 17) instead of the nine operators that older
	// exporters wrote.
	WholeNorm bool
}

// GPT2Small is the shape of GPT-2 with 124 million parameters.
func GPT2Small(tokens int) Transformer {
	return Transformer{Vocabulary: 50257, Tokens: tokens, Width: 768, Heads: 12, Layers: 12, Hidden: 3072, Seed: 1}
}

// MiniLM is the shape of all-MiniLM-L6-v2, a BERT with 22 million parameters.
func MiniLM(tokens int) Transformer {
	return Transformer{Vocabulary: 30522, Tokens: tokens, Width: 384, Heads: 12, Layers: 6, Hidden: 1536, Seed: 1}
}

// Parameters returns the number of distinct weights of a GPT-2 (one table for words and logits) or a BERT of the shape, with as many
// positions as tokens.
func (c Transformer) Parameters(bert bool) int {
	layer := 4*c.Width*c.Width + 4*c.Width + 2*c.Width*c.Hidden + c.Width + c.Hidden + 4*c.Width
	rest := (c.Vocabulary+c.Tokens)*c.Width + 2*c.Width
	if bert {
		rest += c.Width // the type of the tokens
	}
	return rest + c.Layers*layer
}

// GPT2 is a decoder from token numbers (int64, 1 x Tokens) to logits (1 x Tokens x Vocabulary), with the operators that PyTorch's
// exporter writes for the implementation of GPT-2 in common use: Gemm between two Reshape for every dense layer, one product for queries,
// keys and values and a Split after it, a causal mask by Where, GELU by the hyperbolic tangent, logits by the transposed table of words.
func GPT2(c Transformer) *File {
	t := c.start()
	x := t.Node("Add", []string{t.words(), t.table("wpe", 0.05, 1, c.Tokens, c.Width)})
	mask := t.causal()
	for l := range c.Layers {
		t.prefix = fmt.Sprintf("h.%d.", l)
		a := t.norm("ln_1", x)
		qkv := t.Node("Split", []string{t.gemm("attn.c_attn", a, 1.6, c.Width, 3*c.Width), t.Ints(t.prefix+"split", int64(c.Width), int64(c.Width), int64(c.Width))}, Int("axis", 2))
		qkv2, qkv3 := qkv+"2", qkv+"3"
		t.Last().Output = append(t.Last().Output, qkv2, qkv3)
		scores := t.scores(qkv, qkv2)
		scores = t.Node("Where", []string{mask, scores, t.Floats(t.prefix+"lowest", []float32{-math.MaxFloat32})})
		a = t.gemm("attn.c_proj", t.mix(scores, qkv3), t.damp(), c.Width, c.Width)
		x = t.Node("Add", []string{a, x})
		h := t.geluTanh(t.gemm("mlp.c_fc", t.norm("ln_2", x), 1, c.Width, c.Hidden))
		x = t.Node("Add", []string{x, t.gemm("mlp.c_proj", h, 1.5*t.damp(), c.Hidden, c.Width)})
	}
	t.prefix = ""
	table := t.Node("Transpose", []string{"wte"}, List("perm", 1, 0))
	return t.result(t.Node("MatMul", []string{t.norm("ln_f", x), table}), 1, c.Tokens, c.Vocabulary)
}

// BERT is an encoder from token numbers (int64, 1 x Tokens) to the mean of the last layer over the tokens (1 x Width): three products for
// queries, keys and values, normalisation after every addition, GELU by the error function, no token masked.
func BERT(c Transformer) *File {
	t := c.start()
	kind := t.table("token_type", 0.05, 1, 1, c.Width)
	x := t.Node("Add", []string{t.Node("Add", []string{t.words(), kind}), t.table("position", 0.05, 1, c.Tokens, c.Width)})
	x = t.norm("embeddings.norm", x)
	for l := range c.Layers {
		t.prefix = fmt.Sprintf("layer.%d.", l)
		q, k, v := t.dense("query", x, 1.6, c.Width, c.Width), t.dense("key", x, 1.6, c.Width, c.Width), t.dense("value", x, 1, c.Width, c.Width)
		a := t.dense("attention.dense", t.mix(t.scores(q, k), v), 0.7, c.Width, c.Width)
		x = t.norm("attention.norm", t.Node("Add", []string{a, x}))
		h := t.geluErf(t.dense("intermediate", x, 1, c.Width, c.Hidden))
		x = t.norm("output.norm", t.Node("Add", []string{t.dense("output.dense", h, 1.5, c.Hidden, c.Width), x}))
	}
	t.prefix = ""
	return t.result(t.Node("ReduceMean", []string{x}, List("axes", 1), Int("keepdims", 0)), 1, c.Width)
}

// writer makes one transformer.
type writer struct {
	*File
	c      Transformer
	prefix string // of the names of weights
	seed   uint64
}

func (c Transformer) start() *writer {
	t := &writer{File: New(17, "input_ids", 1, int64(c.Tokens)), c: c, seed: c.Seed << 32}
	t.Proto.Graph.Input = []*onnxpb.ValueInfoProto{Info("input_ids", onnxpb.TensorProto_INT64, 1, int64(c.Tokens))}
	return t
}

func (t *writer) result(name string, dims ...int) *File {
	t.Proto.Graph.Output = []*onnxpb.ValueInfoProto{Info(name, onnxpb.TensorProto_FLOAT, long(dims)...)}
	return t.File
}

func long(dims []int) []int64 {
	out := make([]int64, len(dims))
	for i, d := range dims {
		out[i] = int64(d)
	}
	return out
}

// damp keeps the sum of all layers' contributions to the residual stream of the size of one.
func (t *writer) damp() float64 { return 1 / math.Sqrt(2*float64(t.c.Layers)) }

// table adds random weights of a given spread.
func (t *writer) table(name string, spread float64, dims ...int) string {
	t.seed++
	return t.Random(t.seed, t.prefix+name, spread, long(dims)...)
}

func (t *writer) words() string {
	return t.Node("Gather", []string{t.table("wte", 0.14, t.c.Vocabulary, t.c.Width), "input_ids"})
}

func (t *writer) scalar(name string, v float32) string { return t.Floats(t.prefix+name, []float32{v}) }

// norm scales by weights near 1 and shifts by weights near 0.
func (t *writer) norm(name string, x string) string {
	t.seed++
	rng := rand.New(rand.NewPCG(t.seed, 99))
	weights := make([]float32, t.c.Width)
	for i := range weights {
		weights[i] = float32(1 + float64(0.1*rng.NormFloat64())) // rounded twice on every machine
	}
	gamma := t.Floats(t.prefix+name+".weight", weights, int64(t.c.Width))
	beta := t.table(name+".bias", 0.05, t.c.Width)
	if t.c.WholeNorm {
		return t.Node("LayerNormalization", []string{x, gamma, beta}, Int("axis", -1), Float("epsilon", 1e-5))
	}
	mean := func(x string) string { return t.Node("ReduceMean", []string{x}, List("axes", -1)) }
	centred := t.Node("Sub", []string{x, mean(x)})
	square := t.Node("Pow", []string{centred, t.scalar(name+".two", 2)})
	root := t.Node("Sqrt", []string{t.Node("Add", []string{mean(square), t.scalar(name+".epsilon", 1e-5)})})
	return t.Node("Add", []string{t.Node("Mul", []string{t.Node("Div", []string{centred, root}), gamma}), beta})
}

// gemm is a dense layer over the last axis by Gemm, which takes matrices only.
func (t *writer) gemm(name, x string, gain float64, from, to int) string {
	w, b := t.table(name+".weight", gain/math.Sqrt(float64(from)), from, to), t.table(name+".bias", 0.05, to)
	flat := t.Node("Reshape", []string{x, t.Ints(t.prefix+name+".flat", -1, int64(from))})
	y := t.Node("Gemm", []string{flat, w, b})
	return t.Node("Reshape", []string{y, t.Ints(t.prefix+name+".shape", 1, int64(t.c.Tokens), int64(to))})
}

// dense is a dense layer over the last axis by MatMul.
func (t *writer) dense(name, x string, gain float64, from, to int) string {
	w, b := t.table(name+".weight", gain/math.Sqrt(float64(from)), from, to), t.table(name+".bias", 0.05, to)
	return t.Node("Add", []string{b, t.Node("MatMul", []string{x, w})})
}

// heads splits the last axis: 1 x Tokens x Width to 1 x Heads x Tokens x Width/Heads, with the last two axes in the order asked for.
func (t *writer) heads(x string, perm ...int64) string {
	shape := t.Ints(fmt.Sprintf("%sheads%d", t.prefix, len(t.Proto.Graph.Node)), 1, int64(t.c.Tokens), int64(t.c.Heads), int64(t.c.Width/t.c.Heads))
	return t.Node("Transpose", []string{t.Node("Reshape", []string{x, shape})}, List("perm", perm...))
}

// scores are the scaled products of queries and keys.
func (t *writer) scores(q, k string) string {
	product := t.Node("MatMul", []string{t.heads(q, 0, 2, 1, 3), t.heads(k, 0, 2, 3, 1)})
	return t.Node("Div", []string{product, t.scalar("root", float32(math.Sqrt(float64(t.c.Width/t.c.Heads))))})
}

// mix is the softmax of scores times the values, with the heads side by side again.
func (t *writer) mix(scores, v string) string {
	y := t.Node("MatMul", []string{t.Node("Softmax", []string{scores}, Int("axis", -1)), t.heads(v, 0, 2, 1, 3)})
	y = t.Node("Transpose", []string{y}, List("perm", 0, 2, 1, 3))
	return t.Node("Reshape", []string{y, t.Ints(t.prefix+"joined", 1, int64(t.c.Tokens), int64(t.c.Width))})
}

// causal says which scores count: those of positions that are not later.
func (t *writer) causal() string {
	n := t.c.Tokens
	mask := make([]int32, n*n)
	for i := range n {
		for j := range i + 1 {
			mask[i*n+j] = 1
		}
	}
	return t.Codes("causal", onnxpb.TensorProto_BOOL, mask, 1, 1, int64(n), int64(n))
}

func (t *writer) geluTanh(x string) string {
	half := t.Node("Mul", []string{x, t.scalar("half", 0.5)})
	cube := t.Node("Mul", []string{t.Node("Pow", []string{x, t.scalar("three", 3)}), t.scalar("cubic", 0.044715)})
	inner := t.Node("Mul", []string{t.Node("Add", []string{x, cube}), t.scalar("factor", float32(math.Sqrt(2/math.Pi)))})
	outer := t.Node("Add", []string{t.Node("Tanh", []string{inner}), t.scalar("one", 1)})
	return t.Node("Mul", []string{half, outer})
}

func (t *writer) geluErf(x string) string {
	erf := t.Node("Erf", []string{t.Node("Div", []string{x, t.scalar("root2", math.Sqrt2)})})
	y := t.Node("Mul", []string{x, t.Node("Add", []string{erf, t.scalar("one", 1)})})
	return t.Node("Mul", []string{y, t.scalar("half", 0.5)})
}
