package gf2

// The fields below GF(2^128), of numbers in the low bits of a word.

// logs of GF(2^8): powers of a generator and discrete logarithms, which are the
// shortest way to a product without carry-less instructions.
type logs struct {
	log [256]uint16
	exp [1024]uint8
}

// zeroLog is the logarithm of 0: any sum with it is past the powers, in zeros.
const zeroLog = 511

var tables = makeLogs()

func makeLogs() *logs {
	t := new(logs)
	g := generator8()
	p := uint8(1)
	for i := range 255 {
		t.log[p] = uint16(i)
		t.exp[i], t.exp[i+255] = p, p
		p = slowMul8(p, g)
	}
	t.log[0] = zeroLog
	return t
}

// generator8 is the smallest generator of the 255 units of GF(2^8).
func generator8() uint8 {
	for g := uint8(2); ; g++ {
		order := 1
		for p := g; p != 1; p = slowMul8(p, g) {
			order++
		}
		if order == 255 {
			return g
		}
	}
}

// slowMul8 is the definition, for the tables: a product in GF(2^8) by halves down
// to bits.
func slowMul8(a, b uint8) uint8 { return uint8(slowMul(uint64(a), uint64(b), 3)) }

func slowMul(a, b uint64, k int) uint64 {
	if k == 0 {
		return a & b
	}
	h := 1 << (k - 1)
	m := uint64(1)<<h - 1
	z0 := slowMul(a&m, b&m, k-1)
	z2 := slowMul(a>>h, b>>h, k-1)
	z1 := slowMul(a&m^a>>h, b&m^b>>h, k-1)
	return z0 ^ z2 | (z1^z0^z2^slowMulX(z2, k-1))<<h
}

// slowMulX is the product with the generator X_(k-1) of T_k, and with 1 in T_0.
func slowMulX(a uint64, k int) uint64 {
	if k == 0 {
		return a
	}
	h := 1 << (k - 1)
	m := uint64(1)<<h - 1
	return a>>h | (a&m^slowMulX(a>>h, k-1))<<h
}

// mul8 is a product in GF(2^8).
func (t *logs) mul8(a, b uint32) uint32 {
	return uint32(t.exp[(t.log[a&255]+t.log[b&255])&1023])
}

// mul16 is a product in GF(2^16).
func (t *logs) mul16(a, b uint32) uint32 {
	a1, b1 := a>>8&255, b>>8&255
	a0, b0 := a&255, b&255
	z0, z2 := t.mul8(a0, b0), t.mul8(a1, b1)
	return z0 ^ z2 | (t.mul8(a0^a1, b0^b1)^z0^z2^mulX8(z2))<<8
}

// mul32 is a product in GF(2^32).
func (t *logs) mul32(a, b uint32) uint32 {
	a0, b0, a1, b1 := a&0xffff, b&0xffff, a>>16, b>>16
	z0, z2 := t.mul16(a0, b0), t.mul16(a1, b1)
	return z0 ^ z2 | (t.mul16(a0^a1, b0^b1)^z0^z2^mulX16(z2))<<16
}

// mul64 is a product in GF(2^64).
func mul64(a, b uint64) uint64 {
	t := tables
	a0, b0, a1, b1 := uint32(a), uint32(b), uint32(a>>32), uint32(b>>32)
	z0, z2 := t.mul32(a0, b0), t.mul32(a1, b1)
	z1 := t.mul32(a0^a1, b0^b1) ^ z0 ^ z2 ^ uint32(mulX32(uint64(z2)))
	return uint64(z0^z2) | uint64(z1)<<32
}

// The products with the top generator X_(k-1) of each of the fields in a word, for
// words of fields of 2^k bits: halves swap, and what was high is multiplied by the
// generator below and added to the high half.

func mulX2(a uint64) uint64 {
	hi := a >> 1 & 0x5555555555555555
	return hi | (a&0x5555555555555555^hi)<<1
}

func mulX4(a uint64) uint64 {
	hi := a >> 2 & 0x3333333333333333
	return hi | (a&0x3333333333333333^mulX2(hi))<<2
}

func mulX8w(a uint64) uint64 {
	hi := a >> 4 & 0x0f0f0f0f0f0f0f0f
	return hi | (a&0x0f0f0f0f0f0f0f0f^mulX4(hi))<<4
}

func mulX16w(a uint64) uint64 {
	hi := a >> 8 & 0x00ff00ff00ff00ff
	return hi | (a&0x00ff00ff00ff00ff^mulX8w(hi))<<8
}

func mulX32(a uint64) uint64 {
	hi := a >> 16 & 0x0000ffff0000ffff
	return hi | (a&0x0000ffff0000ffff^mulX16w(hi))<<16
}

func mulX64(a uint64) uint64 {
	hi := a >> 32
	return hi | (a^mulX32(hi))<<32
}

func mulX8(a uint32) uint32  { return uint32(mulX8w(uint64(a))) }
func mulX16(a uint32) uint32 { return uint32(mulX16w(uint64(a))) }

// square64 squares in GF(2^64). At each level it turns squares of the halves of fields into squares of the fields:
// (a0 + a1 X)^2 = a0^2 + a1^2 + a1^2 X' X.
func square64(a uint64) uint64 {
	// The square of a bit is the bit.
	hi := a >> 1 & 0x5555555555555555
	a = a&0x5555555555555555 ^ hi | hi<<1
	hi = a >> 2 & 0x3333333333333333
	a = a&0x3333333333333333 ^ hi | mulX2(hi)<<2
	hi = a >> 4 & 0x0f0f0f0f0f0f0f0f
	a = a&0x0f0f0f0f0f0f0f0f ^ hi | mulX4(hi)<<4
	hi = a >> 8 & 0x00ff00ff00ff00ff
	a = a&0x00ff00ff00ff00ff ^ hi | mulX8w(hi)<<8
	hi = a >> 16 & 0x0000ffff0000ffff
	a = a&0x0000ffff0000ffff ^ hi | mulX16w(hi)<<16
	hi = a >> 32
	return a&0xffffffff ^ hi | mulX32(hi)<<32
}

// inverse64 is 1/a in GF(2^64), and 0 for 0.
func inverse64(a uint64) uint64 {
	lo, hi := a&0xffffffff, a>>32
	x := mulX32(hi)
	t := tables
	n := t.inverse32(uint32(square64(lo) ^ uint64(t.mul32(uint32(lo), uint32(x))) ^ square64(hi)))
	return uint64(t.mul32(uint32(lo^x), n)) | uint64(t.mul32(uint32(hi), n))<<32
}

func (t *logs) inverse32(a uint32) uint32 {
	lo, hi := a&0xffff, a>>16
	x := mulX16(hi)
	n := t.inverse16(uint32(square64(uint64(lo))) ^ t.mul16(lo, x) ^ uint32(square64(uint64(hi))))
	return t.mul16(lo^x, n) | t.mul16(hi, n)<<16
}

func (t *logs) inverse16(a uint32) uint32 {
	lo, hi := a&255, a>>8
	x := mulX8(hi)
	n := t.inverse8(uint32(square64(uint64(lo))) ^ t.mul8(lo, x) ^ uint32(square64(uint64(hi))))
	return t.mul8(lo^x, n) | t.mul8(hi, n)<<8
}

func (t *logs) inverse8(a uint32) uint32 {
	if a == 0 {
		return 0
	}
	return uint32(t.exp[255-t.log[a&255]])
}
