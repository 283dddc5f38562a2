package synthetic

import (
	"encoding/binary"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// draws is a sequence of random numbers (SplitMix64), of its own for each constraint, so
// that constraints can be made in any order.
type draws struct{ state uint64 }

func newDraws(seed, i uint64) draws {
	d := draws{state: seed}
	d.state = d.next() ^ i
	d.state = d.next()
	return d
}

func (d *draws) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number below n, which is far below 2^64, so that none is likelier by much.
func (d *draws) below(n int) int {
	hi, _ := bits.Mul64(d.next(), uint64(n))
	return int(hi)
}

// element is the bytes of a field element, uniform below 2^253, which is below the
// modulus.
func (d *draws) element() [fr.Bytes]byte {
	var b [fr.Bytes]byte
	for i := 0; i < fr.Bytes; i += 8 {
		binary.BigEndian.PutUint64(b[i:], d.next())
	}
	b[0] &= 1<<5 - 1
	return b
}
