package conformance

import (
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

// The kernel's parts, on words as large and as small as m31.cuh says that they
// may be, which whole permutations hardly ever come near.
func TestParts(t *testing.T) {
	p, err := poseidon2.M31(16)
	if err != nil {
		t.Fatal(err)
	}
	fifth := func(x m31.Element) m31.Element { return x.Mul(x).Mul(x).Mul(x).Mul(x) }
	signed := func(w uint32) m31.Element { return m31.FromInt(int64(int32(w))) }
	plain := func(w uint32) m31.Element { return m31.New(uint64(w)) }
	const (
		least, most = -1<<30 - 4, 1<<30 + 1<<24 // into an S-box
		partial     = 1<<31 + 1<<29 - 1         // in partial rounds
	)
	for part, c := range []struct {
		name  string
		bound func(k int) (lo, hi int64)
		want  func(s [16]uint32) [16]m31.Element
	}{
		{"S-box", func(int) (lo, hi int64) { return least, most }, func(s [16]uint32) (out [16]m31.Element) {
			for k, w := range s {
				out[k] = fifth(signed(w))
			}
			return out
		}},
		{"external", func(int) (lo, hi int64) { return 0, 1<<32 - 1 }, func(s [16]uint32) (out [16]m31.Element) {
			m4 := [4]m31.Element{2, 3, 1, 1}
			for k := range out {
				for j, w := range s {
					v := m4[(j-k+16)%4].Mul(plain(w))
					out[k] = out[k].Add(v)
					if j/4 == k/4 {
						out[k] = out[k].Add(v)
					}
				}
			}
			return out
		}},
		{"two partial rounds", func(k int) (lo, hi int64) {
			if k == 0 {
				return least, most
			}
			return 0, partial
		}, func(s [16]uint32) (out [16]m31.Element) {
			for k, w := range s {
				out[k] = plain(w)
			}
			out[0] = signed(s[0])
			for range 2 {
				out[0] = fifth(out[0])
				var all m31.Element
				for _, w := range out {
					all = all.Add(w)
				}
				out[0] = all.Sub(out[0]).Sub(out[0])
				for k, f := range p.Diagonal[1:] {
					out[k+1] = all.Add(out[k+1].Mul(m31.New(1 << f.Shift)))
				}
			}
			return out
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
				const n = 777
				g := devicetest.Rand(uint64(part))
				in := make([]uint32, 16*n)
				for i := range n {
					for k := range 16 {
						lo, hi := c.bound(k)
						v := lo + int64(g.Intn(int(hi-lo+1)))
						switch kind := i % 4; {
						case i < 2: // all words at one end
							v = [2]int64{lo, hi}[i]
						case kind == 1:
							v = hi - int64(g.Intn(3))
						case kind == 2:
							v = lo + int64(g.Intn(3))
						}
						in[k*n+i] = uint32(v)
					}
				}
				from, err := device.Upload(q, in)
				if err != nil {
					t.Fatal(err)
				}
				defer from.Free()
				to, err := device.Alloc[m31.Element](q, len(in))
				if err != nil {
					t.Fatal(err)
				}
				defer to.Free()
				if err := q.Launch(device.Kernel{Source: partsSource, Name: "poseidon2_parts"}, device.D1(device.Blocks(n, 128)), device.D1(128), 0,
					to.Arg(), from.Arg(), device.U32(n), device.U32(part)); err != nil {
					t.Fatal(err)
				}
				got, err := to.Read(q)
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					var s [16]uint32
					for k := range s {
						s[k] = in[k*n+i]
					}
					for k, w := range c.want(s) {
						if got[k*n+i] != w {
							t.Fatalf("state %#x: word %d is %d, want %d", s, k, got[k*n+i], w)
						}
					}
				}
			})
		})
	}
}
