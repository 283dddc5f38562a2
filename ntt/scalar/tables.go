package scalar

import (
	"math/big"

	"github.com/zkwarp/zkwarp/device"
)

// logRoots is LOG_ROOTS of the kernels.
const logRoots = 10

// scale is factors of elements by place: see Scale in scalar.cu. The zero scale is none.
type scale struct{ first, second device.Buffer[uint32] }

// tables is what the kernels read.
type tables struct {
	roots     device.Buffer[uint32] // powers of the root of order 2^logRoots
	high, low device.Buffer[uint32] // of the domain's root, see Twiddles
	split     int

	// Powers of the coset's generator by the order of places, and of its inverse, these
	// over Len.
	coset, cosetInverse [2]scale
	// One over Len.
	length factor
	// For quotients, with the factors that are due to the transforms before: the powers in
	// bit-reversed order over Len; those of the inverse times the divisor over Len; the
	// divisor over Len.
	toCoset, fromCoset scale
	rest               factor
}

// factor is a factor of all elements: a scale, or, if split is not 0, the table low times the
// factor, which comes for nothing.
type factor struct {
	scale scale
	low   device.Buffer[uint32]
}

func (t *tables) all() []device.Buffer[uint32] {
	out := []device.Buffer[uint32]{t.roots, t.high, t.low}
	for _, s := range []scale{t.coset[0], t.coset[1], t.cosetInverse[0], t.cosetInverse[1]} {
		out = append(out, s.first, s.second)
	}
	for _, f := range []factor{t.length, t.rest} {
		out = append(out, f.scale.first, f.low)
	}
	return append(out, t.toCoset.first, t.fromCoset.first) // they have second tables of others
}

func (t *tables) bytes() int64 {
	n := int64(0)
	for _, b := range t.all() {
		n += 4 * int64(b.Len())
	}
	return n
}

func (t *tables) free() {
	for _, b := range t.all() {
		b.Free()
	}
}

// scaleLog is how many bits of a place the first table of a scale is for.
func (d *Domain) scaleLog() int { return min(d.log, d.tune.logTile) }

// makeTables computes the tables on q's device.
func (d *Domain) makeTables(q *device.Queue) (*tables, error) {
	t := &tables{split: max(0, d.log-d.tune.logHigh)}
	err := d.fill(q, t)
	if err == nil {
		err = q.Sync() // other queues may use them from now on
	}
	if err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

func (d *Domain) fill(q *device.Queue, t *tables) error {
	p := d.f.Modulus
	power := func(b *big.Int, log int) *big.Int {
		return new(big.Int).Exp(b, new(big.Int).Lsh(big.NewInt(1), uint(log)), p)
	}
	times := func(x, y *big.Int) *big.Int { z := new(big.Int).Mul(x, y); return z.Mod(z, p) }
	one := big.NewInt(1)
	inverse := new(big.Int).ModInverse(d.g, p)
	length := new(big.Int).ModInverse(big.NewInt(int64(d.Len())), p)
	divisor := times(d.divisor(), length)
	root, _ := d.f.family.generators(d.f.Field, logRoots)

	low, high := d.scaleLog(), d.log-d.scaleLog()
	for _, x := range []struct {
		to            *device.Buffer[uint32]
		factor, base  *big.Int
		log, reversed int
	}{
		{&t.roots, one, root, logRoots, 0},
		{&t.high, one, power(d.w, t.split), d.log - t.split, 0},
		{&t.low, one, d.w, t.split, 0},
		{&t.coset[Natural].first, one, d.g, low, 0},
		{&t.coset[Natural].second, one, power(d.g, low), high, 0},
		{&t.coset[Reversed].first, one, power(d.g, high), low, low},
		{&t.coset[Reversed].second, one, d.g, high, high},
		{&t.cosetInverse[Natural].first, length, inverse, low, 0},
		{&t.cosetInverse[Natural].second, one, power(inverse, low), high, 0},
		{&t.cosetInverse[Reversed].first, length, power(inverse, high), low, low},
		{&t.cosetInverse[Reversed].second, one, inverse, high, high},
		{&t.length.scale.first, length, one, 0, 0},
		{&t.length.low, length, d.w, t.split, 0},
		{&t.toCoset.first, length, power(d.g, high), low, low},
		{&t.fromCoset.first, divisor, power(inverse, high), low, low},
		{&t.rest.scale.first, divisor, one, 0, 0},
		{&t.rest.low, divisor, d.w, t.split, 0},
	} {
		var err error
		if *x.to, err = d.powers(q, x.factor, x.base, x.log, x.reversed); err != nil {
			return err
		}
	}
	t.toCoset.second, t.fromCoset.second = t.coset[Reversed].second, t.cosetInverse[Reversed].second
	return nil
}

// powers is the factor times the powers of base with exponents below 2^log, in the order
// of the exponents with their lowest `reversed` bits reversed.
func (d *Domain) powers(q *device.Queue, factor, base *big.Int, log, reversed int) (device.Buffer[uint32], error) {
	factors := d.f.Montgomery(factor)
	b := new(big.Int).Set(base)
	for range log {
		factors = append(factors, d.f.Montgomery(b)...)
		b.Mod(b.Mul(b, b), d.f.Modulus)
	}
	from, err := device.Upload(q, factors)
	if err != nil {
		return device.Buffer[uint32]{}, err
	}
	defer from.Free()
	to, err := device.Alloc[uint32](q, d.f.Limbs<<log)
	if err != nil {
		return to, err
	}
	const threads = 128
	return to, q.Launch(d.f.kernel("powers"), device.D1(device.Blocks(1<<log, threads)), device.D1(threads), 0,
		to.Arg(), from.Arg(), device.U32(1<<log), device.U32(reversed))
}
