package prover

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

func TestMain(m *testing.M) { devicetest.Main(m, Source) }

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

func same[T comparable](t *testing.T, q *device.Queue, got device.Buffer[T], want []T) {
	t.Helper()
	v, err := got.Read(q)
	must(t, err)
	if !slices.Equal(v, want) {
		t.Fatalf("got %v, want %v", v, want)
	}
}

func words(g *devicetest.Gen, n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = g.U32()
	}
	return list
}

func elements(g *devicetest.Gen, n int) []gf2.Element {
	list := make([]gf2.Element, n)
	for i := range list {
		list[i] = gf2.Element{Lo: uint64(g.U32()) | uint64(g.U32())<<32, Hi: uint64(g.U32()) | uint64(g.U32())<<32}
	}
	return list
}

// Random programs of operations leave the state of the host's transcript after every
// step and give its outputs.
func TestRandomPrograms(t *testing.T) {
	ctx := context.Background()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		const steps, kinds = 100, 7
		g := devicetest.Rand(31)
		want := tower.New(tower.LabelTest)
		tr, err := New(q, tower.LabelTest)
		must(t, err)
		defer func() { tr.Free() }()
		for i := range steps {
			op := g.Intn(kinds)
			if i < kinds {
				op = i
			}
			n := g.Intn(40)
			switch op {
			case 0:
				list := words(g, n)
				want.AbsorbWords(list)
				must(t, tr.AbsorbWords(devicetest.Upload(t, q, list)))
			case 1:
				list := elements(g, n%7)
				want.Absorb(list)
				must(t, tr.Absorb(devicetest.Upload(t, q, list)))
			case 2:
				list := elements(g, n%5)
				want.Absorb(list)
				must(t, tr.AbsorbHost(list))
			case 3:
				dst := alloc[gf2.Element](t, q, n%6)
				must(t, tr.Challenge(dst))
				same(t, q, dst, want.Challenges(dst.Len()))
			case 4:
				list := words(g, n)
				dst := alloc[gf2.Element](t, q, n%4)
				want.AbsorbWords(list)
				must(t, tr.AbsorbChallenge(devicetest.Upload(t, q, list), dst))
				same(t, q, dst, want.Challenges(dst.Len()))
			case 5:
				bits := []int{0, 1, 13, 31, 32}[n%5]
				dst := alloc[uint32](t, q, n%11)
				must(t, tr.Indices(dst, bits))
				list, err := want.Indices(dst.Len(), bits)
				must(t, err)
				same(t, q, dst, list)
			case 6:
				nonce, dst := alloc[uint32](t, q, 2), alloc[gf2.Element](t, q, n%4)
				bits := n % 6
				w, err := want.Grind(ctx, bits)
				must(t, err)
				must(t, tr.Grind(ctx, bits, nonce, dst))
				same(t, q, nonce, []uint32{uint32(w), uint32(w >> 32)})
				same(t, q, dst, want.Challenges(dst.Len()))
			}
			h, err := tr.Host()
			must(t, err)
			if *h != *want {
				t.Fatalf("step %d, operation %d, n %d: state %v, want %v", i, op, n, h.State(), want.State())
			}
			if i%10 == 9 { // to the host and back
				tr.Free()
				tr, err = FromHost(q, h)
				must(t, err)
			}
		}
	})
}

// Lists around the ends of blocks and chunks, and with trees of all shapes over them.
func TestLists(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(32)
		want := tower.New(tower.LabelTest)
		tr, err := FromHost(q, want)
		must(t, err)
		defer tr.Free()
		for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 33, 240, 255, 256, 257, 512, 513, 767, 768, 1024, 1025, 1300, 7 * 256, 31 * 256, 32 * 256, 32*256 + 1, 33*256 + 16, 100*256 - 3} {
			list := words(g, n)
			want.AbsorbWords(list)
			must(t, tr.AbsorbWords(devicetest.Upload(t, q, list)))
			h, err := tr.Host()
			must(t, err)
			if *h != *want {
				t.Fatalf("%d words: state %x, want %x", n, h.State(), want.State())
			}
		}
	})
}

// The golden file of package tower, on every device.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("../testdata/golden.json")
	must(t, err)
	var g struct {
		Label tower.Label
		Steps []struct {
			Op      string
			Words   []uint32
			Hex     string
			N, Bits int
			Want    []uint32
		}
	}
	must(t, json.Unmarshal(text, &g))
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		tr, err := New(q, g.Label)
		must(t, err)
		defer tr.Free()
		for i, s := range g.Steps {
			var got []uint32
			switch s.Op {
			case "absorb":
				must(t, tr.AbsorbWords(devicetest.Upload(t, q, s.Words)))
			case "bytes": // the words that a string stands for
				b, err := hex.DecodeString(s.Hex)
				must(t, err)
				list := []uint32{uint32(len(b)), 0}
				for k, c := range b {
					if k%4 == 0 {
						list = append(list, 0)
					}
					list[2+k/4] |= uint32(c) << (k % 4 * 8)
				}
				must(t, tr.AbsorbWords(devicetest.Upload(t, q, list)))
			case "challenge":
				dst := alloc[gf2.Element](t, q, 1)
				must(t, tr.Challenge(dst))
				c, err := dst.Read(q)
				must(t, err)
				got = c[0].AppendWords(nil)
			case "indices":
				dst := alloc[uint32](t, q, s.N)
				must(t, tr.Indices(dst, s.Bits))
				got, err = dst.Read(q)
				must(t, err)
			case "grind":
				dst := alloc[uint32](t, q, 2)
				must(t, tr.Grind(context.Background(), s.Bits, dst, device.Buffer[gf2.Element]{}))
				got, err = dst.Read(q)
				must(t, err)
			case "state":
				h, err := tr.Host()
				must(t, err)
				st := h.State()
				got = append(slices.Clone(st[:8]), st[16])
			default:
				t.Fatalf("step %d: %q", i, s.Op)
			}
			if !slices.Equal(got, s.Want) {
				t.Fatalf("step %d, %s: got %v, want %v", i, s.Op, got, s.Want)
			}
		}
	})
}

// A search that may not go far enough leaves no transcript; one by few threads finds the
// same nonce as one by many.
func TestSearch(t *testing.T) {
	ctx := context.Background()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		bits := 16
		if q.Device().Kind() == device.SIMT {
			bits = 8 // blocks run one after the other there
		}
		want := tower.New(tower.LabelTest)
		want.AbsorbWords([]uint32{5})
		start := want.Clone()
		n, err := want.Grind(ctx, bits)
		must(t, err)
		nonce, dst := alloc[uint32](t, q, 2), alloc[gf2.Element](t, q, 1)
		tr, err := FromHost(q, start)
		must(t, err)
		must(t, tr.Grind(ctx, bits, nonce, dst))
		same(t, q, nonce, []uint32{uint32(n), uint32(n >> 32)})
		h, err := tr.Host()
		must(t, err)
		if want.Challenge(); *h != *want {
			t.Fatal("another state")
		}
		tr.Free()
		if q.OnHost() {
			return
		}
		for _, blocks := range []int{1, 3} {
			tr, err := FromHost(q, start)
			must(t, err)
			must(t, tr.launchGrind(blocks, bits, n+1, nonce, dst))
			same(t, q, nonce, []uint32{uint32(n), uint32(n >> 32)})
			tr.Free()
		}
		tr, err = FromHost(q, start)
		must(t, err)
		defer tr.Free()
		must(t, tr.launchGrind(2, bits, n, nonce, dst))
		if _, err := tr.Host(); !errors.Is(err, tower.ErrState) {
			t.Errorf("a search in vain: %v", err)
		}
	})
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		tr, err := New(q, tower.LabelTest)
		must(t, err)
		if local := tr.Local(); (local != nil) != q.OnHost() {
			t.Error("a transcript on the host that is not, or the other way round")
		}
		if n := tr.State().Len(); n != stateWords && !q.OnHost() {
			t.Errorf("a state of %d words", n)
		}
		must(t, tr.Use(q))
		none := device.Buffer[gf2.Element]{}
		for _, bits := range []int{-1, 33} {
			if err := tr.Indices(alloc[uint32](t, q, 1), bits); !errors.Is(err, tower.ErrBits) {
				t.Errorf("%d bits: %v", bits, err)
			}
		}
		for _, bits := range []int{-1, 41} {
			if err := tr.Grind(ctx, bits, alloc[uint32](t, q, 2), none); !errors.Is(err, tower.ErrBits) {
				t.Errorf("%d bits: %v", bits, err)
			}
		}
		if err := tr.Grind(ctx, 1, alloc[uint32](t, q, 3), none); !errors.Is(err, device.ErrUsage) {
			t.Errorf("a nonce of three words: %v", err)
		}
		for what, b := range devicetest.Strange[gf2.Element](t, q, 4) {
			for name, err := range map[string]error{"absorb": tr.Absorb(b), "challenge": tr.Challenge(b), "both": tr.AbsorbChallenge(device.View[uint32](b), b)} {
				if err == nil {
					t.Errorf("%s: %s: no error", what, name)
				}
			}
		}
		for what, b := range devicetest.Strange[uint32](t, q, 2) {
			if err := tr.Indices(b, 3); err == nil {
				t.Errorf("indices to %s: no error", what)
			}
			if err := tr.Grind(ctx, 2, b, none); err == nil {
				t.Errorf("nonce to %s: no error", what)
			}
		}
		var nobody *Transcript
		if err := nobody.Use(q); !errors.Is(err, device.ErrUsage) {
			t.Errorf("no transcript: %v", err)
		}
		tr.Free()
	})
}
