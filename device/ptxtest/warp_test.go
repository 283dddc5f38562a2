package ptxtest

import (
	"math/bits"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// warps gives the outputs of lane i of a warp with values v and parameter x.
var warps = []struct {
	name string
	f    func(v []uint64, i int, x int) uint64
}{
	{"lane_id", func(_ []uint64, i, _ int) uint64 { return uint64(i) }},
	{"shfl_xor u32", func(v []uint64, i, x int) uint64 { return uint64(lo(v[i^x])) }},
	{"shfl_xor u64", func(v []uint64, i, x int) uint64 { return v[i^x] }},
	{"shfl_down u32", func(v []uint64, i, x int) uint64 { return uint64(lo(v[inWarp(i+x, i)])) }},
	{"shfl_down u64", func(v []uint64, i, x int) uint64 { return v[inWarp(i+x, i)] }},
	{"shfl_up u32", func(v []uint64, i, x int) uint64 { return uint64(lo(v[inWarp(i-x, i)])) }},
	{"shfl_up u64", func(v []uint64, i, x int) uint64 { return v[inWarp(i-x, i)] }},
	{"shfl_idx u32", func(v []uint64, _, x int) uint64 { return uint64(lo(v[x])) }},
	{"shfl_idx u64", func(v []uint64, _, x int) uint64 { return v[x] }},
	{"shfl_idx, its own index a lane", func(v []uint64, i, _ int) uint64 { return uint64(lo(v[hi(v[i])%32])) }},
	{"ballot", func(v []uint64, _, x int) uint64 { return lanes(v, func(w uint32) bool { return w>>x&1 == 1 }) }},
	{"warp_any", func(v []uint64, _, x int) uint64 {
		return truth(lanes(v, func(w uint32) bool { return w>>x&7 == 7 }) != 0)
	}},
	{"warp_all", func(v []uint64, _, x int) uint64 {
		return truth(lanes(v, func(w uint32) bool { return w>>x&7 == 7 }) == 0)
	}},
	{"warp_match", func(v []uint64, i, x int) uint64 {
		return lanes(v, func(w uint32) bool { return w>>x&3 == lo(v[i])>>x&3 })
	}},
	{"warp_sum", func(v []uint64, _, _ int) uint64 {
		var s uint32
		for _, w := range v {
			s += lo(w)
		}
		return uint64(s)
	}},
	{"warp_xor", func(v []uint64, _, _ int) uint64 {
		var s uint32
		for _, w := range v {
			s ^= lo(w)
		}
		return uint64(s)
	}},
}

func inWarp(i, otherwise int) int {
	if i < 0 || i > 31 {
		return otherwise
	}
	return i
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// lanes is the set of lanes whose lower word satisfies f.
func lanes(v []uint64, f func(uint32) bool) uint64 {
	var r uint64
	for i, w := range v {
		if f(lo(w)) {
			r |= 1 << i
		}
	}
	return r
}

func TestWarp(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(3)
		n := 128 * 16 * scale(q, 64)
		in, m := make([]uint64, n), make([]uint32, n/32)
		for i := range in {
			in[i] = g.U64()
		}
		for i := range m {
			m[i] = uint32(i % 32)
			if i%3 == 0 { // few lanes, or one, satisfy the votes
				for j := range 32 {
					in[32*i+j] &^= 0xffffffff
				}
				in[32*i+g.Intn(32)] |= 7 << m[i] & 0xffffffff
			}
		}
		src, par := must(device.Upload(q, in))(t), must(device.Upload(q, m))(t)
		defer src.Free()
		defer par.Free()
		outputs := len(warps) + 1
		dst := must(device.Alloc[uint64](q, n*outputs))(t)
		defer dst.Free()
		if err := q.Launch(device.Kernel{Source: Source, Name: "ptx_warp"}, device.D1(n/128), device.D1(128), 0,
			dst.Arg(), src.Arg(), par.Arg(), device.U32(outputs)); err != nil {
			t.Fatal(err)
		}
		got := must(dst.Read(q))(t)
		for i := range n {
			row := got[i*outputs : (i+1)*outputs]
			if row[len(warps)] != uint64(outputs) {
				t.Fatalf("the kernel has %d outputs, the table %d", row[len(warps)], outputs)
			}
			w := i / 32
			for k, o := range warps {
				if want := o.f(in[32*w:32*w+32], i%32, int(m[w])); row[k] != want {
					t.Fatalf("%s, warp %d, lane %d, parameter %d: got %#x, want %#x", o.name, w, i%32, m[w], row[k], want)
				}
			}
		}
	})
}

// matrix is what one warp multiplies: d (16 x 8) += a (16 x k) b (k x 8), with
// the k entries of a row of a, or a column of b, packed into 8 words.
type matrix struct {
	a [16][8]uint32
	b [8][8]uint32 // by column
	d [16][8]uint32
}

// fragments spreads m over the 32 lanes, 10 words each.
func (m *matrix) fragments() []uint32 {
	var out []uint32
	for lane := range 32 {
		g, t := lane/4, lane%4
		out = append(out, m.a[g][t], m.a[g+8][t], m.a[g][t+4], m.a[g+8][t+4], m.b[g][t], m.b[g][t+4],
			m.d[g][2*t], m.d[g][2*t+1], m.d[g+8][2*t], m.d[g+8][2*t+1])
	}
	return out
}

func (m *matrix) product(row, column int, word func(x, y uint32) uint32) uint32 {
	s := m.d[row][column]
	for k := range 8 {
		s += word(m.a[row][k], m.b[column][k])
	}
	return s
}

func TestMatrix(t *testing.T) {
	products := []struct {
		name string
		word func(x, y uint32) uint32
	}{
		{"mma_s8", func(x, y uint32) uint32 {
			return dot(x, y, func(x, y byte) uint32 { return uint32(int32(int8(x)) * int32(int8(y))) })
		}},
		{"mma_u8", func(x, y uint32) uint32 {
			return dot(x, y, func(x, y byte) uint32 { return uint32(x) * uint32(y) })
		}},
		{"mma_b1", func(x, y uint32) uint32 { return uint32(bits.OnesCount32(x & y)) }},
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(4)
		n := 20 * scale(q, 500)
		ms := make([]matrix, n)
		var in []uint32
		for i := range ms {
			m := &ms[i]
			for r := range 16 {
				copy(m.a[r][:], g.Words(8))
				copy(m.d[r][:], g.Words(8))
				if r < 8 {
					copy(m.b[r][:], g.Words(8))
				}
			}
			if i == 0 { // the largest products
				for r := range 128 {
					m.a[r/8][r%8], m.b[r/16][r%8] = 0x80808080, 0x80808080
				}
			}
			in = append(in, m.fragments()...)
		}
		src := must(device.Upload(q, in))(t)
		defer src.Free()
		dst := must(device.Alloc[uint32](q, n*32*12))(t)
		defer dst.Free()
		if err := q.Launch(device.Kernel{Source: Source, Name: "ptx_matrix"}, device.D1(n), device.D1(32), 0, dst.Arg(), src.Arg()); err != nil {
			t.Fatal(err)
		}
		got := must(dst.Read(q))(t)
		for i := range ms {
			for lane := range 32 {
				for k, p := range products {
					for j := range 4 {
						row, column := lane/4+8*(j/2), 2*(lane%4)+j%2
						if g, want := got[(i*32+lane)*12+4*k+j], ms[i].product(row, column, p.word); g != want {
							t.Fatalf("%s, matrix %d, entry (%d, %d): got %#x, want %#x", p.name, i, row, column, g, want)
						}
					}
				}
			}
		}
	})
}

func TestCopyAsync(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, groups := range []int{1, 2, 3, 9} {
			in := devicetest.Rand(5).Words(4 * 64 * groups)
			src := must(device.Upload(q, in))(t)
			dst := must(device.Alloc[uint32](q, len(in)))(t)
			if err := q.Launch(device.Kernel{Source: Source, Name: "ptx_copy"}, device.D1(1), device.D1(64), 0,
				dst.Arg(), src.Arg(), device.U32(64*groups)); err != nil {
				t.Fatal(err)
			}
			got := must(dst.Read(q))(t)
			for i := range got {
				v := i / 4
				if want := in[4*(v/64*64+63-v%64)+i%4]; got[i] != want {
					t.Fatalf("%d groups: word %d is %#x, want %#x", groups, i, got[i], want)
				}
			}
			src.Free()
			dst.Free()
		}
	})
}
