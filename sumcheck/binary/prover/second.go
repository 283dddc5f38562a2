package prover

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
)

var (
	//go:embed finish.cuh
	finishHeaderText string
	//go:embed second.cu
	secondText string
)

var (
	finishHeader = &kernel.Source{Name: "sumcheck/binary/prover/finish.cuh", Text: finishHeaderText, Headers: []*kernel.Source{polyvalHeader}}
	secondSource = &kernel.Source{Name: "sumcheck/binary/prover/second.cu", Text: secondText, Headers: []*kernel.Source{gf2.Header, roundHeader, finishHeader}}
)

const (
	secondColumns = 128 // masks that a block sums for: COLUMNS of second.cu
	secondStep    = 8   // units that it takes at a time: STEP
	secondPitch   = 128*8 + 4*8 + 8
	// secondPatterns is the most variables of which bits are handed on as patterns.
	secondPatterns = 4
)

// secondRounds is how many rounds a second window does, by the degree: second.cu has
// kernels for no others.
var secondRounds = [binary.MaxDegree + 1]int{2: 3, 3: 2, 4: 2}

// second is a window after `done` rounds, whose challenges p_1 is bound by.
type second struct {
	q       *device.Queue
	shape   binary.Shape
	done, k int
	points  int // of each of the 2^k prefixes of p_1, a multiple of unit
	state   device.Buffer[uint32]
	p1      device.Buffer[gf2.Element] // POLYVAL
	bits    []device.Buffer[uint32]
	sums    device.Buffer[uint32] // sumWords, zeros

	combined, folded device.Buffer[gf2.Element]
	fragments        device.Buffer[uint32]
	// What the bits become, column after column: patterns of 2^(done + k) bits, or elements.
	patterns device.Buffer[uint8]
	bound    device.Buffer[gf2.Element]

	memory []interface{ Free() }
}

// secondTiles is how many blocks' masks there are: coefficients in the window's variables,
// for each choice by every column of a prefix, of those that are bound.
func secondTiles(degree, done, k int) int {
	coefficients := 1
	for range k {
		coefficients *= degree
	}
	return device.Blocks(1<<(done*(degree-1)), secondColumns/coefficients)
}

// secondSumWords is the size of the sums.
func secondSumWords(degree, done, k int) int {
	return secondTiles(degree, done, k) * secondColumns * 4 << k
}

// takeSecond allocates memory that free gives back.
func takeSecond[T any](r *second, n int) (device.Buffer[T], error) {
	b, err := device.Alloc[T](r.q, n)
	if err == nil {
		r.memory = append(r.memory, b)
	}
	return b, err
}

func (r *second) free() {
	for _, b := range r.memory {
		b.Free()
	}
}

// newSecond takes the memory of the window after p1 was bound by done rounds: p1 has
// 2^(Vars - done) elements, bits are the columns as they were given, and sums are zero
// whenever it is launched.
func newSecond(q *device.Queue, shape binary.Shape, done int, state device.Buffer[uint32], p1 device.Buffer[gf2.Element], bits []device.Buffer[uint32],
	sums device.Buffer[uint32]) (*second, error) {
	k := secondRounds[shape.Degree]
	r := &second{q: q, shape: shape, done: done, k: k, points: 1 << (shape.Vars - done - k), state: state, p1: p1, bits: bits, sums: sums}
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	var err error
	r.combined, err = takeSecond[gf2.Element](r, r.coefficients()<<k)
	keep(err)
	r.folded, err = takeSecond[gf2.Element](r, r.points)
	keep(err)
	r.fragments, err = takeSecond[uint32](r, fragmentWords(k))
	keep(err)
	if r.asPatterns() {
		r.patterns, err = takeSecond[uint8](r, len(bits)*2*r.points)
	} else {
		r.bound, err = takeSecond[gf2.Element](r, len(bits)*r.points)
	}
	keep(err)
	if err := cmp.Or(errs...); err != nil {
		r.free()
		return nil, err
	}
	return r, nil
}

func (r *second) coefficients() int {
	n := 1
	for range r.k {
		n *= r.shape.Degree
	}
	return n
}

// asPatterns says whether the bits stay bits.
func (r *second) asPatterns() bool { return r.done+r.k <= secondPatterns }

// tail is where the rounds after it begin.
func (r *second) tail() tailStart {
	s := tailStart{Shape: r.shape, Done: r.done + r.k, State: r.state, Polyval: true, Ext: []device.Buffer[gf2.Element]{r.folded}}
	for j := range r.bits {
		if r.asPatterns() {
			s.Patterns = append(s.Patterns, r.patterns.Slice(2*j*r.points, 2*(j+1)*r.points))
		} else {
			s.Ext = append(s.Ext, r.bound.Slice(j*r.points, (j+1)*r.points))
		}
	}
	return s
}

func (r *second) kernel(name string, grid, block device.Dim, shared int, args ...device.Arg) error {
	return r.q.Launch(device.Kernel{Source: secondSource, Name: name}, grid, block, shared, args...)
}

// launch does the window's rounds, and binds everything by their challenges.
func (r *second) launch() error {
	for _, step := range []func() error{r.pass, r.finish, r.bind} {
		if err := errors.Join(r.q.Err(), step()); err != nil {
			return err
		}
	}
	return nil
}

func (r *second) pass() error {
	tiles := secondTiles(r.shape.Degree, r.done, r.k)
	// Two blocks fit a multiprocessor; each has the same number of steps, or one less.
	steps := device.Blocks(r.points/unit, secondStep)
	splits := min(steps, max(1, 2*r.q.Device().Info().Units/(tiles<<r.k)))
	args := []device.Arg{r.sums.Arg(), r.p1.Arg(), device.U32(r.done), device.U64(r.points)}
	for _, c := range r.bits {
		args = append(args, c.Arg())
	}
	grid := device.Dim{X: uint32(tiles), Y: uint32(splits), Z: 1 << r.k}
	return r.kernel(fmt.Sprintf("binary_second_pass_d%d", r.shape.Degree), grid, device.D1(256), secondStep*(2*secondPitch*4+unit*gf2.Size), args...)
}

func (r *second) finish() error {
	tiles := secondTiles(r.shape.Degree, r.done, r.k)
	return errors.Join(
		r.kernel("binary_second_sums", device.D2(r.coefficients(), 1<<r.k), device.D1(256), 0, r.state.Arg(), r.combined.Arg(), r.sums.Arg(),
			device.U32(r.shape.Degree), device.U32(r.done), device.U32(tiles)),
		r.kernel("binary_second_finish", device.D1(1), device.D1(512), 0, r.state.Arg(), r.combined.Arg(), r.fragments.Arg(),
			device.U32(r.shape.Degree), device.U32(r.done), device.U32(r.k)))
}

func (r *second) bind() error {
	folded := fold(r.q, r.k, device.View[uint32](r.folded), device.View[uint32](r.p1), r.fragments, r.points)
	vars, words := r.done+r.k, r.points/32
	columns := make([]device.Arg, 3)
	for j := range columns {
		columns[j] = device.Null()
		if j < len(r.bits) {
			columns[j] = r.bits[j].Arg()
		}
	}
	if r.asPatterns() {
		return errors.Join(folded, r.kernel("binary_second_patterns", device.D2(device.Blocks(words, 8), len(r.bits)), device.D1(256), 0,
			append([]device.Arg{r.patterns.Arg(), device.U32(vars), device.U64(words)}, columns...)...))
	}
	blocks := min(2*r.q.Device().Info().Units/len(r.bits), device.Blocks(words, 16))
	return errors.Join(folded, r.kernel("binary_second_bind", device.D2(max(1, blocks), len(r.bits)), device.D1(512), 16*32<<vars,
		append([]device.Arg{r.state.Arg(), r.bound.Arg(), device.U32(vars), device.U64(words)}, columns...)...))
}
