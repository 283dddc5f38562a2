package zkmltest

import (
	"fmt"
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Decoder is a program with the structure of a decoder-only transformer: for
// each block a normalisation, attention over `heads` heads with a softmax by its
// maximum, a reciprocal and exponentials, and two matrices around a lookup that
// are four times as wide in between; residuals around both. Its values mean
// nothing. With values false all weights are 0.
func Decoder(blocks, tokens, width, heads int, values bool) *Case {
	d := &decoder{maker: &maker{Builder: graph.NewBuilder(fmt.Sprintf("decoder of %d", blocks)), rng: rand.New(rand.NewPCG(5, uint64(width)))},
		tokens: tokens, width: width, heads: heads, tables: map[string]int{}, random: values}
	ids := d.Input("tokens", []int{tokens}, 0, int64(4*width-1), 1)
	x := d.small("embedding.8", d.Embed("embedding", ids, d.matrix("embeddings", 4*width, width), 1), 8)
	for i := range blocks {
		x = d.block(fmt.Sprintf("h%d", i), x)
	}
	p, w, err := d.Build(x, graph.NoPost, nil)
	if err != nil {
		panic(fmt.Sprintf("zkmltest: %v", err))
	}
	c := &Case{Name: p.Name, Program: p, Weights: w}
	for range tokens {
		c.X = append(c.X, int32(d.rng.IntN(4*width)))
	}
	return c
}

type decoder struct {
	*maker
	tokens, width, heads int
	tables               map[string]int
	zeros                []int32
	random               bool
}

func (d *decoder) matrix(name string, rows, columns int) graph.TensorID {
	if !d.random {
		if n := rows * columns; len(d.zeros) < n {
			d.zeros = make([]int32, n)
		}
		return d.Param(name, []int{rows, columns}, d.zeros[:rows*columns], 1)
	}
	return d.Param(name, []int{rows, columns}, d.values(rows*columns, 127), 1)
}

// function looks x up in a table of f, which is shared; f gets a number in
// [-1, 1], and the result is f times limit.
func (d *decoder) function(name, what string, x graph.TensorID, limit int, f func(float64) float64) graph.TensorID {
	t := d.Tensor(x)
	shift := uint8(0)
	for graph.LookupBits(t.Lo, t.Hi, shift) > 12 && shift < graph.MaxShift {
		shift++
	}
	bits := graph.LookupBits(t.Lo, t.Hi, shift)
	key := fmt.Sprint(what, bits, limit)
	table, ok := d.tables[key]
	if !ok {
		y := make([]int32, 1<<bits)
		for i := range y {
			y[i] = int32(float64(limit) * f(float64(i-len(y)/2)/float64(len(y)/2)))
		}
		table = d.Table(key, uint8(bits), y)
		d.tables[key] = table
	}
	return d.Lookup(name, x, shift, table, 1)
}

func linear(x float64) float64     { return x }
func rectified(x float64) float64  { return max(x, 0) }
func reciprocal(x float64) float64 { return min(1, 0.01/max(x, 0.01)) }

// small is x in a number of bits.
func (d *decoder) small(name string, x graph.TensorID, bits int) graph.TensorID {
	return d.function(name, "linear", x, 1<<(bits-1)-1, linear)
}

func (d *decoder) add(name string, x, y graph.TensorID, cx, cy int64) graph.TensorID {
	return d.Linear(name, []graph.Term{{Coef: cx, T: x}, {Coef: cy, T: y}}, 0, 1)
}

// norm takes the mean away and multiplies by a function of the squares.
func (d *decoder) norm(name string, x graph.TensorID) graph.TensorID {
	mean := d.small(name+".mean", d.Einsum(name+".total", "td->t", x, graph.None, 1), 8)
	column := d.Reshape(name+".column", mean, []int{d.tokens, 1})
	centred := d.small(name+".centred", d.add(name+".less", x, column, 1, -1), 8)
	squares := d.Einsum(name+".squares", "td,td->t", centred, centred, 1)
	root := d.function(name+".root", "reciprocal", squares, 255, reciprocal)
	scaled := d.Einsum(name+".scaled", "td,t->td", centred, root, 1)
	return d.small(name+".out", scaled, 8)
}

// product is x times a new matrix, in 8 bits.
func (d *decoder) product(name string, x graph.TensorID, in, out int) graph.TensorID {
	y := d.Einsum(name+".sum", "tk,kj->tj", x, d.matrix(name+".matrix", in, out), 1)
	return d.small(name, y, 8)
}

func (d *decoder) split(name string, x graph.TensorID) graph.TensorID {
	return d.Reshape(name, x, []int{d.tokens, d.heads, d.width / d.heads})
}

// greatest is the maximum along the last of three axes, by pairs.
func (d *decoder) greatest(name string, x graph.TensorID) graph.TensorID {
	for n := d.Tensor(x).Shape[2]; n > 1; n = (n + 1) / 2 {
		half := (n + 1) / 2
		var low, high []int32
		for i := range half {
			low, high = append(low, int32(i)), append(high, int32(min(i+half, n-1)))
		}
		pick := func(side string, index []int32) graph.TensorID {
			s := d.Tensor(x).Shape
			return d.Rearrange(fmt.Sprintf("%s.%s%d", name, side, half), x, []graph.AxisMap{{Axis: 0, Shape: s[:1]}, {Axis: 1, Shape: s[1:2]}, {Axis: 2, Shape: []int{half}, Index: index}}, nil)
		}
		a, b := pick("low", low), pick("high", high)
		over := d.function(fmt.Sprintf("%s.over%d", name, half), "rectified", d.add(fmt.Sprintf("%s.less%d", name, half), a, b, 1, -1), 255, rectified)
		x = d.add(fmt.Sprintf("%s.max%d", name, half), b, over, 1, 1)
		x = d.small(fmt.Sprintf("%s.max%d.8", name, half), x, 8)
	}
	return x
}

func (d *decoder) block(name string, x graph.TensorID) graph.TensorID {
	n := d.norm(name+".norm1", x)
	q := d.split(name+".queries", d.product(name+".q", n, d.width, d.width))
	k := d.split(name+".keys", d.product(name+".k", n, d.width, d.width))
	v := d.split(name+".values", d.product(name+".v", n, d.width, d.width))
	scores := d.small(name+".scores", d.Einsum(name+".qk", "thd,shd->hts", q, k, 1), 8)
	top := d.greatest(name+".top", scores)
	e := d.function(name+".exp", "rectified", d.add(name+".distance", top, scores, 1, -1), 4095, func(x float64) float64 { return max(0, 1-4*max(x, 0)) })
	sum := d.Einsum(name+".sum", "hts->ht", e, graph.None, 1)
	r := d.function(name+".reciprocal", "reciprocal", sum, 255, reciprocal)
	p := d.small(name+".p", d.Einsum(name+".er", "hts,ht->hts", e, r, 1), 8)
	heads := d.small(name+".heads", d.Einsum(name+".pv", "hts,shd->thd", p, v, 1), 8)
	joined := d.Reshape(name+".joined", heads, []int{d.tokens, d.width})
	x = d.small(name+".residual1", d.add(name+".add1", x, d.product(name+".projection", joined, d.width, d.width), 1, 1), 8)
	n = d.norm(name+".norm2", x)
	wide := d.Einsum(name+".up.sum", "tk,kj->tj", n, d.matrix(name+".up.matrix", d.width, 4*d.width), 1)
	gelu := d.function(name+".gelu", "rectified", wide, 127, rectified)
	down := d.product(name+".down", gelu, 4*d.width, d.width)
	return d.small(name+".residual2", d.add(name+".add2", x, down, 1, 1), 8)
}
