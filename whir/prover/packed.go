package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
)

// halves is the block sums of a table of Mersenne-31 values for the two claims about
// symbols that a claim on the table makes ([whir.M31Params.Statement]), in columns
// `column` and the next one of sums, and the values of the table's even and of its
// odd entries at the claim's point; factors are those of the point without its last
// coordinate. It is for the fields of Mersenne-31 only.
func (d *onDevice[W, F, E]) halves(sums device.Buffer[E], stride, column int, words device.Buffer[W], factors device.Buffer[E], fold int, halves device.Buffer[E]) error {
	size, ok := power(words.Len())
	vars := size - 1
	if d.u != unitM31 || !ok || vars < 1 || factors.Len() != 2*vars || halves.Len() != 2 || fold < 0 || fold > vars || 1<<fold > maxFoldBlocks ||
		column < 0 || column+2 > stride || sums.Len() < (1<<fold-1)*stride+column+2 {
		return wrong("halves", "table of %d, %d factors, fold %d, %d sums with stride %d", words.Len(), factors.Len(), fold, sums.Len(), stride)
	}
	n := vars - fold
	low := min(n, 9)
	parts := d.parts(fold, n-low)
	launch := func(name string, grid device.Dim, args ...device.Arg) error {
		return d.q.Launch(device.Kernel{Source: packedSource, Name: name}, grid, device.D1(threads), 0, args...)
	}
	err := launch("whir_packed_sums", device.D2(parts, 1<<fold), d.partial.Arg(), words.Arg(), factors.Slice(2*fold, 2*vars).Arg(),
		device.U32(n), device.U32(low), device.U32((1<<(n-low))/parts))
	if err != nil {
		return err
	}
	u := m31.QM31{B: m31.CM31{Re: 1}}.FrobeniusInverse().B
	return launch("whir_packed_finish", device.D1(1), sums.Slice(column, sums.Len()).Arg(), device.U64(stride), d.partial.Arg(), device.U32(parts),
		factors.Slice(0, 2*fold).Arg(), device.U32(fold), halves.Arg(), device.U32(uint32(u.Re)), device.U32(uint32(u.Im)))
}
