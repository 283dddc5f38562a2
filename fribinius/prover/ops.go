package prover

import (
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
)

// misaligned is by how many bytes bits start after a multiple of 16, or, on the host,
// where vectors may start anywhere, of an element's alignment.
func misaligned(bits device.Buffer[uint32]) uint64 {
	if h := bits.Host(); h != nil {
		return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(h))) % unsafe.Alignof(gf2.Element{}))
	}
	return bits.Address() % gf2.Size
}

// grain is how many products of slices are worth another core.
const grain = 1 << 12

// expand sets dst to eq(z, y) for all y of the cube, z's first coordinate being of the
// top bit: in the tower's basis on the host, in POLYVAL's on a device.
func expand(q *device.Queue, dst device.Buffer[gf2.Element], z []gf2.Element) error {
	if !q.OnHost() {
		return expandDevice(q, dst, z)
	}
	t := make([]gf2.Polyval, dst.Len())
	t[0] = gf2.OnePolyval()
	// The last coordinate first, so that the table doubles behind itself: a
	// coordinate's bit is above those of the ones after it.
	n := 1
	for i := len(z) - 1; i >= 0; i-- {
		lo, hi, c := t[:n], t[n:2*n], z[i].Polyval()
		if err := q.Parallel(n, grain, func(a, b int) {
			gf2.ScalePolyval(hi[a:b], lo[a:b], c)
			for k := a; k < b; k++ {
				lo[k] = lo[k].Add(hi[k])
			}
		}); err != nil {
			return err
		}
		n *= 2
	}
	out := dst.Host()
	return q.Parallel(n, grain, func(a, b int) { gf2.FromPolyval(out[a:b], t[a:b]) })
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

// tables are what the sum-check runs on, in POLYVAL's basis: the values at 0 of the last
// variable, and those and the values at 1 added up.
type tables struct{ weightZero, weightDelta, messageZero, messageDelta []gf2.Polyval }

func newTables(half int) *tables {
	all := make([]gf2.Polyval, 4*half)
	return &tables{all[:half], all[half : 2*half], all[2*half : 3*half], all[3*half:]}
}

// split sets what belongs to the pairs [a, b) from the tables' entries.
func (t *tables) split(a, b int, weight, message []gf2.Polyval) {
	for k := a; k < b; k++ {
		i := 2 * (k - a)
		t.weightZero[k], t.weightDelta[k] = weight[i], weight[i].Add(weight[i+1])
		t.messageZero[k], t.messageDelta[k] = message[i], message[i].Add(message[i+1])
	}
}

// weigher is the linear map that takes bit u of an element to eq(batch, u), to POLYVAL's
// basis.
func weigher(batch []gf2.Element) *gf2.Matrix {
	columns := make([]gf2.Polyval, 128)
	gf2.ToPolyval(columns, fribinius.EqTable(batch))
	var m gf2.Matrix
	for i, c := range columns {
		m.Columns[i] = gf2.Element(c)
	}
	return &m
}

// begin makes the tables of the first round: the weights are eq(z, y) under the linear
// map that takes bit u to eq(batch, u).
func begin(q *device.Queue, eq, message []gf2.Element, batch []gf2.Element) (*tables, error) {
	m := weigher(batch)
	t := newTables(len(eq) / 2)
	err := q.Parallel(len(eq)/2, grain, func(a, b int) {
		w, p := make([]gf2.Polyval, 2*(b-a)), make([]gf2.Polyval, 2*(b-a))
		gf2.Apply(w, eq[2*a:2*b], m)
		gf2.ToPolyval(p, message[2*a:2*b])
		t.split(a, b, w, p)
	})
	return t, err
}

// sums is the round's message.
func (t *tables) sums(q *device.Queue) (fribinius.Round, error) {
	n := len(t.weightZero)
	parts := (n + grain - 1) / grain
	found := make([][2]gf2.Polyval, parts)
	err := q.Parallel(parts, 1, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			a, b := p*grain, min(n, (p+1)*grain)
			found[p] = [2]gf2.Polyval{gf2.DotPolyval(t.weightZero[a:b], t.messageZero[a:b]), gf2.DotPolyval(t.weightDelta[a:b], t.messageDelta[a:b])}
		}
	})
	var zero, lead gf2.Polyval
	for _, f := range found {
		zero, lead = zero.Add(f[0]), lead.Add(f[1])
	}
	return fribinius.Round{AtZero: zero.Element(), Lead: lead.Element()}, err
}

// fold sets the last variable to r, in place: the entries are in weightZero and
// messageZero then.
func (t *tables) fold(q *device.Queue, r gf2.Polyval) error {
	return q.Parallel(len(t.weightZero), grain, func(a, b int) {
		gf2.MulAddPolyval(t.weightZero[a:b], t.weightDelta[a:b], r)
		gf2.MulAddPolyval(t.messageZero[a:b], t.messageDelta[a:b], r)
	})
}

// next is the tables of the next round, after fold.
func (t *tables) next(q *device.Queue) (*tables, error) {
	half := len(t.weightZero) / 2
	n := newTables(half)
	err := q.Parallel(half, grain, func(a, b int) { n.split(a, b, t.weightZero[2*a:2*b], t.messageZero[2*a:2*b]) })
	return n, err
}

// folded is the message after fold.
func (t *tables) folded(q *device.Queue) ([]gf2.Element, error) {
	out := make([]gf2.Element, len(t.messageZero))
	err := q.Parallel(len(out), grain, func(a, b int) { gf2.FromPolyval(out[a:b], t.messageZero[a:b]) })
	return out, err
}
