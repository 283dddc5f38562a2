package scalar

import (
	"math/big"

	"github.com/zkwarp/zkwarp/device"
)

// logRoots is LOG_ROOTS of the kernels.
const logRoots = 10

// scale is factors of elements by place: see Scale in scalar.cu. The zero scale is none.
// Powers in bit-reversed order need no second table, for what that would be is in the
// twiddles of passes over columns: see own of Twiddles.
type scale struct {
	first, second device.Buffer[uint32]
	own           map[pass]device.Buffer[uint32]
}

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
		for _, b := range s.own {
			out = append(out, b)
		}
	}
	for _, f := range []factor{t.length, t.rest} {
		out = append(out, f.scale.first, f.low)
	}
	return append(out, t.toCoset.first, t.fromCoset.first) // the rest is that of others
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

// scaleLog is how many bits of a place the first table of a scale is for: those of the
// pass over rows.
func (d *Domain) scaleLog() int {
	passes := d.tune.plan(d.log)
	if len(passes) == 0 {
		return 0
	}
	return passes[len(passes)-1].bits
}

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
		{&t.high, one, d.power(d.w, t.split), d.log - t.split, 0},
		{&t.low, one, d.w, t.split, 0},
		{&t.coset[Natural].first, one, d.g, low, 0},
		{&t.coset[Natural].second, one, d.power(d.g, low), high, 0},
		{&t.coset[Reversed].first, one, d.power(d.g, high), low, low},
		{&t.cosetInverse[Natural].first, length, inverse, low, 0},
		{&t.cosetInverse[Natural].second, one, d.power(inverse, low), high, 0},
		{&t.cosetInverse[Reversed].first, length, d.power(inverse, high), low, low},
		{&t.length.scale.first, length, one, 0, 0},
		{&t.length.low, length, d.w, t.split, 0},
		{&t.toCoset.first, length, d.power(d.g, high), low, low},
		{&t.fromCoset.first, divisor, d.power(inverse, high), low, low},
		{&t.rest.scale.first, divisor, one, 0, 0},
		{&t.rest.low, divisor, d.w, t.split, 0},
	} {
		var err error
		if *x.to, err = d.powers(q, x.factor, x.base, x.log, x.reversed); err != nil {
			return err
		}
	}
	var err error
	if t.coset[Reversed].own, err = d.own(q, d.w, d.g); err != nil {
		return err
	}
	if t.cosetInverse[Reversed].own, err = d.own(q, new(big.Int).ModInverse(d.w, p), inverse); err != nil {
		return err
	}
	t.toCoset.own, t.fromCoset.own = t.coset[Reversed].own, t.cosetInverse[Reversed].own
	return nil
}

// own is the tables of passes over columns for twiddles by the root, which is the domain's or
// its inverse, times powers of the ratio whose exponents are frequencies. What there is when
// it fails is returned as well.
func (d *Domain) own(q *device.Queue, root, ratio *big.Int) (map[pass]device.Buffer[uint32], error) {
	out := map[pass]device.Buffer[uint32]{}
	split := max(0, d.log-d.tune.logHigh)
	for _, p := range d.tune.plan(d.log) {
		above := p.above(d.log)
		columns, product, base := p.remaining-p.bits, 1, root
		if columns == 0 {
			continue
		}
		if above < split {
			// The kernel takes the negative of exponents itself.
			columns, product, base = split-above, 0, d.w
		}
		b, err := d.frequencies(q, d.power(ratio, above), d.power(base, above), p.bits, columns, product)
		out[p] = b
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// frequencies is scalar_frequencies for 2^bits frequencies.
func (d *Domain) frequencies(q *device.Queue, ratio, root *big.Int, bits, columns, product int) (device.Buffer[uint32], error) {
	ratios, err := device.Upload(q, append(d.f.Montgomery(big.NewInt(1)), d.squares(ratio, bits)...))
	if err != nil {
		return device.Buffer[uint32]{}, err
	}
	defer ratios.Free()
	roots, err := device.Upload(q, d.squares(root, columns+bits*product))
	if err != nil {
		return device.Buffer[uint32]{}, err
	}
	defer roots.Free()
	to, err := device.Alloc[uint32](q, d.f.Limbs<<(bits+columns))
	if err != nil {
		return to, err
	}
	return to, q.Launch(d.f.kernel("frequencies"), device.D1(device.Blocks(1<<(bits+columns), tableThreads)), device.D1(tableThreads), 0,
		to.Arg(), ratios.Arg(), roots.Arg(), device.U32(1<<(bits+columns)), device.U32(columns), device.U32(product))
}

// tableThreads is the size of blocks that make tables.
const tableThreads = 128

// power is b to the power 2^log.
func (d *Domain) power(b *big.Int, log int) *big.Int {
	return new(big.Int).Exp(b, new(big.Int).Lsh(big.NewInt(1), uint(log)), d.f.Modulus)
}

// squares is the powers of b whose exponents are 2^0 to 2^(count-1).
func (d *Domain) squares(b *big.Int, count int) []uint32 {
	var out []uint32
	b = new(big.Int).Set(b)
	for range count {
		out = append(out, d.f.Montgomery(b)...)
		b.Mod(b.Mul(b, b), d.f.Modulus)
	}
	return out
}

// powers is the factor times the powers of base with exponents below 2^log, in the order
// of the exponents with their lowest `reversed` bits reversed.
func (d *Domain) powers(q *device.Queue, factor, base *big.Int, log, reversed int) (device.Buffer[uint32], error) {
	from, err := device.Upload(q, append(d.f.Montgomery(factor), d.squares(base, log)...))
	if err != nil {
		return device.Buffer[uint32]{}, err
	}
	defer from.Free()
	to, err := device.Alloc[uint32](q, d.f.Limbs<<log)
	if err != nil {
		return to, err
	}
	return to, q.Launch(d.f.kernel("powers"), device.D1(device.Blocks(1<<log, tableThreads)), device.D1(tableThreads), 0,
		to.Arg(), from.Arg(), device.U32(1<<log), device.U32(reversed))
}
