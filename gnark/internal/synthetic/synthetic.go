// Package synthetic makes satisfied constraint systems of any size over BN254, to measure
// provers with: what a circuit computes does not matter to them, its shape does.
package synthetic

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"
	"golang.org/x/sync/errgroup"
)

// Options say what to make.
type Options struct {
	// Constraints is how many there are, from MinConstraints to MaxConstraints.
	Constraints int
	// Sparse systems have two bits or small values among three wires; else nearly all
	// wires are uniform elements.
	Sparse bool
	// Seed of the random choices: of operands, coefficients and inputs.
	Seed uint64
}

// Bounds of Options.Constraints. gnark numbers wires and constraints with 32 bits, and the
// field has roots of unity of order 2^28.
const (
	MinConstraints = 256
	MaxConstraints = 1 << 28
)

// publics is the number of public inputs besides the constant.
const publics = 2

// levels is how many steps follow one another, of which each depends on the one before.
const levels = 64

// New makes a system, and a witness that satisfies it. The work is spread over all cores;
// it stops when ctx ends. Memory is about 75 bytes a constraint.
//
// Every constraint of a dense system is a product of two sums of at most three wires, and
// its result a new wire. In a sparse one
//
//   - a third of the constraints say that an input is 0 or 1: b (1 - b) = 0,
//   - a sixth computes the exclusive or of two bits, (2a) b = a + b - c, or their product,
//   - a sixth multiplies two numbers of four bits each,
//   - a third is dense.
//
// All wires but about as many as a level has (one of 64) are in some A and some B, so that
// the key has as many points as it can. Systems are complete: gnark's bookkeeping for further constraints
// is left out.
func New(ctx context.Context, o Options) (*cs.R1CS, witness.Witness, error) {
	if o.Constraints < MinConstraints || o.Constraints > MaxConstraints {
		return nil, nil, fmt.Errorf("a system of %d constraints: want %d to %d", o.Constraints, MinConstraints, MaxConstraints)
	}
	s := newShape(o)
	r := s.system()
	if err := s.fill(ctx, r); err != nil {
		return nil, nil, err
	}
	w, err := witness.New(fr.Modulus())
	if err != nil {
		return nil, nil, err
	}
	if _, err := w.ReadFrom(&inputs{ctx: ctx, s: s}); err != nil {
		return nil, nil, fmt.Errorf("making a witness: %w", err)
	}
	return r, w, nil
}

// shape is where things are. Wires: the constant, public inputs, secret bits, secret
// elements, one for each product. Constraints: those of secret bits, products. Products
// come in levels of equal width, the last of which may be shorter; in sparse systems each
// four of them are one of bits, one of small numbers and two dense ones.
type shape struct {
	o        Options
	bits     int // secret inputs of 0 or 1, and constraints about them
	elements int // secret inputs of any value: as many as a level has dense products
	products int
	width    int // of a level
	coeffs   coeffs
}

func newShape(o Options) *shape {
	s := &shape{o: o}
	if o.Sparse {
		s.bits = o.Constraints / 3
	}
	s.products = o.Constraints - s.bits
	s.width = (s.products + 4*levels - 1) / (4 * levels) * 4
	s.elements = s.dense(s.width)
	return s
}

// dense is how many of so many products from the start of a level are dense.
func (s *shape) dense(n int) int {
	if !s.o.Sparse {
		return n
	}
	return n/4*2 + max(0, n%4-2)
}

// secret is the number of secret inputs.
func (s *shape) secret() int { return s.bits + s.elements }

// inputs is the number of wires that are not products.
func (s *shape) inputs() int { return 1 + publics + s.secret() }

func (s *shape) bit(i int) int     { return 1 + publics + i }
func (s *shape) element(i int) int { return 1 + publics + s.bits + i }
func (s *shape) product(i int) int { return s.inputs() + i }

// kinds of products in sparse systems, by their number modulo four.
const (
	kindBit = iota
	kindSmall
	kindDense
)

func (s *shape) kind(product int) int {
	if !s.o.Sparse {
		return kindDense
	}
	return min(product%4, kindDense)
}

// denseAt is the wire of dense value i of a level; those of level -1 are inputs.
func (s *shape) denseAt(level, i int) int {
	if level < 0 {
		return s.element(i)
	}
	if s.o.Sparse {
		i = i/2*4 + kindDense + i%2
	}
	return s.product(level*s.width + i)
}

// bitAt is the wire of bit i of a level; those of level -1 are inputs.
func (s *shape) bitAt(level, i int) int {
	if level < 0 {
		return s.bit(i)
	}
	return s.product(level*s.width + 4*i + kindBit)
}

// coeffs are numbers of coefficients in the system's table.
type coeffs struct {
	four, eight uint32
	other       [64]uint32
}

// system is gnark's constraint system with all but its constraints.
func (s *shape) system() *cs.R1CS {
	r := cs.NewR1CS(0)
	r.AddPublicVariable("1")
	for i := range publics {
		r.AddPublicVariable(fmt.Sprintf("x%d", i))
	}
	r.Secret = make([]string, 0, s.secret())
	for range s.secret() {
		r.AddSecretVariable("")
	}
	r.NbInternalVariables = s.products
	s.coeffs.four = r.AddCoeff(r.FromInterface(4))
	s.coeffs.eight = r.AddCoeff(r.FromInterface(8))
	rng := newDraws(s.o.Seed, math.MaxUint64)
	for i := range s.coeffs.other {
		v := rng.element()
		s.coeffs.other[i] = r.AddCoeff(r.FromInterface(v[:]))
	}
	return r
}

// piece is how many constraints one task makes.
const piece = 1 << 16

// fill makes the constraints as gnark has them: an instruction for each, words that say
// which terms, and lists of those that can be solved at the same time.
func (s *shape) fill(ctx context.Context, r *cs.R1CS) error {
	blueprint := &constraint.BlueprintGenericR1C{}
	id := r.AddBlueprint(blueprint)
	n := s.o.Constraints
	pieces := (n + piece - 1) / piece
	starts := make([]uint64, pieces+1)
	err := spread(ctx, pieces, func(p int) {
		var c constraint.R1C
		words := 0
		for i := p * piece; i < min(n, (p+1)*piece); i++ {
			s.constraint(i, &c)
			words += 4 + 2*(len(c.L)+len(c.R)+len(c.O))
		}
		starts[p+1] = uint64(words)
	})
	if err != nil {
		return err
	}
	for p := range pieces {
		starts[p+1] += starts[p]
	}
	r.CallData = make([]uint32, starts[pieces])
	r.Instructions = make([]constraint.PackedInstruction, n)
	r.NbConstraints = n
	err = spread(ctx, pieces, func(p int) {
		var c constraint.R1C
		words := r.CallData[starts[p]:starts[p]:starts[p+1]]
		for i := p * piece; i < min(n, (p+1)*piece); i++ {
			s.constraint(i, &c)
			r.Instructions[i] = constraint.PackedInstruction{
				BlueprintID: id, ConstraintOffset: uint32(i), StartCallData: starts[p] + uint64(len(words)),
				// Of wires there are those of products so far, this one's included.
				WireOffset: uint32(s.inputs() + max(0, i-s.bits+1)),
			}
			blueprint.CompressR1C(&c, &words)
		}
	})
	if err != nil {
		return err
	}
	r.Levels = nil
	for at := 0; at < n; {
		end := min(n, at+s.width)
		if at == 0 {
			end = min(n, s.bits+s.width) // all of inputs
		}
		level := make([]uint32, end-at)
		for i := range level {
			level[i] = uint32(at + i)
		}
		r.Levels = append(r.Levels, level)
		at = end
	}
	return nil
}

// spread calls f for 0 to n-1 on all cores, unless ctx ends.
func spread(ctx context.Context, n int, f func(int)) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				f(i)
			}
		})
	}
	return g.Wait()
}

// constraint makes constraint i in c, whose memory it uses.
func (s *shape) constraint(i int, c *constraint.R1C) {
	c.L, c.R, c.O = c.L[:0], c.R[:0], c.O[:0]
	if i < s.bits {
		b := s.bit(i)
		c.L = append(c.L, term(constraint.CoeffIdOne, b))
		c.R = append(c.R, term(constraint.CoeffIdOne, 0), term(constraint.CoeffIdMinusOne, b))
		return
	}
	i -= s.bits
	rng := newDraws(s.o.Seed, uint64(i))
	switch s.kind(i) {
	case kindBit:
		s.bitProduct(i, &rng, c)
	case kindSmall:
		s.smallProduct(i, &rng, c)
	default:
		s.denseProduct(i, &rng, c)
	}
}

func term(coeff uint32, wire int) constraint.Term {
	return constraint.Term{CID: coeff, VID: uint32(wire)}
}

// bitProduct is of the bit at the same place one level before, and another: an input, or
// of that level, too.
func (s *shape) bitProduct(i int, rng *draws, c *constraint.R1C) {
	level, at := i/s.width, i%s.width/4
	a, b := s.bitAt(level-1, at), s.bit(rng.below(s.bits))
	if rng.below(2) == 0 {
		b = s.bitAt(level-1, s.rotated(level, at, s.width/4))
	}
	if rng.below(4) == 0 || a == b {
		c.L = append(c.L, term(constraint.CoeffIdOne, a))
		c.R = append(c.R, term(constraint.CoeffIdOne, b))
		c.O = append(c.O, term(constraint.CoeffIdOne, s.product(i)))
		return
	}
	c.L = append(c.L, term(constraint.CoeffIdTwo, a))
	c.R = append(c.R, term(constraint.CoeffIdOne, b))
	c.O = append(c.O, term(constraint.CoeffIdOne, a), term(constraint.CoeffIdOne, b), term(constraint.CoeffIdMinusOne, s.product(i)))
}

// smallProduct is of two numbers of four bits, of which one is of the level before.
func (s *shape) smallProduct(i int, rng *draws, c *constraint.R1C) {
	level, at := i/s.width, i%s.width/4
	for j, coeff := range []uint32{constraint.CoeffIdOne, constraint.CoeffIdTwo, s.coeffs.four, s.coeffs.eight} {
		b := s.bit(rng.below(s.bits))
		if j == 0 {
			b = s.bitAt(level-1, s.rotated(level, at, s.width/4))
		}
		c.L = append(c.L, term(coeff, s.bit(rng.below(s.bits))))
		c.R = append(c.R, term(coeff, b))
	}
	c.O = append(c.O, term(constraint.CoeffIdOne, s.product(i)))
}

// denseProduct is of the value at the same place one level before, and one at another
// place there, each with up to two others added, and in sparse systems small numbers.
func (s *shape) denseProduct(i int, rng *draws, c *constraint.R1C) {
	level, at := i/s.width, s.dense(i%s.width)
	c.L = append(c.L, term(constraint.CoeffIdOne, s.denseAt(level-1, at)))
	c.R = append(c.R, term(constraint.CoeffIdOne, s.denseAt(level-1, s.rotated(level, at, s.elements))))
	if level == 0 && at < publics {
		c.L = append(c.L, term(constraint.CoeffIdOne, 1+at)) // each in one at least
	}
	for range max(0, rng.below(4)-1) {
		c.L = s.further(c.L, level, rng)
	}
	if rng.below(4) == 0 {
		c.R = s.further(c.R, level, rng)
	}
	if s.o.Sparse && level > 0 {
		small := term(constraint.CoeffIdOne, s.product((level-1)*s.width+at/2*4+kindSmall))
		if at%2 == 0 {
			c.L = append(c.L, small)
		} else {
			c.R = append(c.R, small)
		}
	}
	c.O = append(c.O, term(constraint.CoeffIdOne, s.product(i)))
}

// further adds one more term, unless its wire is there: of a public input, of the level
// before or of any before.
func (s *shape) further(to constraint.LinearExpression, level int, rng *draws) constraint.LinearExpression {
	var wire int
	switch rng.below(16) {
	case 0:
		wire = 1 + rng.below(publics)
	case 1:
		wire = s.denseAt(rng.below(level+1)-1, rng.below(s.elements))
	default:
		wire = s.denseAt(level-1, rng.below(s.elements))
	}
	for _, t := range to {
		if t.WireID() == wire {
			return to
		}
	}
	coeff := uint32(constraint.CoeffIdOne)
	switch rng.below(8) {
	case 0:
		coeff = constraint.CoeffIdMinusOne
	case 1:
		coeff = s.coeffs.other[rng.below(len(s.coeffs.other))]
	}
	return append(to, term(coeff, wire))
}

// rotated is the place of the other operand: a different one for each, so that all are some.
func (s *shape) rotated(level, at, n int) int {
	rng := newDraws(s.o.Seed, math.MaxUint64-1-uint64(level))
	return (at + 1 + rng.below(max(1, n-1))) % n
}

// inputs is a witness in gnark's encoding: numbers of public and secret values, and of
// both, then the values.
type inputs struct {
	ctx  context.Context
	s    *shape
	rest []byte
	buf  [4096]byte
	head bool
	next int // value
}

func (in *inputs) Read(p []byte) (int, error) {
	if len(in.rest) == 0 {
		if err := in.ctx.Err(); err != nil {
			return 0, err
		}
		in.rest = in.more()
		if len(in.rest) == 0 {
			return 0, io.EOF
		}
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// more is the next bytes.
func (in *inputs) more() []byte {
	b := in.buf[:0]
	if !in.head {
		in.head = true
		for _, n := range []int{publics, in.s.secret(), publics + in.s.secret()} {
			b = append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		}
	}
	for ; len(b)+fr.Bytes <= len(in.buf) && in.next < publics+in.s.secret(); in.next++ {
		rng := newDraws(^in.s.o.Seed, uint64(in.next))
		var v [fr.Bytes]byte
		if in.next < publics || in.next >= publics+in.s.bits {
			v = rng.element()
		} else {
			v[fr.Bytes-1] = byte(rng.below(2))
		}
		b = append(b, v[:]...)
	}
	return b
}
