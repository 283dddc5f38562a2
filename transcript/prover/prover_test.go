package prover

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
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

// test is one test of all variants.
type test struct {
	m31                    func(*testing.T)
	babyBear4, babyBear5   func(*testing.T)
	koalaBear4, koalaBear5 func(*testing.T)
}

func (x test) run(t *testing.T) {
	t.Run("m31", x.m31)
	t.Run("babybear4", x.babyBear4)
	t.Run("babybear5", x.babyBear5)
	t.Run("koalabear4", x.koalaBear4)
	t.Run("koalabear5", x.koalaBear5)
}

func elements[W field.Base[W]](g *devicetest.Gen, n int) []W {
	var zero W
	v := make([]W, n)
	devicetest.Fill(g, v, zero.Modulus())
	return v
}

// list is the numbers as words.
func list[W field.Base[W]](n []uint32) []W {
	var zero W
	out := make([]W, len(n))
	for i, v := range n {
		out[i] = zero.FromUint64(uint64(v))
	}
	return out
}

// numbers is the words as plain numbers.
func numbers[W field.Base[W]](list []W) []uint32 {
	out := make([]uint32, len(list))
	for i, w := range list {
		out[i] = w.Uint32()
	}
	return out
}

func extensions[W field.Base[W], E field.Element[E]](t *testing.T, g *devicetest.Gen, n int) []E {
	t.Helper()
	out := make([]E, n)
	for i := range out {
		var zero E
		var err error
		out[i], err = zero.SetWords(numbers(elements[W](g, zero.Degree())))
		must(t, err)
	}
	return out
}

func TestRandomPrograms(t *testing.T) {
	test{randomPrograms(transcript.M31()), randomPrograms(transcript.BabyBear4()), randomPrograms(transcript.BabyBear5()),
		randomPrograms(transcript.KoalaBear4()), randomPrograms(transcript.KoalaBear5())}.run(t)
}

// Random programs of operations leave the state of the host's transcript after
// every step and give its outputs.
func randomPrograms[W field.Base[W], E field.Element[E]](v *transcript.Variant[W, E]) func(*testing.T) {
	return func(t *testing.T) {
		devicetest.Each(t, func(t *testing.T, q *device.Queue) {
			const steps, kinds = 120, 12
			g := devicetest.Rand(21)
			want := v.New(transcript.TagTest)
			tr, err := Start(q, v, transcript.TagTest)
			must(t, err)
			defer func() { tr.Free() }()
			for i := range steps {
				op := g.Intn(kinds)
				if i < kinds {
					op = i
				}
				n := g.Intn(20)
				if i%5 == 4 {
					tr.SetMode(Mode(g.Intn(3)))
				}
				switch op {
				case 0:
					list := elements[W](g, n)
					want.Absorb(list)
					must(t, tr.Absorb(devicetest.Upload(t, q, list)))
				case 1:
					list := extensions[W, E](t, g, n%5)
					want.AbsorbExt(list)
					must(t, tr.AbsorbExt(devicetest.Upload(t, q, list)))
				case 2:
					list := elements[W](g, n)
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
					dst := alloc[E](t, q, n%4)
					must(t, tr.Challenge(dst))
					same(t, q, dst, want.Challenges(dst.Len()))
				case 5:
					list := elements[W](g, n)
					dst := alloc[E](t, q, 1+n%2)
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
					list := extensions[W, E](t, g, n%4)
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
				case 9:
					root := [transcript.DigestWords]W(elements[W](g, transcript.DigestWords))
					raw := n%2 == 0
					if raw { // words of any value
						devicetest.Fill(g, root[:], 1<<32-1)
					}
					want.AbsorbDigest(root, raw)
					must(t, tr.AbsorbDigest(devicetest.Upload(t, q, root[:]), raw))
				case 10:
					list := elements[W](g, []int{n, n, 70}[n%3]) // 70 are not absorbed by every block
					nonce, dst := alloc[W](t, q, 2), alloc[E](t, q, n%3)
					want.Absorb(list)
					bits := n % 6
					w, err := want.Grind(bits)
					must(t, err)
					must(t, tr.AbsorbGrindChallenge(devicetest.Upload(t, q, list), bits, nonce, dst))
					same(t, q, nonce, w[:])
					same(t, q, dst, want.Challenges(dst.Len()))
				case 11:
					nonce, dst := alloc[W](t, q, 2), alloc[E](t, q, n%3)
					bits := n % 5
					w, err := want.Grind(bits)
					must(t, err)
					must(t, tr.GrindChallenge(bits, nonce, dst))
					same(t, q, nonce, w[:])
					same(t, q, dst, want.Challenges(dst.Len()))
				}
				h, err := tr.Host()
				must(t, err)
				if h.State() != want.State() {
					t.Fatalf("step %d, operation %d, n %d: state %v, want %v", i, op, n, h.State(), want.State())
				}
			}
		})
	}
}

func same[T comparable](t *testing.T, q *device.Queue, got device.Buffer[T], want []T) {
	t.Helper()
	v, err := got.Read(q)
	must(t, err)
	if !slices.Equal(v, want) {
		t.Fatalf("got %v, want %v", v, want)
	}
}

func TestGolden(t *testing.T) {
	test{golden(transcript.M31(), "golden.json"), golden(transcript.BabyBear4(), "golden-babybear4.json"), golden(transcript.BabyBear5(), "golden-babybear5.json"),
		golden(transcript.KoalaBear4(), "golden-koalabear4.json"), golden(transcript.KoalaBear5(), "golden-koalabear5.json")}.run(t)
}

// The golden files of package transcript, on every device.
func golden[W field.Base[W], E field.Element[E]](v *transcript.Variant[W, E], file string) func(*testing.T) {
	return func(t *testing.T) {
		text, err := os.ReadFile("../testdata/" + file)
		must(t, err)
		var g struct {
			Tag   uint32
			Steps []struct {
				Op    string
				Words []uint32
				Hex   string
				Bits  int
				Want  []uint32
			}
		}
		must(t, json.Unmarshal(text, &g))
		devicetest.Each(t, func(t *testing.T, q *device.Queue) {
			tr, err := Start(q, v, g.Tag)
			must(t, err)
			defer func() { tr.Free() }()
			for i, s := range g.Steps {
				var got []uint32
				switch s.Op {
				case "absorb":
					must(t, tr.Absorb(devicetest.Upload(t, q, list[W](s.Words))))
				case "bytes":
					b, err := hex.DecodeString(s.Hex)
					must(t, err)
					must(t, tr.AbsorbBytes(b))
				case "digest":
					must(t, tr.AbsorbDigest(device.View[W](devicetest.Upload(t, q, s.Words)), true))
				case "challenge":
					dst := alloc[E](t, q, 1)
					must(t, tr.Challenge(dst))
					c, err := dst.Read(q)
					must(t, err)
					got = c[0].AppendWords(nil)
				case "index":
					dst := alloc[uint32](t, q, 1)
					must(t, tr.Indices(dst, s.Bits))
					got, err = dst.Read(q)
					must(t, err)
				case "grind":
					dst := alloc[W](t, q, 2)
					must(t, tr.Grind(s.Bits, dst))
					n, err := dst.Read(q)
					must(t, err)
					got = numbers(n)
				case "squeeze": // single words are squeezed on the host only
					h, err := tr.Host()
					must(t, err)
					got = []uint32{h.Squeeze().Uint32()}
					tr.Free()
					tr, err = FromHost(q, h)
					must(t, err)
				case "state":
					h, err := tr.Host()
					must(t, err)
					st := h.State()
					got = append(numbers(st[:16]), uint32(st[16]), uint32(st[17]))
				default:
					t.Fatalf("step %d: %q", i, s.Op)
				}
				if !slices.Equal(got, s.Want) {
					t.Fatalf("step %d, %s: got %v, want %v", i, s.Op, got, s.Want)
				}
			}
		})
	}
}

func TestGrind(t *testing.T) {
	test{grind(transcript.M31()), grind(transcript.BabyBear4()), grind(transcript.BabyBear5()),
		grind(transcript.KoalaBear4()), grind(transcript.KoalaBear5())}.run(t)
}

func grind[W field.Base[W], E field.Element[E]](v *transcript.Variant[W, E]) func(*testing.T) {
	return func(t *testing.T) {
		devicetest.Each(t, func(t *testing.T, q *device.Queue) {
			bits := 12
			if q.Device().Kind() == device.SIMT {
				bits = 7 // blocks run one after the other there
			}
			for at := range 9 { // every place in the block, and output left over
				want := v.New(transcript.TagTest)
				want.Absorb(make([]W, at))
				if at == 8 {
					want.Squeeze()
				}
				tr, err := FromHost(q, want)
				must(t, err)
				nonce, err := want.Grind(bits)
				must(t, err)
				dst := alloc[W](t, q, 2)
				must(t, tr.Grind(bits, dst))
				same(t, q, dst, nonce[:])
				h, err := tr.Host()
				must(t, err)
				if h.State() != want.State() {
					t.Fatalf("state after grinding at word %d", at)
				}
				must(t, tr.Grind(0, dst))
				same(t, q, dst, make([]W, 2))
				tr.Free()
			}
			tr, err := Start(q, v, 1)
			must(t, err)
			defer tr.Free()
			if err := tr.Grind(31, alloc[W](t, q, 2)); !errors.Is(err, transcript.ErrBits) {
				t.Errorf("31 bits: %v", err)
			}
			if err := tr.Grind(3, alloc[W](t, q, 3)); !errors.Is(err, device.ErrUsage) {
				t.Errorf("a nonce of three words: %v", err)
			}
			if err := tr.AbsorbDigest(alloc[W](t, q, 9), false); !errors.Is(err, device.ErrUsage) {
				t.Errorf("a root of nine words: %v", err)
			}
			if err := tr.Indices(alloc[uint32](t, q, 1), 31); !errors.Is(err, transcript.ErrBits) {
				t.Errorf("index of 31 bits: %v", err)
			}
		})
	}
}

// Both ways to search give the same, with few and with many blocks.
func TestSearches(t *testing.T) {
	test{searches(transcript.M31()), searches(transcript.BabyBear4()), searches(transcript.BabyBear5()),
		searches(transcript.KoalaBear4()), searches(transcript.KoalaBear5())}.run(t)
}

func searches[W field.Base[W], E field.Element[E]](v *transcript.Variant[W, E]) func(*testing.T) {
	return func(t *testing.T) {
		devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
			for at := range 8 { // every place in the block
				want := v.New(transcript.TagTest)
				want.Absorb(make([]W, at))
				start := want.Clone()
				const bits = 5
				nonce, err := want.Grind(bits)
				must(t, err)
				challenge := want.Challenge()
				for _, warps := range []bool{false, true} {
					for _, blocks := range []int{1, 3} {
						tr, err := FromHost(q, start)
						must(t, err)
						n, c := alloc[W](t, q, 2), alloc[E](t, q, 1)
						must(t, tr.launchGrind(warps, blocks, device.Buffer[W]{}, absorbNothing, bits, 1<<20, n, c))
						same(t, q, n, nonce[:])
						same(t, q, c, []E{challenge})
						tr.Free()
					}
				}
			}
		})
	}
}

// A buffer that is not there is refused, not taken for an empty one.
func TestStrangeBuffers(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		tr, err := New(q, transcript.TagTest)
		must(t, err)
		before, err := tr.Host()
		must(t, err)
		state := before.State()
		nonce := alloc[m31.Element](t, q, 2)
		for name, x := range devicetest.Strange[m31.Element](t, q, 8) {
			ext := device.View[m31.QM31](x)
			for what, err := range map[string]error{
				"absorb": tr.Absorb(x), "absorb elements": tr.AbsorbExt(ext), "absorb digest": tr.AbsorbDigest(x, true), "challenge": tr.Challenge(ext),
				"both": tr.AbsorbChallenge(x, device.Buffer[m31.QM31]{}), "indices": tr.Indices(device.View[uint32](x), 3), "grind": tr.Grind(1, x.Slice(0, 2)),
				"absorb and grind": tr.AbsorbGrindChallenge(x, 1, nonce, device.Buffer[m31.QM31]{}), "grind and draw": tr.GrindChallenge(1, nonce, ext),
				"no work": tr.AbsorbGrindChallenge(x, 0, nonce, device.Buffer[m31.QM31]{}), "no work, draw": tr.GrindChallenge(0, nonce, ext),
				"no work, nonce": tr.GrindChallenge(0, x.Slice(0, 2), device.Buffer[m31.QM31]{}),
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

// A transcript waits for the host where its mode says so.
func TestModes(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for mode, want := range map[Mode]int64{Chained: 0, HostWork: 1, Waiting: 6} {
			tr, err := Start(q, transcript.BabyBear4(), transcript.TagTest)
			must(t, err)
			tr.SetMode(mode)
			nonce, dst := devicetest.Upload(t, q, make([]babybear.Element, 2)), alloc[babybear.E4](t, q, 1)
			idx := alloc[uint32](t, q, 2)
			must(t, q.Sync())
			before := q.Stats()
			must(t, tr.AbsorbHost([]babybear.Element{1, 2}))
			must(t, tr.AbsorbChallenge(nonce, dst))
			must(t, tr.AbsorbGrindChallenge(nonce, 3, nonce, dst)) // absorbs, reads, and draws
			must(t, tr.Indices(idx, 5))
			if got := q.Stats().Since(before).Syncs; got != want {
				t.Errorf("mode %d waits %d times, want %d", mode, got, want)
			}
			tr.Free()
		}
	})
}

// Little work spreads over few blocks, much work over no more than fit.
func TestSearchGrid(t *testing.T) {
	for _, c := range []struct{ bits, units, want int }{
		{1, 132, 4}, {4, 132, 32}, {8, 132, 512}, {9, 132, 528}, {12, 132, 528}, {13, 132, 128}, {14, 132, 256}, {20, 132, 528}, {30, 132, 528}, {1, 1, 4}, {13, 1, 4},
	} {
		if warps, got := searchGrid(c.bits, c.units); got != c.want || warps != (c.bits <= 12) {
			t.Errorf("%d bits on %d multiprocessors: %d blocks, want %d", c.bits, c.units, got, c.want)
		}
	}
}

// A search that finds nothing must not pass for one that did.
func TestGrindExhausted(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		tr, err := New(q, transcript.TagTest)
		must(t, err)
		defer tr.Free()
		dst := alloc[m31.Element](t, q, 2)
		// The second search finds nothing either, but begins with a state that is none.
		for _, warps := range []bool{true, false} {
			must(t, tr.launchGrind(warps, 2, device.Buffer[m31.Element]{}, absorbNothing, 1, 0, dst, device.Buffer[m31.QM31]{}))
		}
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

// benchmarks is one benchmark of every field on the CPU and on a GPU.
func benchmarks(b *testing.B, m31, babyBear, koalaBear func(*testing.B, *device.Queue)) {
	for _, name := range []string{"cpu", "cuda"} {
		for _, x := range []struct {
			field string
			run   func(*testing.B, *device.Queue)
		}{{"m31", m31}, {"babybear", babyBear}, {"koalabear", koalaBear}} {
			b.Run(x.field+"/"+name, func(b *testing.B) { x.run(b, devicetest.Queue(b, devicetest.Open(b, name))) })
		}
	}
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkAbsorbChallenge(b *testing.B) {
	benchmarks(b, absorbChallenge(transcript.M31()), absorbChallenge(transcript.BabyBear4()), absorbChallenge(transcript.KoalaBear4()))
}

func absorbChallenge[W field.Base[W], E field.Element[E]](v *transcript.Variant[W, E]) func(*testing.B, *device.Queue) {
	return func(b *testing.B, q *device.Queue) {
		tr, err := Start(q, v, transcript.TagTest)
		check(b, err)
		defer tr.Free()
		list, err := device.Upload(q, make([]W, 12))
		check(b, err)
		defer list.Free()
		dst, err := device.Alloc[E](q, 1)
		check(b, err)
		defer dst.Free()
		for b.Loop() {
			check(b, tr.AbsorbChallenge(list, dst))
		}
		check(b, q.Sync())
	}
}

// A chain of permutations in one launch: two challenges take one.
func BenchmarkPermutations(b *testing.B) {
	benchmarks(b, permutations(transcript.M31()), permutations(transcript.BabyBear4()), permutations(transcript.KoalaBear4()))
}

func permutations[W field.Base[W], E field.Element[E]](v *transcript.Variant[W, E]) func(*testing.B, *device.Queue) {
	return func(b *testing.B, q *device.Queue) {
		const permutations = 1024
		tr, err := Start(q, v, transcript.TagTest)
		check(b, err)
		defer tr.Free()
		dst, err := device.Alloc[E](q, 2*permutations)
		check(b, err)
		defer dst.Free()
		for b.Loop() {
			check(b, tr.Challenge(dst))
			check(b, q.Sync())
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/permutations, "ns/permutation")
	}
}

// Searches for work of different widths, each from a place of its own: the time of
// one varies as much as it is long, so that the mean of many counts.
func BenchmarkGrind(b *testing.B) {
	for _, bits := range []int{1, 4, 8, 10, 12, 14, 16, 20, 24} {
		b.Run(fmt.Sprint(bits), func(b *testing.B) {
			benchmarks(b, grinding(transcript.M31(), bits), grinding(transcript.BabyBear4(), bits), grinding(transcript.KoalaBear4(), bits))
		})
	}
}

func grinding[W field.Base[W], E field.Element[E]](v *transcript.Variant[W, E], bits int) func(*testing.B, *device.Queue) {
	return func(b *testing.B, q *device.Queue) {
		tr, err := Start(q, v, transcript.TagTest)
		check(b, err)
		defer tr.Free()
		list, err := device.Upload(q, make([]W, 8))
		check(b, err)
		defer list.Free()
		nonce, err := device.Alloc[W](q, 2)
		check(b, err)
		defer nonce.Free()
		dst, err := device.Alloc[E](q, 1)
		check(b, err)
		defer dst.Free()
		check(b, tr.AbsorbGrindChallenge(list, bits, nonce, dst))
		check(b, q.Sync())
		var tries uint64
		for b.Loop() {
			check(b, tr.AbsorbGrindChallenge(list, bits, nonce, dst))
			check(b, q.Sync())
			b.StopTimer()
			n, err := nonce.Read(q)
			check(b, err)
			var zero W
			tries += uint64(n[0].Uint32()) + uint64(n[1].Uint32())*uint64(zero.Modulus()) + 1
			b.StartTimer()
		}
		b.ReportMetric(float64(tries)/b.Elapsed().Seconds()/1e9, "Gtries/s")
	}
}
