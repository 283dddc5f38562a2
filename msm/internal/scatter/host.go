package scatter

import (
	"math/bits"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// numbers are the constants of a field that cutting scalars takes, in words of 64 bits.
type numbers struct {
	modulus, half, sum []uint64
	inverse            uint64 // -1/modulus modulo 2^64
}

func pairs(w []uint32) []uint64 {
	out := make([]uint64, len(w)/2)
	pairsInto(out, w)
	return out
}

func pairsInto(out []uint64, w []uint32) {
	for i := range out {
		out[i] = uint64(w[2*i]) | uint64(w[2*i+1])<<32
	}
}

func (l *Layout) numbers() numbers {
	c := numbers{modulus: pairs(l.field.Words(l.field.Modulus)), sum: pairs(l.field.Words(l.sum))}
	c.half = make([]uint64, len(c.modulus))
	for i := range c.half {
		c.half[i] = c.modulus[i] >> 1
		if i+1 < len(c.half) {
			c.half[i] |= c.modulus[i+1] << 63
		}
	}
	inverse := c.modulus[0] // right modulo 8, and each step doubles the bits
	for range 5 {
		inverse *= 2 - c.modulus[0]*inverse
	}
	c.inverse = -inverse
	return c
}

// less says whether a < b.
func less(a, b []uint64) bool {
	var borrow uint64
	for i := range a {
		_, borrow = bits.Sub64(a[i], b[i], borrow)
	}
	return borrow != 0
}

// reduce divides x by 2^(64·len(x)) modulo the modulus, below which x lies.
func (c *numbers) reduce(x []uint64) {
	for range x {
		m := x[0] * c.inverse
		var carry uint64
		for i := range x {
			hi, lo := bits.Mul64(m, c.modulus[i])
			var k uint64
			lo, k = bits.Add64(lo, x[i], 0)
			hi += k
			lo, k = bits.Add64(lo, carry, 0)
			carry = hi + k
			if i > 0 {
				x[i-1] = lo
			}
		}
		x[len(x)-1] = carry
	}
	if !less(x, c.modulus) {
		var borrow uint64
		for i := range x {
			x[i], borrow = bits.Sub64(x[i], c.modulus[i], borrow)
		}
	}
}

// recode is the kernels' function of the same name: it replaces a scalar by what its
// digits are read from. ok is false if it is not below the order.
func (c *numbers) recode(x []uint64, form Form) (negative, ok bool) {
	if !less(x, c.modulus) {
		return false, false
	}
	if form == Montgomery {
		c.reduce(x)
	}
	if negative = less(c.half, x); negative {
		var borrow uint64
		for i := range x {
			x[i], borrow = bits.Sub64(c.modulus[i], x[i], borrow)
		}
	}
	var carry uint64
	for i := range x {
		x[i], carry = bits.Add64(x[i], c.sum[i], carry)
	}
	return negative, true
}

// digit is the recoded scalar's digit in a window.
func digit(x []uint64, w plan.Window) int64 {
	at, shift := w.Shift/64, w.Shift%64
	v := x[at] >> shift
	if shift > 0 && at+1 < len(x) {
		v |= x[at+1] << (64 - shift)
	}
	d := int64(v & (1<<w.Bits - 1))
	if !w.Top {
		d -= 1 << (w.Bits - 1)
	}
	return d
}

// host is Run on the CPU.
func (l *Layout) host(q *device.Queue, s plan.Sorted, scalars device.Buffer[uint32], form Form, bad device.Buffer[uint32]) error {
	for _, err := range []error{s.Entries.Use(q), s.Offsets.Use(q), scalars.Use(q), bad.Use(q), q.Err()} {
		if err != nil {
			return err
		}
	}
	return l.Sort(q.Parallel, s.Entries.Host(), s.Offsets.Host(), scalars.Host(), form, &bad.Host()[0])
}

// Sort is Run in plain memory: entries has room for Entries, offsets for one more than
// Buckets. It shares the work out with parallel, as of a device.Queue.
func (l *Layout) Sort(parallel func(n, grain int, body func(lo, hi int)) error, entries, offsets, scalars []uint32, form Form, bad *uint32) error {
	// Twice the same: counts of buckets first, then places, taken from the buckets' ends
	// so that what is left is their starts.
	clear(offsets)
	c := l.numbers()
	each := func(body func(bucket int, entry uint32)) error {
		return parallel(l.rng.To-l.rng.From, 256, func(lo, hi int) {
			x := make([]uint64, l.field.Limbs/2)
			for i := lo; i < hi; i++ {
				pairsInto(x, scalars[i*l.field.Limbs:(i+1)*l.field.Limbs])
				negative, ok := c.recode(x, form)
				if !ok {
					for {
						old := atomic.LoadUint32(bad)
						if old <= uint32(i) || atomic.CompareAndSwapUint32(bad, old, uint32(i)) {
							break
						}
					}
					continue
				}
				for _, w := range l.order {
					d := digit(x, w)
					if d == 0 {
						continue
					}
					entry := uint32(l.rng.From + w.Table + i)
					if d < 0 != negative {
						entry |= plan.Sign
					}
					bucket := w.Base + int(max(d, -d)) - 1
					if l.rng.Low <= bucket && bucket < l.rng.High {
						body(bucket-l.rng.Low, entry)
					}
				}
			}
		})
	}
	if err := each(func(bucket int, _ uint32) { atomic.AddUint32(&offsets[bucket], 1) }); err != nil {
		return err
	}
	end := uint32(0)
	for i := range offsets {
		end += offsets[i]
		offsets[i] = end
	}
	return each(func(bucket int, entry uint32) { entries[atomic.AddUint32(&offsets[bucket], ^uint32(0))] = entry })
}
