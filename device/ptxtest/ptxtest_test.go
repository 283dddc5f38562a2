package ptxtest

import (
	"math"
	"math/bits"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

func TestMain(m *testing.M) { devicetest.Main(m, Source) }

// scale multiplies the work of a test on a real card.
func scale(q *device.Queue, card int) int {
	if q.Device().Kind() == device.CUDA {
		return card
	}
	return 1
}

type output struct {
	name string
	f    func(a, b, c, s uint64) uint64
}

func lo(x uint64) uint32 { return uint32(x) }
func hi(x uint64) uint32 { return uint32(x >> 32) }

// small is the kernel's.
func small(a uint64) float64 {
	return math.Float64frombits(a&0x800fffffffffffff | (1023-100+a>>52&127)<<52)
}

func dot(a, b uint32, f func(x, y byte) uint32) uint32 {
	var s uint32
	for i := 0; i < 32; i += 8 {
		s += f(byte(a>>i), byte(b>>i))
	}
	return s
}

func permute(a, b, sel uint32) uint32 {
	var bytes [8]byte
	for i := range 4 {
		bytes[i], bytes[4+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	var r uint32
	for i := range 4 {
		s := sel >> (4 * i) & 15
		v := bytes[s&7]
		if s >= 8 {
			v = byte(int8(v) >> 7)
		}
		r |= uint32(v) << (8 * i)
	}
	return r
}

var scalars = append([]output{
	{"mul_hi u32", func(a, b, _, _ uint64) uint64 { h, _ := bits.Mul32(lo(a), lo(b)); return uint64(h) }},
	{"mul_hi i32", func(a, b, _, _ uint64) uint64 { return uint64(uint32(int64(int32(lo(a))) * int64(int32(lo(b))) >> 32)) }},
	{"mul_hi u64", func(a, b, _, _ uint64) uint64 { h, _ := bits.Mul64(a, b); return h }},
	{"mul_wide", func(a, b, _, _ uint64) uint64 { return uint64(lo(a)) * uint64(lo(b)) }},
	{"mul_wide i32", func(a, b, _, _ uint64) uint64 { return uint64(int64(int32(lo(a))) * int64(int32(lo(b)))) }},
	{"mad_wide", func(a, b, c, _ uint64) uint64 { return uint64(lo(a))*uint64(lo(b)) + c }},
	{"mad_wide i32", func(a, b, c, _ uint64) uint64 { return uint64(int64(int32(lo(a)))*int64(int32(lo(b)))) + c }},
	{"dot4", func(a, b, c, _ uint64) uint64 {
		return uint64(lo(c) + dot(lo(a), lo(b), func(x, y byte) uint32 { return uint32(int32(int8(x)) * int32(int8(y))) }))
	}},
	{"dot4u", func(a, b, c, _ uint64) uint64 {
		return uint64(lo(c) + dot(lo(a), lo(b), func(x, y byte) uint32 { return uint32(x) * uint32(y) }))
	}},
	{"popcount u32", func(a, _, _, _ uint64) uint64 { return uint64(bits.OnesCount32(lo(a))) }},
	{"popcount u64", func(a, _, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
	{"leading_zeros u32", func(a, _, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(lo(a))) }},
	{"leading_zeros u64", func(a, _, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
	{"bit_reverse", func(a, _, _, _ uint64) uint64 { return uint64(bits.Reverse32(lo(a))) }},
	{"funnel_left", func(a, b, c, _ uint64) uint64 { n := c & 31; return uint64(lo(b)<<n | lo(a)>>(32-n)) }},
	{"funnel_right", func(a, b, c, _ uint64) uint64 { n := c & 31; return uint64(lo(a)>>n | lo(b)<<(32-n)) }},
	{"byte_permute", func(a, b, c, _ uint64) uint64 { return uint64(permute(lo(a), lo(b), lo(c))) }},
	{"lop3 xor", func(a, b, c, _ uint64) uint64 { return uint64(lo(a) ^ lo(b) ^ lo(c)) }},
	{"lop3 majority", func(a, b, c, _ uint64) uint64 { return uint64(lo(a&b | a&c | b&c)) }},
	{"lop3 select", func(a, b, c, _ uint64) uint64 { return uint64(lo(a&b | ^a&c)) }},
	{"lop3 1B", func(a, b, c, _ uint64) uint64 { return uint64(lo(^a&^c&^b | ^a&^b&c | ^a&b&c | a&^b&^c)) }},
	{"fma_rn", func(a, b, c, _ uint64) uint64 { return math.Float64bits(math.FMA(small(a), small(b), small(c))) }},
	{"fma_rn, remainder", func(a, b, _, _ uint64) uint64 {
		x, y := small(a), small(b)
		product := x * y
		return math.Float64bits(math.FMA(x, y, -product))
	}},
	{"add_rn", func(a, _, c, _ uint64) uint64 { return math.Float64bits(small(a) + small(c)) }},
	{"add_rn, signs", func(a, b, _, _ uint64) uint64 {
		x, y := small(a), small(b)
		return math.Float64bits(x + math.Float64frombits(math.Float64bits(x)&(1<<63)|math.Float64bits(y)>>1<<1))
	}},
}, append(append(chains32(), chains64()...),
	output{"limb product, low", func(a, b, _, _ uint64) uint64 { _, l := bits.Mul64(a, b); return l }},
	output{"limb product, high", func(a, b, _, _ uint64) uint64 { h, _ := bits.Mul64(a, b); return h }},
)...)

// chain gives the outputs of the carry-chain steps for words of some width, in
// the kernel's order, out of that width's arithmetic.
func chain(width string, add, sub func(x, y, k uint64) (r, carry uint64), mul func(x, y uint64) (h, l uint64), mask uint64) []output {
	var out []output
	put := func(name string, f func(a, b, c, s uint64) uint64) {
		out = append(out, output{name + " " + width, func(a, b, c, s uint64) uint64 { return f(a&mask, b&mask, c&mask, s&mask) }})
	}
	// carry that comes of s + s, and borrow that comes of (s mod 2) - 1
	carry := func(s uint64) uint64 { _, k := add(s, s, 0); return k }
	borrow := func(s uint64) uint64 { return 1 - s&1 }
	doubled := func(_, _, _, s uint64) uint64 { r, _ := add(s, s, 0); return r }
	type op = func(a, b, c, k uint64) (uint64, uint64)
	first := func(name string, f op) {
		put(name, func(a, b, c, _ uint64) uint64 { r, _ := f(a, b, c, 0); return r })
		put(name+", carry", func(a, b, c, _ uint64) uint64 { _, k := f(a, b, c, 0); return k })
	}
	middle := func(name string, f op) {
		put(name, func(a, b, c, s uint64) uint64 { r, _ := f(a, b, c, carry(s)); return r })
		put(name+", carry", func(a, b, c, s uint64) uint64 { _, k := f(a, b, c, carry(s)); return k })
		put(name+", step before", doubled)
	}
	last := func(name string, f op) {
		put(name, func(a, b, c, s uint64) uint64 { r, _ := f(a, b, c, carry(s)); return r })
		put(name+", step before", doubled)
	}
	sum := func(a, b, _, k uint64) (uint64, uint64) { return add(a, b, k) }
	low := func(a, b, c, k uint64) (uint64, uint64) { _, l := mul(a, b); return add(l, c, k) }
	high := func(a, b, c, k uint64) (uint64, uint64) { h, _ := mul(a, b); return add(h, c, k) }
	first("add_cc", sum)
	middle("addc_cc", sum)
	last("addc", sum)
	put("sub_cc", func(a, b, _, _ uint64) uint64 { r, _ := sub(a, b, 0); return r })
	put("sub_cc, borrow", func(a, b, _, _ uint64) uint64 { _, k := sub(a, b, 0); return -k & mask })
	put("subc_cc", func(a, b, _, s uint64) uint64 { r, _ := sub(a, b, borrow(s)); return r })
	put("subc_cc, borrow", func(a, b, _, s uint64) uint64 { _, k := sub(a, b, borrow(s)); return -k & mask })
	put("subc_cc, step before", func(_, _, _, s uint64) uint64 { return (s&1 - 1) & mask })
	first("mad_lo_cc", low)
	middle("madc_lo_cc", low)
	last("madc_lo", low)
	first("mad_hi_cc", high)
	middle("madc_hi_cc", high)
	last("madc_hi", high)
	return out
}

func chains32() []output {
	return chain("u32",
		func(x, y, k uint64) (uint64, uint64) {
			r, c := bits.Add32(lo(x), lo(y), lo(k))
			return uint64(r), uint64(c)
		},
		func(x, y, k uint64) (uint64, uint64) {
			r, c := bits.Sub32(lo(x), lo(y), lo(k))
			return uint64(r), uint64(c)
		},
		func(x, y uint64) (uint64, uint64) { h, l := bits.Mul32(lo(x), lo(y)); return uint64(h), uint64(l) }, 1<<32-1)
}

func chains64() []output { return chain("u64", bits.Add64, bits.Sub64, bits.Mul64, 1<<64-1) }

// edges are words at which carries, signs and shifts change.
var edges = []uint64{0, 1, 2, 0x7f, 0x80, 0xff, 31, 32, 33, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<32 + 1,
	0x8080808080808080, 0x7f7f7f7f7f7f7f7f, 1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 2, 1<<64 - 1, 0x0123456789abcdef}

func TestScalar(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(1)
		var in []uint64
		for _, a := range edges {
			for _, b := range edges {
				for i, c := range edges {
					in = append(in, a, b, c, edges[(i*7+len(in))%len(edges)])
				}
			}
		}
		for round := range scale(q, 64) {
			for len(in) < 4<<15 {
				in = append(in, g.U64())
			}
			checkScalars(t, q, in)
			if t.Failed() {
				t.Fatalf("round %d", round)
			}
			in = in[:0]
		}
	})
}

func checkScalars(t *testing.T, q *device.Queue, in []uint64) {
	t.Helper()
	n, outputs := len(in)/4, len(scalars)+1
	src := must(device.Upload(q, in))(t)
	defer src.Free()
	dst := must(device.Alloc[uint64](q, n*outputs))(t)
	defer dst.Free()
	if err := q.Launch(device.Kernel{Source: Source, Name: "ptx_scalar"}, device.D1(device.Blocks(n, 256)), device.D1(256), 0,
		dst.Arg(), src.Arg(), device.U32(n), device.U32(outputs)); err != nil {
		t.Fatal(err)
	}
	got := must(dst.Read(q))(t)
	for i := range n {
		x := in[4*i : 4*i+4]
		row := got[i*outputs : (i+1)*outputs]
		if row[len(scalars)] != uint64(outputs) {
			t.Fatalf("the kernel has %d outputs, the table %d", row[len(scalars)], outputs)
		}
		for k, o := range scalars {
			if want := o.f(x[0], x[1], x[2], x[3]); row[k] != want {
				t.Errorf("%s of %#x: got %#x, want %#x", o.name, x, row[k], want)
				return
			}
		}
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func counters(t *testing.T, q *device.Queue) device.Buffer[uint32] {
	t.Helper()
	return must(device.Upload(q, []uint32{0, 1<<32 - 1}))(t)
}

func checkNone(t *testing.T, q *device.Queue, bad device.Buffer[uint32]) {
	t.Helper()
	if c := must(bad.Read(q))(t); c[0] != 0 {
		t.Errorf("%d differences, the first at %#x", c[0], c[1])
	}
}

// All 2^32 words on a card, an even spread of them elsewhere.
func TestUnary(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		bad := counters(t, q)
		defer bad.Free()
		k := device.Kernel{Source: Source, Name: "ptx_unary"}
		n, step := 1<<15, uint32(1<<17-1)
		if q.Device().Kind() == device.CUDA {
			n, step = 1<<28, 1
		}
		for first := uint64(0); first < 1<<32; first += uint64(n) * uint64(step) {
			if err := q.Launch(k, device.D1(min(n/256, 1<<12)), device.D1(256), 0, bad.Arg(), device.U32(uint32(first)), device.U32(step), device.U32(n)); err != nil {
				t.Fatal(err)
			}
		}
		checkNone(t, q, bad)
	})
}

func TestSelectors(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		bad := counters(t, q)
		defer bad.Free()
		g := devicetest.Rand(2)
		for range scale(q, 1000) {
			if err := q.Launch(device.Kernel{Source: Source, Name: "ptx_selectors"}, device.D1(256), device.D1(256), 0,
				bad.Arg(), device.U32(g.U32()), device.U32(g.U32()), device.U32(1<<16)); err != nil {
				t.Fatal(err)
			}
		}
		checkNone(t, q, bad)
	})
}
