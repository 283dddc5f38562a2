package prover

import (
	"cmp"
	_ "embed"
	"errors"

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

	// The window that second.cu has kernels for: so many rounds for two factors.
	secondRounds = 3
	secondDegree = 2
)

// second is a window after `done` rounds, whose challenges p_1 is bound by.
type second struct {
	q      *device.Queue
	shape  binary.Shape // of secondDegree
	done   int          // 2 to 4: the bits of all rounds' prefixes are bound by whole bytes
	points int          // of each of the 2^secondRounds prefixes of p_1, a multiple of unit
	state  device.Buffer[uint32]
	p1     device.Buffer[gf2.Element] // POLYVAL
	bits   device.Buffer[uint32]      // p_2
	sums   device.Buffer[uint32]      // secondSumWords, zeros

	combined, folded device.Buffer[gf2.Element]
	bound            device.Buffer[gf2.Element] // what the bits become
	fragments        device.Buffer[uint32]

	memory []interface{ Free() }
}

// secondTiles is how many blocks' masks there are: coefficients in the window's variables,
// for each prefix of those that are bound.
func secondTiles(done int) int { return device.Blocks(1<<done, secondColumns>>secondRounds) }

// secondSumWords is the size of the sums.
func secondSumWords(done int) int { return secondTiles(done) * secondColumns * 4 << secondRounds }

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
// 2^(Vars - done) elements, bits are the column as it was given, and sums are zero
// whenever it is launched.
func newSecond(q *device.Queue, shape binary.Shape, done int, state device.Buffer[uint32], p1 device.Buffer[gf2.Element], bits, sums device.Buffer[uint32]) (*second, error) {
	r := &second{q: q, shape: shape, done: done, points: 1 << (shape.Vars - done - secondRounds), state: state, p1: p1, bits: bits, sums: sums}
	var errs [4]error
	r.combined, errs[0] = takeSecond[gf2.Element](r, 1<<(2*secondRounds))
	r.folded, errs[1] = takeSecond[gf2.Element](r, r.points)
	r.bound, errs[2] = takeSecond[gf2.Element](r, r.points)
	r.fragments, errs[3] = takeSecond[uint32](r, fragmentWords(secondRounds))
	if err := cmp.Or(errs[:]...); err != nil {
		r.free()
		return nil, err
	}
	return r, nil
}

// tail is where the rounds after it begin.
func (r *second) tail() tailStart {
	return tailStart{Shape: r.shape, Done: r.done + secondRounds, State: r.state, Polyval: true, Ext: []device.Buffer[gf2.Element]{r.folded, r.bound}}
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
	tiles := secondTiles(r.done)
	// Two blocks fit a multiprocessor; each has the same number of steps, or one less.
	steps := device.Blocks(r.points/unit, secondStep)
	splits := min(steps, max(1, 2*r.q.Device().Info().Units/(tiles<<secondRounds)))
	grid := device.Dim{X: uint32(tiles), Y: uint32(splits), Z: 1 << secondRounds}
	return r.kernel("binary_second_pass", grid, device.D1(256), secondStep*(2*secondPitch*4+unit*gf2.Size),
		r.sums.Arg(), r.p1.Arg(), device.U32(r.done), device.U64(r.points), r.bits.Arg())
}

func (r *second) finish() error {
	return errors.Join(
		r.kernel("binary_second_sums", device.D2(1<<secondRounds, 1<<secondRounds), device.D1(256), 0, r.state.Arg(), r.combined.Arg(), r.sums.Arg(),
			device.U32(r.done), device.U32(secondTiles(r.done))),
		r.kernel("binary_second_finish", device.D1(1), device.D1(512), 0, r.state.Arg(), r.combined.Arg(), r.fragments.Arg(),
			device.U32(secondDegree), device.U32(r.done), device.U32(secondRounds)))
}

func (r *second) bind() error {
	vars, words := r.done+secondRounds, r.points/32
	blocks := min(2*r.q.Device().Info().Units, device.Blocks(words, 16))
	return errors.Join(
		fold(r.q, secondRounds, device.View[uint32](r.folded), device.View[uint32](r.p1), r.fragments, r.points),
		r.kernel("binary_second_bind", device.D1(max(1, blocks)), device.D1(512), 16*32<<vars,
			r.state.Arg(), r.bound.Arg(), device.U32(vars), device.U64(words), r.bits.Arg()))
}
