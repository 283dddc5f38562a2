package prover

import (
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// misaligned is by how many bytes bits start after a multiple of 16, or, on the host,
// where vectors may start anywhere, of an element's alignment.
func misaligned(bits device.Buffer[uint32]) uint64 {
	if h := bits.Host(); h != nil {
		return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(h))) % unsafe.Alignof(gf2.Element{}))
	}
	return bits.Address() % gf2.Size
}

// grain is how many products are worth another core.
const grain = 1 << 10

// expand sets dst to eq(z, y) for all y of the cube, z's first coordinate being of the
// top bit.
func expand(q *device.Queue, dst device.Buffer[gf2.Element], z []gf2.Element) error {
	if !q.OnHost() {
		return expandDevice(q, dst, z)
	}
	t := dst.Host()
	t[0] = gf2.One()
	// The last coordinate first, so that the table doubles behind itself: a
	// coordinate's bit is above those of the ones after it.
	n := 1
	for i := len(z) - 1; i >= 0; i-- {
		lo, hi := t[:n], t[n:2*n]
		parallel.For(n, grain, func(a, b int) {
			for k := a; k < b; k++ {
				hi[k] = z[i].Mul(lo[k])
				lo[k] = lo[k].Add(hi[k])
			}
		})
		n *= 2
	}
	return q.Err()
}

// bytes of an element.
func byteOf(e gf2.Element, k int) int {
	w := e.Lo
	if k >= 8 {
		w = e.Hi
	}
	return int(w >> (8 * (k & 7)) & 255)
}

// partial is the sums over y of eq(y) times bit v of message(y), for v from 0 to 127:
// for each byte of the elements, the sums of eq(y) over the y with each value of the
// byte, and from those the bits'.
func partial(q *device.Queue, eq, message device.Buffer[gf2.Element]) ([]gf2.Element, error) {
	if !q.OnHost() {
		return partialDevice(q, eq, message)
	}
	e, m := eq.Host(), message.Host()
	const share = 1 << 14
	parts := (len(e) + share - 1) / share
	found := make([][128]gf2.Element, parts)
	err := q.Parallel(parts, 1, func(a, b int) {
		buckets := make([][256]gf2.Element, 16)
		for p := a; p < b; p++ {
			clear(buckets)
			for y := p * share; y < min(len(e), (p+1)*share); y++ {
				for k := range buckets {
					c := &buckets[k][byteOf(m[y], k)]
					*c = c.Add(e[y])
				}
			}
			for k := range buckets {
				for x, s := range buckets[k] {
					for bit := range 8 {
						f := &found[p][8*k+bit]
						*f = f.Add(s.MulBit(uint(x >> bit)))
					}
				}
			}
		}
	})
	out := make([]gf2.Element, 128)
	for p := range found {
		for v := range out {
			out[v] = out[v].Add(found[p][v])
		}
	}
	return out, err
}

// weightTables are, for each byte of an element, the sums over the byte's set bits u
// of eq(batch, u).
func weightTables(batch []gf2.Element) [][256]gf2.Element {
	eq := fribinius.EqTable(batch)
	t := make([][256]gf2.Element, 16)
	for k := range t {
		for x := 1; x < 256; x++ {
			low := x & -x
			bit := 0
			for low>>bit != 1 {
				bit++
			}
			t[k][x] = t[k][x^low].Add(eq[8*k+bit])
		}
	}
	return t
}

// weigh replaces eq(z, y) by A(y), the sum over u of eq(batch, u) times bit u of it.
func weigh(eq, batch []gf2.Element) {
	t := weightTables(batch)
	parallel.For(len(eq), grain, func(a, b int) {
		for y := a; y < b; y++ {
			var w gf2.Element
			for k := range t {
				w = w.Add(t[k][byteOf(eq[y], k)])
			}
			eq[y] = w
		}
	})
}

// sums is the message of a round that binds the last variable.
func sums(weight, message []gf2.Element) fribinius.Round {
	half := len(weight) / 2
	parts := (half + grain - 1) / grain
	found := make([]fribinius.Round, parts)
	parallel.For(parts, 1, func(a, b int) {
		for p := a; p < b; p++ {
			var m fribinius.Round
			for k := p * grain; k < min(half, (p+1)*grain); k++ {
				w, t := weight[2*k:2*k+2], message[2*k:2*k+2]
				m.AtZero = m.AtZero.Add(w[0].Mul(t[0]))
				m.Lead = m.Lead.Add(w[0].Add(w[1]).Mul(t[0].Add(t[1])))
			}
			found[p] = m
		}
	})
	var m fribinius.Round
	for _, f := range found {
		m.AtZero, m.Lead = m.AtZero.Add(f.AtZero), m.Lead.Add(f.Lead)
	}
	return m
}

// fold sets the last variable of a multilinear polynomial, given by its values on the
// cube, to r. dst may be the first half of src: then one core goes from left to right.
func fold(dst, src []gf2.Element, r gf2.Element) {
	step := func(a, b int) {
		for k := a; k < b; k++ {
			dst[k] = src[2*k].Add(r.Mul(src[2*k].Add(src[2*k+1])))
		}
	}
	if len(dst) > 0 && &dst[0] != &src[0] {
		parallel.For(len(dst), grain, step)
		return
	}
	// In place the second half of dst overwrites what nobody reads any more once the
	// first half is done; ever smaller first parts can be shared out.
	step(0, min(len(dst), grain))
	for n := grain; n < len(dst); n *= 2 {
		parallel.For(min(n, len(dst)-n), grain, func(a, b int) { step(n+a, n+b) })
	}
}
