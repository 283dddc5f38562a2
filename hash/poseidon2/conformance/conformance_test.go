package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

func TestMain(m *testing.M) { devicetest.Main(m, Source) }

// launch permutes the n transposed states of in.
func launch(q *device.Queue, width int, out, in device.Buffer[m31.Element]) error {
	n := in.Len() / width
	name := fmt.Sprintf("poseidon2_many%d", width)
	return q.Launch(device.Kernel{Source: Source, Name: name}, device.D1(device.Blocks(n, 128)), device.D1(128), 0,
		out.Arg(), in.Arg(), device.U32(n))
}

// run permutes rows of width words on the device.
func run(t *testing.T, q *device.Queue, width int, states [][]m31.Element) [][]m31.Element {
	t.Helper()
	n := len(states)
	flat := make([]m31.Element, n*width)
	for i, s := range states {
		for k, w := range s {
			flat[k*n+i] = w
		}
	}
	in, err := device.Upload(q, flat)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Free()
	out, err := device.Alloc[m31.Element](q, len(flat))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Free()
	if err := launch(q, width, out, in); err != nil {
		t.Fatal(err)
	}
	if flat, err = out.Read(q); err != nil {
		t.Fatal(err)
	}
	got := make([][]m31.Element, n)
	for i := range got {
		for k := range width {
			got[i] = append(got[i], flat[k*n+i])
		}
	}
	return got
}

func check(t *testing.T, q *device.Queue, width int, in, want [][]m31.Element) {
	t.Helper()
	for i, s := range run(t, q, width, in) {
		for k := range s {
			if s[k] != want[i][k] {
				t.Fatalf("width %d, state %v: word %d is %d, want %d", width, in[i], k, s[k], want[i][k])
			}
		}
	}
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/m31.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Width   int
		In, Out []m31.Element
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, r := range rows {
			check(t, q, r.Width, [][]m31.Element{r.In}, [][]m31.Element{r.Out})
		}
	})
}

func TestRandom(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, width := range []int{16, 24} {
			g := devicetest.Rand(uint64(width))
			const n = 1003
			var in, want [][]m31.Element
			for i := range n {
				s := make([]m31.Element, width)
				for k := range s {
					switch (i + k) % 3 {
					case 0:
						s[k] = m31.Element(g.Below(m31.P))
					case 1:
						s[k] = m31.P - 1 - m31.Element(g.Intn(2))
					default:
						s[k] = m31.Element(g.Intn(2))
					}
				}
				in = append(in, s)
				if width == 16 {
					p := [16]m31.Element(s)
					poseidon2.Permute16(&p)
					want = append(want, p[:])
				} else {
					p := [24]m31.Element(s)
					poseidon2.Permute24(&p)
					want = append(want, p[:])
				}
			}
			check(t, q, width, in, want)
		}
	})
}

func BenchmarkMany(b *testing.B) {
	for _, width := range []int{16, 24} {
		b.Run(fmt.Sprintf("width%d", width), func(b *testing.B) {
			q := devicetest.Queue(b, devicetest.Open(b, "cuda"))
			const n = 1 << 22
			flat := make([]m31.Element, n*width)
			devicetest.Fill(devicetest.Rand(1), flat, m31.P)
			in, err := device.Upload(q, flat)
			if err != nil {
				b.Fatal(err)
			}
			defer in.Free()
			if err := launch(q, width, in, in); err != nil {
				b.Fatal(err)
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for range 10 {
					if err := launch(q, width, in, in); err != nil {
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
