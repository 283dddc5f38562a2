package llm

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"maps"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Weights gives the tensors of a model by the names under which they are published. Checkpoint is one.
type Weights interface {
	// Tensor returns a tensor, which must have that shape.
	Tensor(name string, shape ...int) (*onnx.Tensor, error)
	// Prefetch says which tensors will be asked for soon.
	Prefetch(names ...string) error
}

// Options say which part of a decoder to build, and for what.
type Options struct {
	Tokens int // length of the text
	// From and To choose the layers [From, To); To 0 means all from From on. The first piece takes token numbers, the last one gives
	// logits; boundaries between pieces are hidden states of shape [Tokens, Hidden].
	From, To int
	// LastToken asks for the logits of the last token only.
	LastToken bool
	// Blocks is the number of elements from which on matrices are cut into blocks of powers of two (2^22 if it is 0).
	Blocks int
	// Bare leaves out the embedding and the head: layers only, from hidden state to hidden state.
	Bare bool
	// Embedding, unless it is empty, asks for the embedding alone, of some columns of the hidden state; Head for the logits alone, of some rows
	// of the vocabulary, from the hidden state after the last layer. From and To are 0 then.
	Embedding, Head Range
	// Columns are the widths of the pieces in which the hidden state comes in, from embeddings of columns; none for one piece.
	Columns []int

	limit int // elements of a tensor, padding included; graph.MaxElements if it is 0
}

// Range is the columns or rows [From, To).
type Range struct{ From, To int }

// Names of inputs and outputs.
const (
	TokensName = "tokens"
	LogitsName = "logits"
)

// HiddenName is the name of the hidden state before a layer.
func HiddenName(layer int) string { return fmt.Sprintf("hidden.%d", layer) }

// columnsName is the name of a piece of the hidden state before a layer, from a column on.
func columnsName(layer, column int) string {
	return fmt.Sprintf("%s.columns%d", HiddenName(layer), column)
}

// Build makes the float graph of a decoder, or of some of its layers. Gains of norms are multiplied into the weights that follow them.
func Build(c *Config, w Weights, o Options) (*onnx.Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	vocabulary := o.Embedding != Range{} || o.Head != Range{}
	if vocabulary {
		if err := o.alone(c); err != nil {
			return nil, err
		}
	} else if o.To == 0 {
		o.To = c.Layers
	}
	width := 0
	for _, n := range o.Columns {
		width += max(n, 1)
	}
	switch {
	case o.Tokens < 1 || o.Tokens > min(c.Positions, maxTokens):
		return nil, fmt.Errorf("%d tokens, expected 1 to %d", o.Tokens, min(c.Positions, maxTokens))
	case len(o.Columns) > 0 && (width != c.Hidden || o.Embedding != Range{} || o.From == 0 && !o.Bare && o.Head == Range{}):
		return nil, fmt.Errorf("a hidden state in pieces of %v columns, expected %d together, and layers that take a hidden state", o.Columns, c.Hidden)
	case vocabulary:
	case o.From < 0 || o.From >= o.To || o.To > c.Layers:
		return nil, fmt.Errorf("layers %d:%d, expected a range within 0:%d", o.From, o.To, c.Layers)
	case o.Blocks < 0:
		return nil, fmt.Errorf("blocks from %d elements on", o.Blocks)
	case o.LastToken && (o.To < c.Layers || o.Bare):
		return nil, fmt.Errorf("layers %d:%d give no logits, of which the last token's are asked for", o.From, o.To)
	}
	b := &builder{c: c, w: w, o: o, digest: sha256.New(), g: onnx.NewGraph(fmt.Sprintf("%s %s", c.Family, o.what()), "zkwarp")}
	fmt.Fprintf(b.digest, "zkwarp decoder %+v %s\n", *c, o.identity())
	out := b.decoder()
	if b.err != nil {
		return nil, b.err
	}
	m, err := b.g.Finish([32]byte(b.digest.Sum(nil)), out...)
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	m.Dims = o.dims()
	return m, nil
}

// Names of what a calibration notes of a decoder's options.
const (
	dimTokens    = "tokens"
	dimFrom      = "layers from"
	dimTo        = "layers to"
	dimLast      = "last token only"
	dimBare      = "layers only"
	dimEmbedding = "embedding columns"
	dimHead      = "head rows"
	dimColumns   = "columns of piece"
)

// dims are the options as a model's dimensions, which its calibration keeps; those that are 0 are left out.
func (o *Options) dims() map[string]int {
	d := map[string]int{}
	note := func(name string, n int) {
		if n != 0 {
			d[name] = n
		}
	}
	yes := map[bool]int{true: 1}
	note(dimTokens, o.Tokens)
	note(dimFrom, o.From)
	note(dimTo, o.To)
	note(dimLast, yes[o.LastToken])
	note(dimBare, yes[o.Bare])
	note(dimEmbedding+" from", o.Embedding.From)
	note(dimEmbedding+" to", o.Embedding.To)
	note(dimHead+" from", o.Head.From)
	note(dimHead+" to", o.Head.To)
	for i, n := range o.Columns {
		note(fmt.Sprintf("%s %d", dimColumns, i+1), n)
	}
	return d
}

// OptionsOf returns the options (but for Blocks) that a calibration's dimensions note; ok is false if it is not one of a decoder.
func OptionsOf(dims map[string]int) (o Options, ok bool) {
	o = Options{
		Tokens: dims[dimTokens], From: dims[dimFrom], To: dims[dimTo], LastToken: dims[dimLast] == 1, Bare: dims[dimBare] == 1,
		Embedding: Range{dims[dimEmbedding+" from"], dims[dimEmbedding+" to"]}, Head: Range{dims[dimHead+" from"], dims[dimHead+" to"]},
	}
	for n := 0; n < len(dims); n++ {
		columns := dims[fmt.Sprintf("%s %d", dimColumns, n+1)]
		if columns == 0 {
			break
		}
		o.Columns = append(o.Columns, columns)
	}
	return o, o.Tokens > 0 && o.To+o.Embedding.To+o.Head.To > 0 && maps.Equal(o.dims(), dims)
}

// builder is the state of one Build. The first error sticks.
type builder struct {
	c      *Config
	w      Weights
	o      Options
	g      *onnx.Graph
	digest hash.Hash // of everything the model is made from
	err    error

	cos, sin, mask, hidden, scale int // constants that all layers share
}

// tensor reads weights and notes them in the model's identity.
func (b *builder) tensor(name string, shape ...int) *onnx.Tensor {
	if b.err != nil {
		return &onnx.Tensor{Shape: shape, Real: make([]float32, 1)}
	}
	t, err := b.w.Tensor(name, shape...)
	if err != nil {
		b.err = err
		return &onnx.Tensor{Shape: shape, Real: make([]float32, 1)}
	}
	fmt.Fprintf(b.digest, "%q %v\n", name, shape)
	buf := make([]byte, 0, 1<<16)
	for _, v := range t.Real {
		if buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v)); len(buf) == cap(buf) {
			b.digest.Write(buf)
			buf = buf[:0]
		}
	}
	b.digest.Write(buf)
	return t
}

func (b *builder) constant(name string, t *onnx.Tensor) int {
	if b.err != nil {
		return -1
	}
	return b.g.Const(name, t)
}

func (b *builder) node(name string, op onnx.Op, attr onnx.Attr, inputs ...int) int {
	if b.err != nil {
		return -1
	}
	return b.g.Node(name, op, attr, inputs...)
}

// einsum takes labels as letters: operands separated by a comma, then an arrow and the result.
func (b *builder) einsum(name, labels string, inputs ...int) int {
	lists := [][]uint8{nil}
	for _, r := range labels {
		switch r {
		case ',', '>':
			lists = append(lists, nil)
		case '-':
		default:
			lists[len(lists)-1] = append(lists[len(lists)-1], uint8(r-'a'))
		}
	}
	return b.node(name, onnx.OpEinsum, onnx.Attr{Labels: lists}, inputs...)
}

// alone checks options for the embedding or the head alone.
func (o *Options) alone(c *Config) error {
	within := func(r Range, n int) bool { return r == Range{} || 0 <= r.From && r.From < r.To && r.To <= n }
	switch {
	case o.Embedding != Range{} && o.Head != Range{}:
		return fmt.Errorf("embedding and head at once")
	case !within(o.Embedding, c.Hidden):
		return fmt.Errorf("embedding of the columns %d:%d, expected a range within 0:%d", o.Embedding.From, o.Embedding.To, c.Hidden)
	case !within(o.Head, c.Vocabulary):
		return fmt.Errorf("logits of the rows %d:%d, expected a range within 0:%d", o.Head.From, o.Head.To, c.Vocabulary)
	case o.From != 0 || o.To != 0 || o.Bare:
		return fmt.Errorf("layers %d:%d with an embedding or a head alone", o.From, o.To)
	case o.LastToken && o.Embedding != Range{}:
		return fmt.Errorf("an embedding of the last token alone")
	}
	return nil
}

// identity is the options as they go into a model's identity.
func (o *Options) identity() string {
	s := fmt.Sprintf("{Tokens:%d From:%d To:%d LastToken:%t Blocks:%d}", o.Tokens, o.From, o.To, o.LastToken, o.Blocks)
	if o.Bare || o.Embedding != o.Head || len(o.Columns) > 0 {
		s += fmt.Sprintf(" %t %v %v %v", o.Bare, o.Embedding, o.Head, o.Columns)
	}
	return s
}

// what names what is built.
func (o *Options) what() string {
	switch {
	case o.Embedding != Range{}:
		return fmt.Sprintf("embedding, columns %d to %d", o.Embedding.From, o.Embedding.To-1)
	case o.Head != Range{}:
		return fmt.Sprintf("head, rows %d to %d", o.Head.From, o.Head.To-1)
	}
	return fmt.Sprintf("layers %d to %d", o.From, o.To-1)
}

func (b *builder) decoder() []int {
	c, o := b.c, &b.o
	if err := b.w.Prefetch(b.names()...); err != nil {
		b.err = err
		return nil
	}
	switch {
	case o.Embedding != Range{}:
		return b.embeddings()
	case o.Head != Range{}:
		return []int{b.head(b.state(c.Layers), o.Head)}
	}
	b.shared()
	var x int
	if o.From == 0 && !o.Bare {
		ids := b.g.IntInput(TokensName, 0, int64(c.Vocabulary-1), o.Tokens)
		x = b.node(HiddenName(0), onnx.OpEmbed, onnx.Attr{}, ids, b.constant(embedding, b.tensor(embedding, c.Vocabulary, c.Hidden)))
	} else {
		x = b.state(o.From)
	}
	for i := o.From; i < o.To; i++ {
		x = b.layer(i, x)
	}
	if o.To < c.Layers || o.Bare {
		return []int{x}
	}
	return []int{b.head(x, Range{0, c.Vocabulary})}
}

// state is the hidden state before a layer as an input, in pieces if options say so.
func (b *builder) state(layer int) int {
	if len(b.o.Columns) == 0 {
		return b.g.Input(HiddenName(layer), b.o.Tokens, b.c.Hidden)
	}
	var parts []int
	at := 0
	for _, n := range b.o.Columns {
		parts = append(parts, b.g.Input(columnsName(layer, at), b.o.Tokens, n))
		at += n
	}
	return b.node(HiddenName(layer), onnx.OpConcat, onnx.Attr{Axis: 1}, parts...)
}

// embeddings is columns of the embedding, as many outputs as it takes tables whose width is a power of two, or nearly.
func (b *builder) embeddings() []int {
	c, r := b.c, b.o.Embedding
	ids := b.g.IntInput(TokensName, 0, int64(c.Vocabulary-1), b.o.Tokens)
	w := b.tensor(embedding, c.Vocabulary, c.Hidden)
	if b.err != nil {
		return nil
	}
	var out []int
	from := r.From
	for _, n := range tableColumns(r.To-r.From, b.o.most()/graph.Pow2(c.Vocabulary)) {
		table := b.constant(fmt.Sprintf("%s.columns%d", embedding, from), submatrix(w, []span{{0, c.Vocabulary}}, span{from, n}))
		out = append(out, b.node(columnsName(0, from), onnx.OpEmbed, onnx.Attr{}, ids, table))
		from += n
	}
	return out
}

// Names of the tensors outside the layers.
const (
	embedding = "model.embed_tokens.weight"
	finalNorm = "model.norm.weight"
	headName  = "lm_head.weight"
)

// names lists the tensors in the order in which they are read.
func (b *builder) names() []string {
	var names []string
	switch o := &b.o; {
	case o.Embedding != Range{}:
		return []string{embedding}
	case o.Head != Range{}:
		return []string{finalNorm, b.headTensor()}
	case o.From == 0 && !o.Bare:
		names = append(names, embedding)
	}
	for i := b.o.From; i < b.o.To; i++ {
		for _, s := range []string{"input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
			"post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"} {
			names = append(names, layerName(i, s+".weight"))
		}
	}
	if b.o.To == b.c.Layers && !b.o.Bare {
		names = append(names, finalNorm, b.headTensor())
	}
	return names
}

func layerName(i int, s string) string { return fmt.Sprintf("model.layers.%d.%s", i, s) }

func (b *builder) headTensor() string {
	if b.c.Tied {
		return embedding
	}
	return headName
}

// shared makes the rotary tables, the causal mask and other constants that all layers read.
func (b *builder) shared() {
	t, d := b.o.Tokens, b.c.HeadDim
	cos := &onnx.Tensor{Shape: []int{t, 1, d}, Real: make([]float32, t*d)}
	sin := &onnx.Tensor{Shape: []int{t, 1, d}, Real: make([]float32, t*d)}
	for p := range t {
		for i, f := range b.c.frequencies() {
			s, c := math.Sincos(float64(p) * f)
			cos.Real[p*d+i], cos.Real[p*d+d/2+i] = float32(c), float32(c)
			sin.Real[p*d+i], sin.Real[p*d+d/2+i] = float32(-s), float32(s) // the sign of the element it meets
		}
	}
	mask := &onnx.Tensor{Shape: []int{t, t}, Ints: make([]int64, t*t)}
	for i := range t {
		for j := range i + 1 {
			mask.Ints[i*t+j] = 1
		}
	}
	b.cos, b.sin, b.mask = b.constant("rotary.cos", cos), b.constant("rotary.sin", sin), b.constant("causal", mask)
	b.hidden = b.g.Scalar("out", math.Inf(-1))
	b.scale = b.g.Scalar("attention.scale", 1/math.Sqrt(float64(d)))
}

// norm divides by the root of the mean square; the gain is left to whoever reads the result.
func (b *builder) norm(name string, x int) int {
	return b.node(name, onnx.OpNorm, onnx.Attr{Axes: []int{len(b.g.Shape(x)) - 1}, Epsilon: b.c.Epsilon}, x)
}

// gained multiplies the columns of a matrix by the gain of the norm before it.
func gained(w *onnx.Tensor, gain *onnx.Tensor) *onnx.Tensor {
	out := &onnx.Tensor{Shape: w.Shape, Real: make([]float32, len(w.Real))}
	for i, v := range w.Real {
		out.Real[i] = v * gain.Real[i%len(gain.Real)]
	}
	return out
}

// matrix reads weights [out, in], times the gain of the norm before them.
func (b *builder) matrix(name string, out, in int, gain *onnx.Tensor) *onnx.Tensor {
	w := b.tensor(name+".weight", out, in)
	if gain == nil || b.err != nil {
		return w
	}
	return gained(w, gain)
}

// offset reads the offsets of a projection that has some.
func (b *builder) offset(name string, has bool, n int) *onnx.Tensor {
	if !has {
		return nil
	}
	return b.tensor(name+".bias", n)
}

// heads gives the result of a projection an axis of heads.
func (b *builder) heads(name string, x int, heads ...int) int {
	return b.node(name, onnx.OpReshape, onnx.Attr{Shape: slices.Concat([]int{b.o.Tokens}, heads, []int{b.c.HeadDim})}, x)
}

// rotate turns pairs of a head's elements by angles that grow with the position: x cos + (the other half of x) sin.
func (b *builder) rotate(name string, x int) int {
	shape := b.g.Shape(x)
	if b.err != nil || len(shape) != 3 {
		return -1
	}
	d := shape[2]
	index := make([]int32, d)
	for i := range index {
		index[i] = int32((i + d/2) % d)
	}
	maps := []onnx.AxisMap{{Axis: 0, Shape: shape[:1]}, {Axis: 1, Shape: shape[1:2]}, {Axis: 2, Shape: []int{d}, Index: index}}
	other := b.node(name+".other", onnx.OpRearrange, onnx.Attr{Maps: maps}, x)
	return b.node(name, onnx.OpAdd, onnx.Attr{},
		b.node(name+".cos", onnx.OpMul, onnx.Attr{}, x, b.cos), b.node(name+".sin", onnx.OpMul, onnx.Attr{}, other, b.sin))
}

func (b *builder) layer(i, x int) int {
	c := b.c
	name := func(s string) string { return layerName(i, s) }
	y := b.attention(name, b.norm(name("input_layernorm"), x), b.tensor(name("input_layernorm.weight"), c.Hidden))
	x = b.node(name("attended"), onnx.OpAdd, onnx.Attr{}, x, y)
	y = b.gate(name, b.norm(name("post_attention_layernorm"), x), b.tensor(name("post_attention_layernorm.weight"), c.Hidden))
	return b.node(HiddenName(i+1), onnx.OpAdd, onnx.Attr{}, x, y)
}

// gate is the gated layer, in blocks of its inner axis.
func (b *builder) gate(name func(string) string, x int, gain *onnx.Tensor) int {
	c := b.c
	gates := b.matrix(name("mlp.gate_proj"), c.Intermediate, c.Hidden, gain)
	ups := b.matrix(name("mlp.up_proj"), c.Intermediate, c.Hidden, gain)
	downs := b.matrix(name("mlp.down_proj"), c.Hidden, c.Intermediate, nil)
	if b.err != nil {
		return -1
	}
	xs := b.pieces(name("post_attention_layernorm"), x, gates.Len())
	var inner []piece
	spans := b.cut(c.Intermediate, gates.Len())
	for k, s := range spans {
		label := func(part string) string {
			if len(spans) == 1 {
				return name("mlp." + part)
			}
			return fmt.Sprintf("%s.block%d", name("mlp."+part), k)
		}
		g := b.node(label("act_fn"), onnx.OpUnary, onnx.Attr{Func: onnx.FuncSilu, A: 1}, b.product(label("gate_proj"), xs, gates, []span{s}, nil))
		u := b.product(label("up_proj"), xs, ups, []span{s}, nil)
		inner = append(inner, piece{b.node(label("gated"), onnx.OpMul, onnx.Attr{}, g, u), s})
	}
	return b.joined(name("mlp.down_proj"), inner, downs, nil)
}

// attention lets each token look at those before it. Heads of queries share keys and values in groups; blocks of large models have some heads of
// every group.
func (b *builder) attention(name func(string) string, x int, gain *onnx.Tensor) int {
	c, group, d := b.c, b.c.Heads/b.c.KVHeads, b.c.HeadDim
	read := func(which string, heads int) (w, offset *onnx.Tensor) {
		label := name("self_attn." + which + "_proj")
		return b.matrix(label, heads*d, c.Hidden, gain), b.offset(label, c.QKVBias, heads*d)
	}
	wq, oq := read("q", c.Heads)
	wk, ok := read("k", c.KVHeads)
	wv, ov := read("v", c.KVHeads)
	wo := b.matrix(name("self_attn.o_proj"), c.Hidden, c.Heads*d, nil)
	oo := b.offset(name("self_attn.o_proj"), c.OutputBias, c.Hidden)
	var gains [2]*onnx.Tensor
	if c.QKNorm {
		for i, which := range []string{"q", "k"} {
			gains[i] = b.tensor(name("self_attn."+which+"_norm.weight"), d)
		}
	}
	if b.err != nil {
		return -1
	}
	xs := b.pieces(name("input_layernorm"), x, wq.Len())
	part := func(label string, w, offset, gain *onnx.Tensor, rows []span, heads int) int {
		y := b.heads(label, b.product(label+"_proj", xs, w, rows, offset), heads)
		if gain != nil {
			y = b.node(label+"_norm.gained", onnx.OpMul, onnx.Attr{}, b.norm(label+"_norm", y), b.constant(label+"_norm.weight", gain))
		}
		return y
	}
	all := []span{{0, c.KVHeads * d}}
	k := b.rotate(name("self_attn.k.rotated"), part(name("self_attn.k"), wk, ok, gains[1], all, c.KVHeads))
	v := part(name("self_attn.v"), wv, ov, nil, all, c.KVHeads)
	var mixed []piece
	var order []span // of the columns of the projection that follows
	spans := b.cut(group, wq.Len())
	at := 0
	for i, s := range spans {
		label := name("self_attn.q")
		if len(spans) > 1 {
			label = fmt.Sprintf("%s.block%d", label, i)
		}
		rows := grouped(c.KVHeads, group, d, s)
		q := b.rotate(label+".rotated", part(label, wq, oq, gains[0], rows, c.KVHeads*s.n))
		n := c.KVHeads * s.n * d
		mixed = append(mixed, piece{b.attend(label, b.heads(label+".grouped", q, c.KVHeads, s.n), k, v), span{at, n}})
		order, at = append(order, rows...), at+n
	}
	if len(spans) > 1 {
		wo = columns(wo, order)
	}
	return b.joined(name("self_attn.o_proj"), mixed, wo, oo)
}

// attend mixes the values of tokens by the products of queries and keys.
func (b *builder) attend(label string, q, k, v int) int {
	s := b.einsum(label+".scores", "tkgd,skd->kgts", q, k)
	s = b.node(label+".scaled", onnx.OpMul, onnx.Attr{}, s, b.scale)
	s = b.node(label+".masked", onnx.OpSelect, onnx.Attr{}, s, b.mask, b.hidden)
	p := b.node(label+".softmax", onnx.OpSoftmax, onnx.Attr{Axes: []int{3}}, s)
	y := b.einsum(label+".mixed", "kgts,skd->tkgd", p, v)
	shape := b.g.Shape(y)
	if len(shape) != 4 {
		return -1
	}
	return b.node(label+".joined", onnx.OpReshape, onnx.Attr{Shape: []int{shape[0], shape[1] * shape[2] * shape[3]}}, y)
}

// head gives the logits of rows of the vocabulary.
func (b *builder) head(x int, rows Range) int {
	c := b.c
	if b.o.LastToken && b.o.Tokens > 1 {
		x = b.node("last", onnx.OpRearrange, onnx.Attr{Maps: []onnx.AxisMap{
			{Axis: 0, Shape: []int{1}, Index: []int32{int32(b.o.Tokens - 1)}}, {Axis: 1, Shape: []int{c.Hidden}},
		}}, x)
	}
	x = b.norm("model.norm", x)
	w, gain := b.tensor(b.headTensor(), c.Vocabulary, c.Hidden), b.tensor(finalNorm, c.Hidden)
	if b.err != nil {
		return -1
	}
	name, elements := LogitsName, w.Len()
	if whole := (Range{0, c.Vocabulary}); rows != whole {
		name = fmt.Sprintf("%s.rows%d", LogitsName, rows.From)
		w = submatrix(w, []span{{rows.From, rows.To - rows.From}}, span{0, c.Hidden})
	}
	return b.logits(name, b.pieces("model.norm", x, elements), gained(w, gain))
}

// logits is the product with a matrix whose rows are cut as far as tensors may be large; rows are not cut for their padding's sake, as a
// vocabulary that fits is seldom worth operations of its own.
func (b *builder) logits(name string, xs []piece, w *onnx.Tensor) int {
	most := b.o.most()
	for _, x := range xs {
		most = min(most, b.o.most()/graph.Pow2(x.of.n))
	}
	spans := rowSpans(w.Shape[0], most)
	if len(spans) == 1 {
		return b.product(name, xs, w, spans, nil)
	}
	var parts []int
	for i, s := range spans {
		parts = append(parts, b.product(fmt.Sprintf("%s.block%d", name, i), xs, w, []span{s}, nil))
	}
	return b.node(name, onnx.OpConcat, onnx.Attr{Axis: 1}, parts...)
}
