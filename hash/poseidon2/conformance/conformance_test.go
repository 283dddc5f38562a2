package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

func TestMain(m *testing.M) { devicetest.Main(m, Sources()...) }

// launch permutes the n transposed states of in.
func launch[W field.Base[W]](q *device.Queue, source *kernel.Source, name string, width int, out, in device.Buffer[W]) error {
	n := in.Len() / width
	return q.Launch(device.Kernel{Source: source, Name: fmt.Sprintf("poseidon2_many%d_%s", width, name)},
		device.D1(device.Blocks(n, 128)), device.D1(128), 0, out.Arg(), in.Arg(), device.U32(n))
}

// run permutes rows of width words on the device.
func run[W field.Base[W]](t *testing.T, q *device.Queue, p *poseidon2.Permutation[W], u units, width int, states [][]W) [][]W {
	t.Helper()
	n := len(states)
	return through(t, q, states,
		func(i, k int) int { return k*n + i },
		func(out, in device.Buffer[W]) error { return launch(q, u.many, p.Name, width, out, in) })
}

// runWarps permutes rows of 16 words, one a warp.
func runWarps[W field.Base[W]](t *testing.T, q *device.Queue, p *poseidon2.Permutation[W], u units, states [][]W) [][]W {
	t.Helper()
	n := len(states)
	return through(t, q, states,
		func(i, k int) int { return 16*i + k },
		func(out, in device.Buffer[W]) error {
			return q.Launch(device.Kernel{Source: u.warp, Name: "poseidon2_warps_" + p.Name},
				device.D1(device.Blocks(32*n, 64)), device.D1(64), 0, out.Arg(), in.Arg(), device.U32(n))
		})
}

// through is what a launch makes of states whose word k of state i lies at(i, k).
func through[W field.Base[W]](t *testing.T, q *device.Queue, states [][]W, at func(i, k int) int, launch func(out, in device.Buffer[W]) error) [][]W {
	t.Helper()
	width := len(states[0])
	flat := make([]W, len(states)*width)
	for i, s := range states {
		for k, w := range s {
			flat[at(i, k)] = w
		}
	}
	in, err := device.Upload(q, flat)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Free()
	out, err := device.Alloc[W](q, len(flat))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Free()
	if err := launch(out, in); err != nil {
		t.Fatal(err)
	}
	if flat, err = out.Read(q); err != nil {
		t.Fatal(err)
	}
	got := make([][]W, len(states))
	for i := range got {
		for k := range width {
			got[i] = append(got[i], flat[at(i, k)])
		}
	}
	return got
}

func check[W field.Base[W]](t *testing.T, what string, got, in, want [][]W) {
	t.Helper()
	for i, s := range got {
		for k := range s {
			if s[k] != want[i][k] {
				t.Fatalf("%s, state %v: word %d is %d, want %d", what, in[i], k, s[k], want[i][k])
			}
		}
	}
}

func TestVectors(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testVectors(t, poseidon2.M31Permutation(), m31Units) })
	t.Run("babybear", func(t *testing.T) { testVectors(t, poseidon2.BabyBear(), babyUnits) })
	t.Run("koalabear", func(t *testing.T) { testVectors(t, poseidon2.KoalaBear(), koalaUnits) })
}

func testVectors[W field.Base[W]](t *testing.T, p *poseidon2.Permutation[W], u units) {
	text, err := os.ReadFile("../testdata/" + p.Name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Width   int
		In, Out []uint64
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	var zero W
	elements := func(v []uint64) [][]W {
		s := make([]W, len(v))
		for i, n := range v {
			s[i] = zero.FromUint64(n)
		}
		return [][]W{s}
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, r := range rows {
			in, want := elements(r.In), elements(r.Out)
			check(t, fmt.Sprint("width ", r.Width), run(t, q, p, u, r.Width, in), in, want)
			if r.Width == 16 {
				check(t, "by a warp", runWarps(t, q, p, u, in), in, want)
			}
		}
	})
}

func TestRandom(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testRandom(t, poseidon2.M31Permutation(), m31Units) })
	t.Run("babybear", func(t *testing.T) { testRandom(t, poseidon2.BabyBear(), babyUnits) })
	t.Run("koalabear", func(t *testing.T) { testRandom(t, poseidon2.KoalaBear(), koalaUnits) })
}

func testRandom[W field.Base[W]](t *testing.T, p *poseidon2.Permutation[W], u units) {
	var zero W
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, width := range []int{16, 24} {
			g := devicetest.Rand(uint64(width))
			const n = 503
			var in, want [][]W
			for i := range n {
				s := make([]W, width)
				for k := range s {
					switch (i + k) % 3 {
					case 0:
						s[k] = W(g.Below(zero.Modulus()))
					case 1:
						s[k] = W(zero.Modulus() - 1 - uint32(g.Intn(2)))
					default:
						s[k] = W(g.Intn(2))
					}
				}
				in = append(in, s)
				if width == 16 {
					s := [16]W(s)
					p.Permute16(&s)
					want = append(want, s[:])
				} else {
					s := [24]W(s)
					p.Permute24(&s)
					want = append(want, s[:])
				}
			}
			check(t, fmt.Sprint("width ", width), run(t, q, p, u, width, in), in, want)
			if width == 16 {
				few := 23 // the emulator is slow at shuffles
				check(t, "by a warp", runWarps(t, q, p, u, in[:few]), in, want)
			}
		}
	})
}

func BenchmarkMany(b *testing.B) {
	b.Run("m31", func(b *testing.B) { benchmarkMany(b, poseidon2.M31Permutation(), m31Units) })
	b.Run("babybear", func(b *testing.B) { benchmarkMany(b, poseidon2.BabyBear(), babyUnits) })
	b.Run("koalabear", func(b *testing.B) { benchmarkMany(b, poseidon2.KoalaBear(), koalaUnits) })
}

func benchmarkMany[W field.Base[W]](b *testing.B, p *poseidon2.Permutation[W], u units) {
	var zero W
	for _, width := range []int{16, 24} {
		b.Run(fmt.Sprintf("width%d", width), func(b *testing.B) {
			q := devicetest.Queue(b, devicetest.Open(b, "cuda"))
			const n = 1 << 22
			flat := make([]W, n*width)
			devicetest.Fill(devicetest.Rand(1), flat, zero.Modulus())
			in, err := device.Upload(q, flat)
			if err != nil {
				b.Fatal(err)
			}
			defer in.Free()
			if err := launch(q, u.many, p.Name, width, in, in); err != nil {
				b.Fatal(err)
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for range 10 {
					if err := launch(q, u.many, p.Name, width, in, in); err != nil {
						b.Fatal(err)
					}
				}
				if err := q.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*10*n/b.Elapsed().Seconds()/1e9, "Gperm/s")
		})
	}
}
