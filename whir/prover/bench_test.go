package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// BenchmarkKernels times the operations of openings of 2^24 symbols on a GPU, those
// of the best schedule and, with names ending in wide, those after a first fold of
// one variable.
func BenchmarkKernels(b *testing.B) {
	b.Run("babybear4", func(b *testing.B) {
		benchKernels[babybear.Element, babybear.Element, babybear.E4](b, unitBabyBear4, transcript.BabyBear4(), 24)
	})
	b.Run("babybear5", func(b *testing.B) {
		benchKernels[babybear.Element, babybear.Element, babybear.E5](b, unitBabyBear5, transcript.BabyBear5(), 24)
	})
	b.Run("m31", func(b *testing.B) { benchKernels[m31.Element, m31.CM31, m31.QM31](b, unitM31, transcript.M31(), 24) })
}

func benchKernels[W field.Base[W], F field.Element[F], E field.Element[E]](b *testing.B, u *unit, v *transcript.Variant[W, E], n int) {
	q := devicetest.Queue(b, devicetest.Open(b, "cuda"))
	q.Device().Poison(false)
	d, err := newOnDevice[W, F, E](q, u)
	if err != nil {
		b.Fatal(err)
	}
	defer d.free()
	g := devicetest.Rand(1)
	f, err := device.Alloc[F](q, 1<<n)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Free()
	wide, err := device.Alloc[E](q, 2<<n)
	if err != nil {
		b.Fatal(err)
	}
	defer wide.Free()
	for _, err := range []error{f.Fill(q, 0x12345677), wide.Fill(q, 0x23456787)} {
		if err != nil {
			b.Fatal(err)
		}
	}
	upload := func(n int) device.Buffer[E] { return devicetest.Upload(b, q, random[E](g, n)) }
	factors, coeffs, one, msgs := upload(8*n), upload(256), upload(1), upload(64)
	indices := func(t, bits int) device.Buffer[uint32] {
		out := make([]uint32, t)
		for i := range out {
			out[i] = uint32(g.Intn(1 << bits))
		}
		return devicetest.Upload(b, q, out)
	}
	i19, i17, i24 := indices(187, 19), indices(42, 17), indices(187, 24)
	var none device.Buffer[E]
	tr, err := transcriptprover.FromHost(q, v.New(1))
	if err != nil {
		b.Fatal(err)
	}
	defer tr.Free()
	table := func(i, log int) device.Buffer[E] { return wide.Slice(i<<log, (i+1)<<log) }
	claims := func(c, vars int) device.Buffer[E] { return factors.Slice(0, 2*c*vars) }
	for _, c := range []struct {
		name string
		op   func() error
	}{
		{"block-sums-1", func() error { return d.blockSums(wide, 1, 0, f, claims(1, n), 6) }},
		{"block-sums-2", func() error { return d.blockSums(wide, 2, 0, f, claims(2, n), 6) }},
		{"block-sums-4", func() error { return d.blockSums(wide, 4, 0, f, claims(4, n), 6) }},
		{"block-sums-1-wide", func() error { return d.blockSums(wide, 1, 0, f, claims(1, n), 1) }},
		{"evaluate-18", func() error { return d.blockSumsExt(msgs, 1, 0, table(0, 18), claims(1, 18), 0) }},
		{"evaluate-13", func() error { return d.blockSumsExt(msgs, 1, 0, table(0, 13), claims(1, 13), 0) }},
		{"evaluate-wide", func() error { return d.blockSumsExt(msgs, 1, 0, table(0, n-1), claims(1, n-1), 0) }},
		{"fold-blocks", func() error { return d.foldBlocks(table(0, n-6), f, coeffs.Slice(0, 6)) }},
		{"fold-blocks-wide", func() error { return d.foldBlocks(table(0, n-1), f, coeffs.Slice(0, 1)) }},
		{"weights-18-1", func() error { return d.addWeights(table(0, 18), claims(1, n), n, coeffs.Slice(0, 1), true) }},
		{"weights-18-2", func() error { return d.addWeights(table(0, 18), claims(2, n), n, coeffs.Slice(0, 2), true) }},
		{"weights-18-add", func() error { return d.addWeights(table(0, 18), claims(1, 18), 18, coeffs.Slice(0, 1), false) }},
		{"weights-wide", func() error { return d.addWeights(table(0, n-1), claims(1, n), n, coeffs.Slice(0, 1), true) }},
		{"weights-wide-add", func() error { return d.addWeights(table(0, n-1), claims(1, n-1), n-1, coeffs.Slice(0, 1), false) }},
		{"points-18-direct", func() error { return d.directPoints(table(0, 18), 18, 19, i19, one, 2) }},
		{"points-18-transform", func() error { return d.transformPoints(table(0, 18), 18, 19, i19, one, 2) }},
		{"points-13-direct", func() error { return d.directPoints(table(0, 13), 13, 17, i17, one, 2) }},
		{"points-13-transform", func() error { return d.transformPoints(table(0, 13), 13, 17, i17, one, 2) }},
		{"points-wide-direct", func() error { return d.directPoints(table(0, n-1), n-1, 24, i24, one, 2) }},
		{"points-wide-transform", func() error { return d.transformPoints(table(0, n-1), n-1, 24, i24, one, 2) }},
		{"round-18", func() error { return d.rounds(table(0, 18), table(1, 18), none, msgs.Slice(0, 2), nil, none) }},
		{"fold-round-18", func() error { return d.rounds(table(0, 18), table(1, 18), one, msgs.Slice(0, 2), nil, none) }},
		{"fold-round-13", func() error { return d.rounds(table(0, 13), table(1, 13), one, msgs.Slice(0, 2), nil, none) }},
		{"fold-round-9", func() error { return d.rounds(table(0, 9), table(1, 9), one, msgs.Slice(0, 2), nil, none) }},
		{"round-wide", func() error { return d.rounds(table(0, n-1), table(1, n-1), none, msgs.Slice(0, 2), nil, none) }},
		{"fold-round-wide", func() error { return d.rounds(table(0, n-1), table(1, n-1), one, msgs.Slice(0, 2), nil, none) }},
		{"rounds-128-6", func() error {
			return d.rounds(table(0, 7), table(1, 7), none, msgs.Slice(0, 12), tr, coeffs.Slice(0, 6))
		}},
		{"rounds-12-8", func() error {
			return d.rounds(table(0, 12), table(1, 12), one, msgs.Slice(0, 16), tr, coeffs.Slice(0, 8))
		}},
		{"rounds-13-9", func() error {
			return d.rounds(table(0, 13), table(1, 13), one, msgs.Slice(0, 18), tr, coeffs.Slice(0, 9))
		}},
		{"rounds-18-5", func() error {
			return d.rounds(table(0, 18), table(1, 18), none, msgs.Slice(0, 10), tr, coeffs.Slice(0, 5))
		}},
		{"geometric", func() error { return d.geometric(coeffs, one, 1) }},
		{"eq-powers", func() error { return d.eqPowers(factors.Slice(0, 36), one) }},
		{"block-weights", func() error { return d.blockWeights(wide, 2, 0, claims(2, n), coeffs.Slice(0, 2), 6, n) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			if err := c.op(); err != nil {
				b.Fatal(err)
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				if err := c.op(); err != nil {
					b.Fatal(err)
				}
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
