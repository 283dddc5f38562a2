package prover

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
)

func TestMain(m *testing.M) { devicetest.Main(m, Sources()...) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func alloc[T any](t *testing.T, q *device.Queue, n int) device.Buffer[T] {
	t.Helper()
	b, err := device.Alloc[T](q, n)
	must(t, err)
	t.Cleanup(b.Free)
	return b
}

func elements(g *devicetest.Gen, n int) []m31.Element {
	v := make([]m31.Element, n)
	devicetest.Fill(g, v, m31.P)
	return v
}

// Random programs of operations leave the state of the host's transcript after
// every step and give its outputs.
func TestRandomPrograms(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		const steps = 150
		g := devicetest.Rand(21)
		want := transcript.New(transcript.TagTest)
		tr, err := New(q, transcript.TagTest)
		must(t, err)
		defer func() { tr.Free() }()
		for i := range steps {
			op := g.Intn(9)
			if i < 9 {
				op = i
			}
			n := g.Intn(20)
			switch op {
			case 0:
				list := elements(g, n)
				want.Absorb(list)
				must(t, tr.Absorb(devicetest.Upload(t, q, list)))
			case 1:
				list := m31.Quads(elements(g, 4*(n%5)))
				want.AbsorbExt(list)
				must(t, tr.AbsorbExt(devicetest.Upload(t, q, list)))
			case 2:
				list := elements(g, n)
				want.Absorb(list)
				must(t, tr.AbsorbHost(list))
			case 3:
				b := make([]byte, n)
				for k := range b {
					b[k] = byte(g.U32())
				}
				want.AbsorbBytes(b)
				must(t, tr.AbsorbBytes(b))
			case 4:
				dst := alloc[m31.QM31](t, q, n%4)
				must(t, tr.Challenge(dst))
				same(t, q, dst, want.Challenges(dst.Len()))
			case 5:
				list := elements(g, n)
				dst := alloc[m31.QM31](t, q, 1+n%2)
				want.Absorb(list)
				must(t, tr.AbsorbChallenge(devicetest.Upload(t, q, list), dst))
				same(t, q, dst, want.Challenges(dst.Len()))
			case 6:
				// 30 bits reject half the words.
				bits := []int{0, 1, 13, 29, 30, 30}[n%6]
				dst := alloc[uint32](t, q, n%5)
				must(t, tr.Indices(dst, bits))
				idx, err := want.Indices(dst.Len(), bits)
				must(t, err)
				out := make([]uint32, len(idx))
				for k, x := range idx {
					out[k] = uint32(x)
				}
				same(t, q, dst, out)
			case 7:
				list := m31.Quads(elements(g, 4*(n%4)))
				want.AbsorbExt(list)
				must(t, tr.AbsorbHostExt(list))
			case 8: // to the host and back
				h, err := tr.Host()
				must(t, err)
				if *h != *want {
					t.Fatalf("step %d: host copy differs", i)
				}
				tr.Free()
				tr, err = FromHost(q, h)
				must(t, err)
			}
			h, err := tr.Host()
			must(t, err)
			if h.State() != want.State() {
				t.Fatalf("step %d, operation %d, n %d: state %v, want %v", i, op, n, h.State(), want.State())
			}
		}
	})
}

func same[T comparable](t *testing.T, q *device.Queue, got device.Buffer[T], want []T) {
	t.Helper()
	v, err := got.Read(q)
	must(t, err)
	if !slices.Equal(v, want) {
		t.Fatalf("got %v, want %v", v, want)
	}
}

// The golden file of package transcript, on every device.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("../testdata/golden.json")
	must(t, err)
	var g struct {
		Tag   m31.Element
		Steps []struct {
			Op    string
			Words []m31.Element
			Hex   string
			Bits  int
			Want  []m31.Element
		}
	}
	must(t, json.Unmarshal(text, &g))
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		tr, err := New(q, g.Tag)
		must(t, err)
		defer func() { tr.Free() }()
		for i, s := range g.Steps {
			var got []m31.Element
			switch s.Op {
			case "absorb":
				must(t, tr.Absorb(devicetest.Upload(t, q, s.Words)))
			case "bytes":
				b, err := hex.DecodeString(s.Hex)
				must(t, err)
				must(t, tr.AbsorbBytes(b))
			case "challenge":
				dst := alloc[m31.QM31](t, q, 1)
				must(t, tr.Challenge(dst))
				got, err = device.View[m31.Element](dst).Read(q)
				must(t, err)
			case "index":
				dst := alloc[uint32](t, q, 1)
				must(t, tr.Indices(dst, s.Bits))
				got, err = device.View[m31.Element](dst).Read(q)
				must(t, err)
			case "grind":
				dst := alloc[m31.Element](t, q, 2)
				must(t, tr.Grind(s.Bits, dst))
				got, err = dst.Read(q)
				must(t, err)
			case "squeeze": // single words are squeezed on the host only
				h, err := tr.Host()
				must(t, err)
				got = []m31.Element{h.Squeeze()}
				tr.Free()
				tr, err = FromHost(q, h)
				must(t, err)
			case "state":
				h, err := tr.Host()
				must(t, err)
				st := h.State()
				got = st[:]
			default:
				t.Fatalf("step %d: %q", i, s.Op)
			}
			if !slices.Equal(got, s.Want) {
				t.Fatalf("step %d, %s: got %v, want %v", i, s.Op, got, s.Want)
			}
		}
	})
}

func TestGrind(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		bits := 12
		if q.Device().Kind() == device.SIMT {
			bits = 8 // blocks run one after the other there
		}
		for at := range 9 { // every place in the block, and output left over
			want := transcript.New(transcript.TagTest)
			want.Absorb(make([]m31.Element, at))
			if at == 8 {
				want.Squeeze()
			}
			tr, err := FromHost(q, want)
			must(t, err)
			nonce, err := want.Grind(bits)
			must(t, err)
			dst := alloc[m31.Element](t, q, 2)
			must(t, tr.Grind(bits, dst))
			same(t, q, dst, nonce[:])
			h, err := tr.Host()
			must(t, err)
			if h.State() != want.State() {
				t.Fatalf("state after grinding at word %d", at)
			}
			must(t, tr.Grind(0, dst))
			same(t, q, dst, make([]m31.Element, 2))
			tr.Free()
		}
		tr, err := New(q, 1)
		must(t, err)
		defer tr.Free()
		if err := tr.Grind(31, alloc[m31.Element](t, q, 2)); !errors.Is(err, transcript.ErrBits) {
			t.Errorf("31 bits: %v", err)
		}
		if err := tr.Grind(3, alloc[m31.Element](t, q, 3)); err == nil {
			t.Error("a nonce of three words")
		}
		if err := tr.Indices(alloc[uint32](t, q, 1), 31); !errors.Is(err, transcript.ErrBits) {
			t.Errorf("index of 31 bits: %v", err)
		}
	})
}

// A buffer that is not there is refused, not taken for an empty one.
func TestStrangeBuffers(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		tr, err := New(q, transcript.TagTest)
		must(t, err)
		before, err := tr.Host()
		must(t, err)
		state := before.State()
		for name, x := range devicetest.Strange[m31.Element](t, q, 8) {
			ext := device.View[m31.QM31](x)
			for what, err := range map[string]error{
				"absorb": tr.Absorb(x), "absorb elements": tr.AbsorbExt(ext), "challenge": tr.Challenge(ext),
				"both": tr.AbsorbChallenge(x, device.Buffer[m31.QM31]{}), "indices": tr.Indices(device.View[uint32](x), 3), "grind": tr.Grind(1, x.Slice(0, 2)),
			} {
				if !errors.Is(err, device.ErrUsage) {
					t.Errorf("%s of a %s buffer: %v", what, name, err)
				}
			}
		}
		after, err := tr.Host()
		must(t, err)
		if after.State() != state {
			t.Error("an operation that was refused changed the state")
		}
		must(t, tr.Use(q))
		other := "cpu"
		if q.OnHost() {
			other = "simt"
		}
		if err := tr.Use(devicetest.Queue(t, devicetest.Open(t, other))); !errors.Is(err, device.ErrUsage) {
			t.Errorf("use on another device: %v", err)
		}
		tr.Free()
	})
}

// A search that finds nothing must not pass for one that did.
func TestGrindExhausted(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		tr, err := New(q, transcript.TagTest)
		must(t, err)
		defer tr.Free()
		dst := alloc[m31.Element](t, q, 2)
		must(t, tr.launchGrind(device.Buffer[m31.Element]{}, absorbNothing, 1, 0, dst, device.Buffer[m31.QM31]{}))
		n, err := dst.Read(q)
		must(t, err)
		if err := transcript.New(transcript.TagTest).CheckWork(1, transcript.Nonce(n)); !errors.Is(err, transcript.ErrWork) {
			t.Errorf("nonce %v: %v", n, err)
		}
		if _, err := tr.Host(); !errors.Is(err, transcript.ErrState) {
			t.Errorf("state: %v", err)
		}
	})
}

func BenchmarkAbsorbChallenge(b *testing.B) {
	for _, name := range []string{"cpu", "cuda"} {
		b.Run(name, func(b *testing.B) {
			q := devicetest.Queue(b, devicetest.Open(b, name))
			tr, err := New(q, transcript.TagTest)
			if err != nil {
				b.Fatal(err)
			}
			list, err := device.Upload(q, make([]m31.Element, 12))
			if err != nil {
				b.Fatal(err)
			}
			dst, err := device.Alloc[m31.QM31](q, 1)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := tr.AbsorbChallenge(list, dst); err != nil {
					b.Fatal(err)
				}
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// A chain of permutations in one launch: two challenges take one.
func BenchmarkPermutations(b *testing.B) {
	const permutations = 1024
	for _, name := range []string{"cpu", "cuda"} {
		b.Run(name, func(b *testing.B) {
			q := devicetest.Queue(b, devicetest.Open(b, name))
			tr, err := New(q, transcript.TagTest)
			if err != nil {
				b.Fatal(err)
			}
			dst, err := device.Alloc[m31.QM31](q, 2*permutations)
			if err != nil {
				b.Fatal(err)
			}
			defer dst.Free()
			for b.Loop() {
				if err := tr.Challenge(dst); err != nil {
					b.Fatal(err)
				}
				if err := q.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/permutations, "ns/permutation")
		})
	}
}
