package prover

import (
	"errors"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/babybear"
)

// TestKernelsRefuse: no operation takes a buffer that was freed or lives elsewhere, or
// buffers of lengths that do not fit.
func TestKernelsRefuse(t *testing.T) {
	type F = babybear.Element
	type E = babybear.E4
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		d, err := newOnDevice[F, F, E](q, unitBabyBear4)
		must(t, err)
		t.Cleanup(d.free)
		g := devicetest.Rand(8)
		e := func(n int) device.Buffer[E] { return devicetest.Upload(t, q, random[E](g, n)) }
		f := func(n int) device.Buffer[F] { return devicetest.Upload(t, q, random[F](g, n)) }
		refused := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v, want %v", what, err, device.ErrUsage)
			}
		}
		index := devicetest.Upload(t, q, []uint32{1, 2})
		var none device.Buffer[E]
		for name, s := range devicetest.Strange[E](t, q, 8) {
			one, two, four := s.Slice(0, 1), s.Slice(0, 2), s.Slice(0, 4)
			refused(name+" point", d.eqPowers(e(4), one))
			refused(name+" factors", d.eqPowers(four, e(1)))
			refused(name+" powers", d.geometric(four, e(1), 1))
			refused(name+" sums", d.blockSums(two, 1, 0, f(4), e(4), 1))
			refused(name+" factors of sums", d.blockSums(e(2), 1, 0, f(4), four, 1))
			refused(name+" table of sums", d.blockSumsExt(e(2), 1, 0, four, e(4), 1))
			refused(name+" block weights", d.blockWeights(two, 1, 0, e(4), e(1), 1, 2))
			refused(name+" coefficients", d.blockWeights(e(2), 1, 0, e(4), one, 1, 2))
			refused(name+" folded table", d.foldBlocks(two, f(4), e(1)))
			refused(name+" challenge", d.foldBlocks(e(2), f(4), one))
			refused(name+" combined table", d.combine(four, []device.Buffer[F]{f(4)}, e(1)))
			refused(name+" lifted table", d.lift(four, f(4)))
			refused(name+" weights", d.addWeights(four, e(4), 2, e(1), true))
			refused(name+" coefficient of weights", d.addWeights(e(4), e(4), 2, one, false))
			refused(name+" table to add", d.addTable(e(4), four, e(1)))
			refused(name+" table to add points to", d.addPoints(four, 3, index, e(1), 1))
			refused(name+" gamma", d.addPoints(e(4), 3, index, one, 1))
			refused(name+" g", d.rounds(four, e(4), none, e(2), nil, none))
			refused(name+" w", d.rounds(e(4), four, none, e(2), nil, none))
			refused(name+" r", d.rounds(e(4), e(4), one, e(2), nil, none))
			refused(name+" messages", d.rounds(e(4), e(4), none, two, nil, none))
			refused(name+" table to fold", d.fold(e(4), four, e(1)))
			refused(name+" dot", d.dot(e(1), e(4), four, 1, 0))
		}
		for name, s := range devicetest.Strange[F](t, q, 4) {
			refused(name+" table of symbols", d.blockSums(e(2), 1, 0, s, e(4), 1))
			refused(name+" symbols to fold", d.foldBlocks(e(2), s, e(1)))
			refused(name+" symbols to combine", d.combine(e(4), []device.Buffer[F]{f(4), s}, e(2)))
			refused(name+" symbols to lift", d.lift(e(4), s))
		}
		for name, s := range devicetest.Strange[uint32](t, q, 4) {
			refused(name+" indices", d.addPoints(e(4), 3, s, e(1), 1))
		}
		refused("odd factors", d.eqPowers(e(3), e(1)))
		refused("two points", d.eqPowers(e(4), e(2)))
		refused("negative power", d.geometric(e(4), e(1), -1))
		refused("table of three", d.blockSums(e(2), 1, 0, f(3), e(4), 1))
		refused("half a claim", d.blockSums(e(2), 1, 0, f(4), e(6), 1))
		refused("fold of more than the variables", d.blockSums(e(8), 1, 0, f(4), e(4), 3))
		refused("column past the stride", d.blockSums(e(2), 1, 1, f(4), e(4), 1))
		refused("too few sums", d.blockSums(e(1), 1, 0, f(4), e(4), 1))
		refused("too few coefficients", d.blockWeights(e(4), 2, 0, e(8), e(1), 1, 2))
		refused("fold to another length", d.foldBlocks(e(4), f(4), e(1)))
		refused("too many challenges", d.foldBlocks(e(1), f(1<<11), e(11)))
		refused("two tables, one coefficient", d.combine(e(4), []device.Buffer[F]{f(4), f(4)}, e(1)))
		refused("tables of two lengths", d.combine(e(4), []device.Buffer[F]{f(4), f(8)}, e(2)))
		refused("lift to another length", d.lift(e(4), f(8)))
		refused("weights of fewer variables", d.addWeights(e(8), e(4), 2, e(1), true))
		refused("weights of three entries", d.addWeights(e(3), e(4), 2, e(1), true))
		refused("sum of two lengths", d.addTable(e(4), e(2), e(1)))
		refused("two gammas", d.addPoints(e(4), 3, index, e(2), 1))
		refused("tables of two lengths in a round", d.rounds(e(4), e(2), none, e(2), nil, none))
		refused("two rounds without a transcript", d.rounds(e(4), e(4), none, e(4), nil, none))
		refused("odd table", d.rounds(e(3), e(3), none, e(2), nil, none))
		refused("table too short to fold", d.rounds(e(2), e(2), e(1), e(2), nil, none))
		refused("half a message", d.rounds(e(4), e(4), none, e(1), nil, none))
		refused("odd fold", d.fold(e(3), none, e(1)))
		refused("column of dot past the stride", d.dot(e(1), e(4), e(4), 1, 1))
		refused("halves over another field", d.halves(e(2), 2, 0, f(4), e(2), 0, e(2)))
	})
}
