package llm

import (
	"fmt"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// maxStack is the most elements of the matrices of a piece, padding included: a proof about them has as many lookups, and those of its tables.
const maxStack = 1<<29 - 1<<20

func (o *Options) most() int {
	if o.limit > 0 {
		return o.limit
	}
	return graph.MaxElements
}

// tableColumns cuts columns into powers of two up to most, largest first.
func tableColumns(n, most int) []int {
	var out []int
	for width := graph.Pow2(n); n > 0; width = min(width, graph.Pow2(n)) {
		for width > min(n, max(most, 1)) {
			width /= 2
		}
		out = append(out, width)
		n -= width
	}
	return out
}

// rowSpans cuts rows into blocks of at most `most`, a power of two; only where there are too many for one, as rows of a vocabulary that fits are
// seldom worth an operation of their own.
func rowSpans(n, most int) []span {
	if graph.Pow2(n) <= most {
		return []span{{0, n}}
	}
	var out []span
	at := 0
	for ; n-at > most; at += most {
		out = append(out, span{at, most})
	}
	for _, s := range blocks(n - at) {
		out = append(out, span{at + s.at, s.n})
	}
	return out
}

// Pieces cuts a whole decoder into pieces for proofs one by one: the embedding by columns, some layers at a time, and the head by rows of the
// vocabulary, so that no tensor has more than 2^28 elements, padding included, and no embedding or head more than 2^29. Of o it takes Tokens, LastToken and
// Blocks. Inputs of a piece are the outputs of those names of earlier ones; the last pieces' outputs are the logits, rows after rows. A decoder with a small
// vocabulary has its embedding in the first piece of layers and its head in the last.
func Pieces(c *Config, o Options, layers int) ([]Options, error) {
	return pieces(c, Options{Tokens: o.Tokens, LastToken: o.LastToken, Blocks: o.Blocks, limit: o.limit}, layers, maxStack)
}

func pieces(c *Config, o Options, layers, stack int) ([]Options, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if layers < 1 {
		return nil, fmt.Errorf("%d layers a piece, expected at least 1", layers)
	}
	small := graph.Pow2(c.Vocabulary)*graph.Pow2(c.Hidden) <= min(o.most(), stack)/4
	var out []Options
	var columns []int // of the embeddings' tables
	if !small {
		rows := graph.Pow2(c.Vocabulary)
		if rows > o.most() {
			return nil, unsupported("a vocabulary of %d", c.Vocabulary)
		}
		for at := 0; at < c.Hidden; {
			p := o
			p.LastToken, p.Embedding.From = false, at
			for room := stack; at < c.Hidden && room >= rows; {
				n := tableColumns(min(c.Hidden-at, room/rows), o.most()/rows)[0]
				if at > p.Embedding.From && n*rows < stack/8 && n < c.Hidden-at {
					break // what is left goes to the next piece
				}
				columns = append(columns, n)
				at, room = at+n, room-n*rows
			}
			p.Embedding.To = at
			out = append(out, p)
		}
	}
	for from := 0; from < c.Layers; from += layers {
		p := o
		p.From, p.To, p.Bare = from, min(from+layers, c.Layers), !small
		p.LastToken = small && p.To == c.Layers && o.LastToken
		if !small && from == 0 {
			p.Columns = columns
		}
		out = append(out, p)
	}
	if small {
		return out, nil
	}
	b := &builder{c: c, o: o}
	width, most := 0, o.most()
	for _, s := range b.cut(c.Hidden, c.Vocabulary*c.Hidden) {
		width += graph.Pow2(s.n)
		most = min(most, o.most()/graph.Pow2(s.n))
	}
	padded := func(n int) (sum int) {
		for _, s := range rowSpans(n, most) {
			sum += width * graph.Pow2(s.n)
		}
		return sum
	}
	for at := 0; at < c.Vocabulary; {
		n := c.Vocabulary - at
		for step := max(1, graph.Pow2(n)/64); padded(n) > stack; {
			if n = (n - 1) / step * step; n == 0 {
				return nil, unsupported("a hidden state of %d", c.Hidden)
			}
		}
		p := o
		p.Head = Range{at, at + n}
		out, at = append(out, p), at+n
	}
	return out, nil
}
