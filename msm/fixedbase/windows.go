package fixedbase

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/msm/internal/bases"
)

// Limits of windows: of their bits, of how many a block of digitThreads scalars has room for
// in 48 KiB of shared memory, and of a table's points, whose indices leave room for a sign.
const (
	minWindow     = 4
	minHostWindow = 2
	maxWindow     = 24
	digitThreads  = 128
	maxWindows    = 48 << 10 / (4 * digitThreads)
	maxPoints     = 1<<31 - 1
)

// windows is how a scalar is cut into digits of equally many bits, the lowest first: of all
// windows but the top one from -2^(bits-1) to 2^(bits-1) - 1, of the top one from 0 on.
type windows struct {
	field *mont.Field
	bits  int
	n     int
	sum   *big.Int // what is added to a scalar, so that digits have no carries
	top   int      // the top window's largest digit
}

// cut is windows of so many bits for a device, false where they are more than it takes.
func cut(f *mont.Field, bits int) (windows, bool) { return cutInto(f, bits, maxWindows) }

// cutInto is cut for up to most windows; it is false, too, where the sum leaves no room for a
// carry.
func cutInto(f *mont.Field, bits, most int) (windows, bool) {
	w := windows{field: f, bits: bits, n: (f.Bits() + bits - 1) / bits}
	for {
		w.sum = new(big.Int)
		for i := range w.n - 1 {
			w.sum.SetBit(w.sum, bits*i+bits-1, 1)
		}
		largest := new(big.Int).Sub(f.Modulus, big.NewInt(1))
		largest.Add(largest, w.sum)
		if largest.BitLen() > 32*f.Limbs || w.n > most {
			return w, false
		}
		if largest.Rsh(largest, uint(bits*(w.n-1))).BitLen() <= bits {
			w.top = int(largest.Int64())
			break
		}
		w.n++
	}
	return w, w.points() <= maxPoints
}

// multiples is how many multiples of the base a window has in the table: 1 to so many times
// 2^(bits i).
func (w windows) multiples(i int) int {
	if i == w.n-1 {
		return w.top
	}
	return 1 << (w.bits - 1)
}

// points is the size of the table: infinity, and all windows' multiples.
func (w windows) points() int { return 1 + (w.n-1)<<(w.bits-1) + w.top }

// at is where a window's multiples begin.
func (w windows) at(i int) int { return 1 + i<<(w.bits-1) }

// split is log2 of how many low multiples a window's are made of: each is one of them and
// one of the high ones, which are so many apart.
func (w windows) split(i int) int { return bits.Len(uint(w.multiples(i)-1)) / 2 }

// parts is how many low and high multiples a window has.
func (w windows) parts(i int) (low, high int) {
	s := w.split(i)
	return 1 << s, (w.multiples(i)-1)>>s + 1
}

// Costs in additions of a point, which an entry of a scalar takes, as measured on an H100: a
// table's point takes one, and goes to affine form and through memory twice; a low or high
// multiple is made by doubling and adding.
const (
	tableCost = 4
	partCost  = 1.5 // a bit of the multiple
)

func (w windows) cost(n int) float64 {
	c := float64(n)*float64(w.n) + tableCost*float64(w.points())
	for i := range w.n {
		low, high := w.parts(i)
		c += partCost * float64(low+high) * float64(w.field.Bits())
	}
	return c
}

// hostCost is the cost on the CPU, where a table's points take an addition each, and what
// they are made of and the windows' bases count two.
func (w windows) hostCost(n int) float64 {
	c := float64(n)*float64(w.n) + float64(w.points()) + 2*float64(w.field.Bits())
	for i := range w.n {
		low, high := w.parts(i)
		c += 2 * float64(low+high)
	}
	return c
}

// bytes is the device memory of a table, and while it is made.
func (w windows) bytes(g *curve.Group) int64 {
	return int64(w.points())*int64(g.AffineBytes()) + bases.Bytes(g, w.points())
}

// checkWidth refuses windows that no table has; 0 is any.
func checkWidth(width int) error {
	if width != 0 && (width < minWindow || width > maxWindow) {
		return fmt.Errorf("windows of %d bits, want %d to %d", width, minWindow, maxWindow)
	}
	return nil
}

// choose is the windows by which n multiples take the least time with tables of no more than
// so many bytes, 0 for any. Of a given width, it is those if they fit.
func choose(g *curve.Group, n, width int, memory int64) (windows, error) {
	if err := checkWidth(width); err != nil {
		return windows{}, err
	}
	var best windows
	var least int64
	for b := minWindow; b <= maxWindow; b++ {
		if width != 0 && width != b {
			continue
		}
		w, ok := cut(g.Scalar, b)
		if !ok {
			continue
		}
		if need := w.bytes(g); memory > 0 && need > memory {
			if least == 0 || need < least {
				least = need
			}
			continue
		}
		if best.n == 0 || w.cost(n) < best.cost(n) {
			best = w
		}
	}
	switch {
	case best.n != 0:
		return best, nil
	case least != 0:
		return best, &device.Error{Op: "table of multiples of " + g.Name, Bytes: least, Class: device.ErrNoMemory,
			Text: fmt.Sprintf("the smallest table needs that much, %d bytes are left for it", memory)}
	}
	return best, fmt.Errorf("windows of %d bits cut scalars of %d into more than %d, or have more than %d multiples", width, g.Scalar.Bits(), maxWindows, maxPoints)
}
