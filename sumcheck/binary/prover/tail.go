package prover

import (
	"context"
	_ "embed"
	"fmt"
	"math/bits"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
	towerprover "github.com/zkwarp/zkwarp/transcript/tower/prover"
)

//go:embed polyval.cuh
var polyvalText string

//go:embed round.cuh
var roundText string

//go:embed tail.cuh
var tailHeaderText string

//go:embed tail.cu
var tailText string

//go:embed points.cuh
var pointsHeaderText string

//go:embed points.cu
var pointsText string

var (
	polyvalHeader = &kernel.Source{Name: "sumcheck/binary/prover/polyval.cuh", Text: polyvalText, Headers: []*kernel.Source{kernel.PTX}}
	// roundHeader is the state of a proof and the end of a round.
	roundHeader = &kernel.Source{Name: "sumcheck/binary/prover/round.cuh", Text: roundText, Headers: []*kernel.Source{polyvalHeader, towerprover.Header}}
	tailHeader  = &kernel.Source{Name: "sumcheck/binary/prover/tail.cuh", Text: tailHeaderText, Headers: []*kernel.Source{roundHeader}}
	tailSource  = &kernel.Source{Name: "sumcheck/binary/prover/tail.cu", Text: tailText, Headers: []*kernel.Source{tailHeader}}
	// The same by values at points.
	pointsHeader = &kernel.Source{Name: "sumcheck/binary/prover/points.cuh", Text: pointsHeaderText, Headers: []*kernel.Source{patternsHeader, tailHeader}}
	pointsSource = &kernel.Source{Name: "sumcheck/binary/prover/points.cu", Text: pointsText, Headers: []*kernel.Source{pointsHeader}}
)

// State of round.cuh, in words.
const (
	stateClaim   = 32
	statePoint   = stateClaim + 2*4 + 4 + 8*4
	stateRounds  = statePoint + 2*4*stateVars + 4<<stateWeights
	stateEvals   = stateRounds + 4*stateVars*stateDegree
	stateTables  = stateEvals + 8*4
	stateProgram = stateTables + 3*4*512
	stateWords   = stateProgram + 8 + 3*stateTasks

	stateVars    = 40 // ROUND_VARS
	stateDegree  = 5  // ROUND_DEGREE
	stateWeights = 6  // ROUND_WEIGHTS
	stateTasks   = 24
)

// stateMaps is the part of State that depends on nothing: the tables of the maps to
// the POLYVAL basis and back, and of the latter after a product by 1 / (X^2 + X).
var stateMaps = sync.OnceValue(func() (words []uint32) {
	to, from := gf2.PolyvalTables()
	scale := inverseXX()
	for i := range 512 {
		var v gf2.Polyval // four bits where the table has them
		if at := i >> 4 * 4; at < 64 {
			v.Lo = uint64(i&15) << at
		} else {
			v.Hi = uint64(i&15) << (at - 64)
		}
		from = append(from, v.Mul(scale).Element())
	}
	for _, e := range append(to, from...) {
		words = e.AppendWords(words)
	}
	return words
})

// stateStart is the part of State that a proof begins with: the transcript, which has
// absorbed the claim, the claimed value, and sums and a counter of zero.
func stateStart(tr *tower.Transcript, value gf2.Element) []uint32 {
	words := make([]uint32, statePoint)
	state := tr.State()
	copy(words, state[:])
	value.AppendWords(words[stateClaim:stateClaim])
	return words
}

// newState is the state before the first round, on a device.
func newState(q *device.Queue, tr *tower.Transcript, degree int, value gf2.Element) (device.Buffer[uint32], error) {
	words := make([]uint32, stateWords)
	copy(words, stateStart(tr, value))
	copy(words[stateTables:], stateMaps())
	copy(words[stateProgram:], programOf(degree).words())
	return device.Upload(q, words)
}

// resetState makes the state of an earlier proof of the same degree that before the first
// round of another.
func resetState(q *device.Queue, state device.Buffer[uint32], tr *tower.Transcript, value gf2.Element) error {
	return state.Slice(0, statePoint).CopyFrom(q, stateStart(tr, value))
}

// readState waits for the device and reads the proof.
func readState(q *device.Queue, state device.Buffer[uint32], shape binary.Shape) (*binary.Proof, error) {
	words := make([]uint32, stateTables-stateRounds)
	if err := state.Slice(stateRounds, stateTables).CopyTo(q, words); err != nil {
		return nil, err
	}
	elements := func(from, n int) ([]gf2.Element, error) {
		out := make([]gf2.Element, n)
		for i := range out {
			var err error
			if out[i], err = out[i].SetWords(words[from+4*i : from+4*i+4]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	p := &binary.Proof{Rounds: make([][]gf2.Element, shape.Vars)}
	var err error
	for i := range p.Rounds {
		if p.Rounds[i], err = elements(4*i*shape.Degree, shape.Degree); err != nil {
			return nil, err
		}
	}
	p.Evals, err = elements(stateEvals-stateRounds, shape.Evals())
	return p, err
}

const (
	// roundThreads and lastThreads are the threads of a block. roundBlocks of the first
	// kind share a multiprocessor, so that some multiply while others wait for memory.
	roundThreads = 256
	roundBlocks  = 3
	lastThreads  = 512
	// tailClaim is the logarithm of the entries from which on the products for S(1)
	// take longer than two products after the challenge.
	tailClaim = 19
	// tailMasks is the logarithm of the entries from which on it pays to leave products
	// with patterns to masks, whose sums are multiplied by weights at the end.
	tailMasks = 19
	// tailPairs is the logarithm of the entries from which on it pays to make a table
	// of the products of two patterns.
	tailPairs = 20
	// maskBits is the most bits of a pattern then.
	maskBits = 4
	// tailShared is the most dynamic shared memory that a block uses.
	tailShared = 96 << 10
	// mapBytes is the size of State's maps, of which a block has a copy.
	mapBytes = 2 * 512 * gf2.Size
	// pointsDegree is the highest degree of rounds by values at points, for which blocks
	// have copies of pointsMaps bytes of maps.
	pointsDegree = 4
	pointsMaps   = 3 * 512 * gf2.Size
	// pointsChunk is the logarithm of the positions that a block takes at a time then.
	pointsChunk = 5
	// pointsBlocks share a multiprocessor at the most.
	pointsBlocks = 8
	// patternTables is the most tables of 256 entries for patterns.
	patternTables = 8
	// tailPatterns less the degree is the logarithm of the entries from which on patterns
	// are looked up again after another round, instead of values stored and bound: the
	// more columns, the more products that saves.
	tailPatterns = 19
)

// tailLast is, by the degree, the logarithm of the most entries that tables have where
// one block does the remaining rounds: as many as it multiplies in the time of a launch.
var tailLast = [binary.MaxDegree + 1]int{2: 8, 3: 7, 4: 7, 5: 7}

// Modes of reading a table, as in tail.cuh.
const (
	tailFold = 1 << iota
	tailTower
	tailPattern
	tailStore
)

// tailStart is where the rounds over elements begin.
type tailStart struct {
	Shape binary.Shape
	Done  int                   // rounds that were done
	State device.Buffer[uint32] // of which claim, point, transcript, weights are as after these rounds

	// Ext is p_1, bound in the variables of those rounds: 2^(n - Done) elements. If
	// the kind is AllExt it is p_1 .. p_d. They are read only. Polyval says that they
	// are in the POLYVAL basis, not in the tower's.
	Ext     []device.Buffer[gf2.Element]
	Polyval bool
	// Patterns is p_2 .. p_d if the kind is another: for each x the bits p_j(u, x) for
	// u below 2^Done, bit u of one byte (Done <= 3) or two (Done = 4).
	Patterns []device.Buffer[uint8]
}

// tail is the launches for the rounds over elements.
type tail struct {
	tailStart
	q       *device.Queue
	program *program
	limits  tailLimits
	first   device.Buffer[gf2.Element] // p_1 once it was bound here
	rest    device.Buffer[gf2.Element] // p_2 .. p_d, stride apart
	stride  int
	levels  int                        // by patterns
	pairs   device.Buffer[gf2.Element] // products of two patterns, if that is used
}

// tailLimits are what the plan goes by; tests take small ones.
type tailLimits struct {
	last     int // logarithm of the entries from which on one block does the rest
	units    int // multiprocessors
	log      int // logarithm of the most positions a block takes at a time
	claim    int // logarithm of the entries below which S(1) is summed up instead of taken from the claim
	masks    int // and from which on products with patterns are left to masks
	pairs    int // and from which on two patterns' products come from a table
	patterns int // and from which on patterns are looked up where a round was before
	few      int // the most chunks a multiprocessor, as a logarithm of positions, that one block takes at once
}

func usualTail(q *device.Queue, degree int) tailLimits {
	return tailLimits{last: tailLast[degree], units: q.Device().Info().Units, log: 30, claim: tailClaim, masks: tailMasks, pairs: tailPairs, patterns: tailPatterns - degree, few: pointsChunk}
}

func newTail(q *device.Queue, start tailStart) (*tail, error) {
	return newTailWithin(q, start, usualTail(q, start.Shape.Degree))
}

func newTailWithin(q *device.Queue, start tailStart, limits tailLimits) (*tail, error) {
	t := &tail{tailStart: start, q: q, limits: limits, program: programOf(start.Shape.Degree)}
	left := start.Shape.Vars - start.Done
	if len(start.Patterns) > 0 {
		t.levels = stateWeights - start.Done
		for t.levels > 0 && (t.patternBytes()<<t.levels > patternTables || left-t.levels < limits.patterns) {
			t.levels--
		}
	}
	t.limits.last = min(t.limits.last, left)
	for t.limits.last > 1 && t.lastShared(t.limits.last) > tailShared {
		t.limits.last--
	}
	if left <= t.limits.last {
		return t, nil
	}
	var err error
	if t.first, err = device.Alloc[gf2.Element](q, 1<<(left-1)); err != nil {
		return nil, err
	}
	t.stride = 1 << (left - 1)
	if len(start.Patterns) > 0 {
		t.stride = 1 << max(left-t.levels, 0)
	}
	if t.rest, err = device.Alloc[gf2.Element](q, t.stride*(start.Shape.Degree-1)); err != nil {
		t.free()
		return nil, err
	}
	if len(start.Patterns) > 2 && start.Done == 3 && t.levels > 0 && left >= limits.pairs && t.masked(0) {
		if t.pairs, err = device.Alloc[gf2.Element](q, 1<<16); err != nil {
			t.free()
			return nil, err
		}
	}
	return t, nil
}

func (t *tail) free() {
	t.first.Free()
	t.rest.Free()
	t.pairs.Free()
}

// claimed says whether the round that is `bound` rounds after the first goes by the
// claim, and masked whether it leaves products to masks.
func (t *tail) claimed(bound int) bool {
	left := t.Shape.Vars - t.Done - bound
	return left > t.limits.last && left >= t.limits.claim
}

func (t *tail) masked(bound int) bool {
	return t.claimed(bound) && len(t.Patterns) > 0 && bound <= t.levels &&
		t.Shape.Vars-t.Done-bound >= t.limits.masks && t.Done+bound <= maskBits
}

func (t *tail) patternBytes() int { return max(1, 1<<t.Done/8) }

// tableBytes is the shared memory for patterns in the round that is `bound` rounds after
// the first.
func (t *tail) tableBytes(bound int) int {
	if len(t.Patterns) == 0 || bound > t.levels {
		return 0
	}
	return t.patternBytes() << bound * 256 * gf2.Size
}

// pointed says whether the round that is `bound` rounds after the first goes by values at
// points: with fewer products in a row, and more in all than one that the claim spares some.
func (t *tail) pointed(bound int) bool {
	return t.Shape.Degree <= pointsDegree && !t.claimed(bound)
}

// pointSlots is the slots of a position then: of lines, and with products of two factors.
func (t *tail) pointSlots(products bool) int {
	d := t.Shape.Degree
	if !products || d == 2 {
		return 2 * d
	}
	return 2*d + (d+1)*(d/2)
}

// lastShared is the shared memory of the last block, for tables of 2^log entries.
func (t *tail) lastShared(log int) int {
	if t.Shape.Degree <= pointsDegree {
		return t.pointSlots(true)<<(log-1)*gf2.Size + pointsMaps + t.tableBytes(t.Shape.Vars-t.Done-log)
	}
	return t.program.slots<<(log-1)*gf2.Size + mapBytes + t.tableBytes(t.Shape.Vars-t.Done-log)
}

// source is how tables are read `bound` rounds after the first one.
func (t *tail) source(bound int) (first, rest int, tables []device.Arg) {
	var basis int
	if !t.Polyval {
		basis = tailTower
	}
	elements := func(start int) int {
		switch {
		case start < 0:
			return 0
		case start == 0:
			return basis
		case start == 1:
			return basis | tailFold | tailStore
		}
		return tailFold | tailStore
	}
	first = elements(bound)
	own := func(j int) device.Arg {
		if j == 0 {
			return t.first.Arg()
		}
		return t.rest.Slice((j-1)*t.stride, j*t.stride).Arg()
	}
	d := t.Shape.Degree
	for j := range stateDegree {
		switch {
		case j >= d:
			tables = append(tables, device.Null())
		case j < len(t.Ext) && bound < 2:
			tables = append(tables, t.Ext[j].Arg())
		case j > 0 && len(t.Patterns) > 0 && bound <= t.levels:
			tables = append(tables, t.Patterns[j-1].Arg())
		default:
			tables = append(tables, own(j))
		}
	}
	rest = first
	if len(t.Patterns) > 0 {
		if bound <= t.levels {
			rest = tailPattern | bound<<8 | t.patternBytes()<<12 | t.Done<<16
			if bound == t.levels {
				rest |= tailStore
			}
		} else {
			rest = tailFold | tailStore
		}
	}
	return first, rest, tables
}

// launch enqueues all rounds that are left, and the evaluations.
func (t *tail) launch(ctx context.Context) error {
	left := t.Shape.Vars - t.Done
	if left < 1 {
		return fmt.Errorf("binary sum-check: a tail of %d rounds, want at least 1", left)
	}
	bound, d := 0, t.Shape.Degree
	kernel := func(name string) device.Kernel { return device.Kernel{Source: tailSource, Name: name} }
	for ; left-bound > t.limits.last; bound++ {
		if err := stopped(ctx, t.q); err != nil {
			return err
		}
		half := left - bound - 1
		// All multiprocessors have blocks, or a block all the threads that it can use.
		from, next := 0, 0
		if t.claimed(bound) {
			from = min(bound+1, 2)
		}
		if t.claimed(bound + 1) {
			next = 1
		}
		if t.pointed(bound) {
			if err := t.launchPoints(bound); err != nil {
				return err
			}
			continue
		}
		first, rest, tables := t.source(bound)
		masked := 0
		if t.masked(bound) {
			masked = bits.Len(uint(t.program.sums(false) - 1))
		}
		chunk := min(t.program.chunkLog(roundThreads, from == 0), t.limits.log, max(half-7, 2), half)
		blocks := min(1<<(half-chunk), roundBlocks*t.limits.units)
		args := []device.Arg{t.State.Arg(), device.U32(t.Done + bound), device.U32(d), device.U32(from), device.U32(next), device.U32(masked), device.U32(half), device.U32(chunk),
			device.U32(t.program.slots), device.U32(first), device.U32(rest)}
		args = append(args, tables...)
		pairs := device.Null()
		if bound == 0 && t.pairs.Len() > 0 {
			pairs = t.pairs.Arg()
			if err := t.q.Launch(kernel("binary_tail_pairs"), device.D1(256), device.D1(256), 0, t.State.Arg(), pairs); err != nil {
				return err
			}
		}
		args = append(args, pairs, t.first.Arg(), t.rest.Arg(), device.U64(t.stride))
		shared := t.program.slots<<chunk*gf2.Size + mapBytes
		if rest&tailPattern != 0 {
			shared += t.tableBytes(bound) + 2*4<<chunk
		}
		if err := t.q.Launch(kernel("binary_tail_round"), device.D1(blocks), device.D1(roundThreads), shared, args...); err != nil {
			return err
		}
	}
	if err := stopped(ctx, t.q); err != nil {
		return err
	}
	first, rest, tables := t.source(bound)
	skip := 0
	if t.Shape.Kind == binary.EqBits {
		skip = 1
	}
	args := []device.Arg{t.State.Arg(), device.U32(t.Done + bound), device.U32(d), device.U32(left - bound)}
	if d <= pointsDegree {
		args = append(args, device.U32(t.pointSlots(true)), device.U32(skip), device.U32(first), device.U32(rest))
		return t.q.Launch(device.Kernel{Source: pointsSource, Name: "binary_points_last"}, device.D1(1), device.D1(lastThreads), t.lastShared(left-bound),
			append(args, tables[:pointsDegree]...)...)
	}
	args = append(args, device.U32(t.program.slots), device.U32(skip), device.U32(first), device.U32(rest))
	return t.q.Launch(kernel("binary_tail_last"), device.D1(1), device.D1(lastThreads), t.lastShared(left-bound), append(args, tables...)...)
}

// launchPoints enqueues a round by values at points.
func (t *tail) launchPoints(bound int) error {
	d, half := t.Shape.Degree, t.Shape.Vars-t.Done-bound-1
	first, rest, tables := t.source(bound)
	split := 0
	if len(t.Patterns) > 0 && bound < t.levels {
		split = 1
	}
	args := []device.Arg{t.State.Arg(), device.U32(t.Done + bound), device.U32(d)}
	ends := append(tables[:pointsDegree:pointsDegree], t.first.Arg(), t.rest.Arg(), device.U64(t.stride))
	// Either every multiprocessor has a block with all its positions at once, or many blocks
	// that go through theirs.
	if chunk := max(half-bits.Len(uint(t.limits.units))+1, 3); chunk <= min(t.limits.few, t.limits.log) {
		chunk = min(chunk, half)
		slots := t.pointSlots(true)
		threads := lastThreads
		if d < 4 {
			threads /= 2
		}
		args = append(args, device.U32(split), device.U32(half), device.U32(chunk), device.U32(slots), device.U32(first), device.U32(rest))
		return t.q.Launch(device.Kernel{Source: pointsSource, Name: "binary_points_few"}, device.D1(1<<(half-chunk)), device.D1(threads),
			slots<<chunk*gf2.Size+pointsMaps+t.tableBytes(bound), append(args, ends...)...)
	}
	// The claim is at hand in the first round, and spares the products for S(1).
	claimed, points := 0, d+1
	if bound == 0 {
		claimed, points = 1, d
	}
	chunk := min(pointsChunk, t.limits.log, half)
	blocks := min(1<<(half-chunk), pointsBlocks*t.limits.units)
	args = append(args, device.U32(claimed), device.U32(split), device.U32(half), device.U32(chunk), device.U32(first), device.U32(rest))
	return t.q.Launch(device.Kernel{Source: pointsSource, Name: "binary_points_round"}, device.D1(blocks), device.D1(32*device.Blocks(points<<chunk, 32)),
		2*d<<chunk*gf2.Size+t.tableBytes(bound), append(args, ends...)...)
}
