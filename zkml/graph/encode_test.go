package graph

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// sample is a program with every operation, both table forms, labels and a last step.
func sample(t testing.TB) (*Program, *Weights, []int32) {
	t.Helper()
	b := NewBuilder("sample")
	x := b.Input("pixels", []int{2, 3, 5}, 0, 127, 1.0/127)
	w := b.Param("w", []int{7, 15}, randomValues(newRand(1), 105, -400, 400), 1.0/256)
	bias := b.Param("b", []int{7}, randomValues(newRand(2), 7, -70000, 70000), 1)
	flat := b.Reshape("flat", x, []int{2, 15})
	acc := b.Linear("acc", []Term{{1, b.MatMul("mm", flat, w, true, 1)}, {-3, bias}}, 11, 1)
	square := make([]int32, 1<<14)
	for i := range square {
		square[i] = int32((i - 1<<13) * (i - 1<<13) >> 11)
	}
	s := b.Lookup("square", acc, 8, b.Table("square", 14, square), 1)
	mixed := b.Linear("mixed", []Term{{1, s}, {-2, s}}, 0, 1)
	bits := uint8(LookupBits(b.Tensor(mixed).Lo, b.Tensor(mixed).Hi, 0))
	y := b.Lookup("y", mixed, 0, b.Table("clamp", bits, clampTable(bits, -300, 100)), 0.5)
	p, weights, err := b.Build(y, Post{Kind: PostArgMax, Axis: 1, Span: 1}, []string{"zéro", "one"})
	if err != nil {
		t.Fatal(err)
	}
	return p, weights, randomValues(newRand(3), 30, 0, 127)
}

// composed is a program with all operations that sample has not, two inputs and two outputs, every kind of table and of map.
func composed(t testing.TB) (*Program, *Weights, []int32) {
	t.Helper()
	rng := newRand(30)
	b := NewBuilder("composed")
	tokens := b.Input("tokens", []int{3}, 0, 4, 1)
	x := b.Input("x", []int{3, 2, 5}, -8, 7, 1)
	e := b.Embed("embedded", tokens, b.Param("rows", []int{5, 4}, randomValues(rng, 20, -8, 7), 1), 1)
	s := b.Einsum("scores", "td,kd->tk", e, e, 1)
	r := b.Rearrange("windows", x, []AxisMap{
		{Axis: 2, Shape: []int{3, 2}, Index: []int32{-1, 0, 1, 2, 3, 4}}, {Axis: 0, Shape: []int{3}}, {Axis: 1, Index: []int32{1}},
	}, []int{2, 0, 1})
	table := make([]int32, 1<<8)
	for i := range table {
		table[i] = int32(i*i%200) - 100
	}
	pair := b.Pair("pair", r, r, b.PairTable("product", 4, 4, table), 1)
	total := b.Einsum("total", "twc->t", pair, None, 1)
	lo := b.Tensor(s)
	limit := max(-lo.Lo, lo.Hi)
	th := append(steps(rng, 6, limit), slices.Concat(steps(rng, 6, limit), steps(rng, 6, limit))...)
	y := b.Threshold("codes", s, 0, b.StepsTable("steps", 3, -3, limit, th), 1)
	p, w, err := b.BuildAll([]TensorID{y, b.Linear("sum", []Term{{3, total}, {1, y}}, 1, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, w, append(randomValues(rng, 3, 0, 4), randomValues(rng, 30, -8, 7)...)
}

func TestEncodeRoundTrip(t *testing.T) {
	roundTrip(t, sample)
	roundTrip(t, composed)
}

func roundTrip(t *testing.T, build func(testing.TB) (*Program, *Weights, []int32)) {
	p, w, _ := build(t)
	code, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	q, err := DecodeProgram(code)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, q) {
		t.Fatal("decoded program differs")
	}
	if len(code) > 67000 {
		t.Fatalf("the clamp table is not compact: %d bytes", len(code))
	}
	data, err := w.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	v, err := DecodeWeights(q, data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(w, v) {
		t.Fatal("decoded weights differ")
	}
}

// TestDescribedTables decodes a program of 3 kB whose clamps have 2^23 rows, the most there may be, and plans to hold none of them: 33 MB as words.
func TestDescribedTables(t *testing.T) {
	b := NewBuilder("clamps")
	x := b.Input("x", []int{1}, -9, 9, 1)
	var terms []Term
	for k := range int32(MaxTableRows >> MaxTableBits) {
		table := b.Table("clamp", MaxTableBits, clampTable(MaxTableBits, -k, 7))
		terms = append(terms, Term{1, b.Lookup("y", x, 0, table, 1)})
	}
	p, _, err := b.Build(b.Linear("sum", terms, 0, 1), NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	code, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	q, err := DecodeProgram(code)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	took := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d bytes of program took %d bytes of memory", len(code), took)
	if len(code) > 4<<10 || took > 64<<10 {
		t.Errorf("%d bytes of program took %d of memory, expected at most 64 KiB", len(code), took)
	}
	for k := range int64(MaxTableRows >> MaxTableBits) {
		table := &q.Tables[k]
		for _, x := range []int64{-1 << 17, -9, -1, 0, 5, 8, 1<<17 - 1} {
			if got, want := table.At(x), int32(min(max(x, -k), 7)); got != want {
				t.Errorf("table %d is %d at %d, expected %d", k, got, x, want)
			}
		}
		if !slices.Equal(table.Values(), clampTable(MaxTableBits, -int32(k), 7)) {
			t.Errorf("table %d has other values", k)
		}
	}
	again, err := q.Encode()
	if err != nil || !bytes.Equal(again, code) {
		t.Errorf("encoded again as something else, %v", err)
	}
	// Who spells a clamp out has the same program.
	q.Tables[3].Clamp, q.Tables[3].Y = false, q.Tables[3].Values()
	if again, err = q.Encode(); err != nil || !bytes.Equal(again, code) {
		t.Errorf("spelled out, a clamp is encoded as something else, %v", err)
	}
}

// TestDecodeRejects checks that truncation, extension and every single changed bit are either rejected or decode to a program with
// those very bytes (so the digest sees the change).
func TestDecodeRejects(t *testing.T) {
	p, w, _ := mlp(t, 9, 1, 3, 2)
	decodeRejects(t, p, w)
	p, w, _ = composed(t)
	decodeRejects(t, p, w)
}

func decodeRejects(t *testing.T, p *Program, w *Weights) {
	code, _ := p.Encode()
	data, _ := w.Encode(p)
	for n := range code {
		if _, err := DecodeProgram(code[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("program cut to %d bytes: %v", n, err)
		}
	}
	for n := range data {
		if _, err := DecodeWeights(p, data[:n]); err == nil {
			t.Fatalf("weights cut to %d bytes accepted", n)
		}
	}
	if _, err := DecodeProgram(append(bytes.Clone(code), 0)); !errors.Is(err, ErrFormat) {
		t.Fatalf("extended program: %v", err)
	}
	if _, err := DecodeWeights(p, append(bytes.Clone(data), 0)); !errors.Is(err, ErrFormat) {
		t.Fatalf("extended weights: %v", err)
	}
	accepted := 0
	for i := range code {
		for bit := range 8 {
			m := bytes.Clone(code)
			m[i] ^= 1 << bit
			if q, err := DecodeProgram(m); err == nil {
				accepted++
				if again, err := q.Encode(); err != nil || !bytes.Equal(again, m) {
					t.Fatalf("byte %d bit %d: decodes but does not encode back (%v)", i, bit, err)
				}
			}
		}
	}
	if accepted == 0 || accepted > 4*len(code) {
		t.Fatalf("%d of %d mutants decode; expected some (names, scales) but not most", accepted, 8*len(code))
	}
	for i := range 44 { // magic, version, program digest
		m := bytes.Clone(data)
		m[i] ^= 1
		if _, err := DecodeWeights(p, m); err == nil {
			t.Fatalf("weights with byte %d changed accepted", i)
		}
	}
}

func TestWeightsOutOfBounds(t *testing.T) {
	p, w, _ := mlp(t, 9, 1, 3, 2)
	id := p.Params()[1]
	values := w.Of(id).Ints()
	values[0] = int32(p.Tensor(id).Hi) + 1
	w.Data[id] = NewValues(values)
	if _, err := w.Encode(p); err == nil {
		t.Fatal("a weight above its bound was encoded")
	}
	w.Data[id] = NewValues(values[1:])
	if err := w.ValidateFor(p); err == nil {
		t.Fatal("a missing weight was accepted")
	}
}

// TestLargeWeights has a tensor of more values than one processor takes and more bytes
// than a block of the digest, and one for each width.
func TestLargeWeights(t *testing.T) {
	b := NewBuilder("large")
	tokens := b.Input("tokens", []int{3}, 0, 1<<10-1, 1)
	rng := newRand(1)
	sum := []Term{}
	for _, most := range []int64{127, 32767, 1 << 20} {
		rows := 1 << 10
		if most == 127 {
			rows = 1<<14 + 1
		}
		w := b.Param("w", []int{rows, 257}, randomValues(rng, rows*257, -most, most), 1)
		sum = append(sum, Term{1, b.Embed("rows", tokens, w, 1)})
	}
	p, w, err := b.Build(b.Linear("sum", sum, 0, 1), NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := w.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.Digest(p); err != nil || got != sha256.Sum256(data) {
		t.Fatalf("the digest is not that of the encoding (%v)", err)
	}
	at := 8 + 4 + 32
	for i, id := range p.Params() {
		for k, v := range w.Of(id).Ints() {
			var want [4]byte
			binary.LittleEndian.PutUint32(want[:], uint32(v))
			if n := 1 << i; !bytes.Equal(data[at:at+n], want[:n]) {
				t.Fatalf("tensor %d, element %d: % x, expected % x", i, k, data[at:at+n], want[:n])
			}
			at += 1 << i
		}
	}
	if at != len(data) {
		t.Fatalf("%d bytes, expected %d", len(data), at)
	}
	got, err := DecodeWeights(p, data)
	if err != nil || !reflect.DeepEqual(got, w) {
		t.Fatalf("decoded weights differ (%v)", err)
	}
	id := p.Params()[0]
	values := w.Of(id).Ints()
	values[len(values)-1], values[70000] = 1000, -1000
	w.Data[id] = NewValues(values)
	if _, err := w.Digest(p); err == nil || !strings.Contains(err.Error(), "element 70000: -1000 is outside [-128, 127]") {
		t.Fatalf("weights outside their bounds: %v", err)
	}
}

func FuzzDecodeProgram(f *testing.F) {
	for _, widths := range [][]int{{1, 1}, {3, 5, 5, 2}} {
		p, _, _ := mlp(f, 1, 2, widths...)
		code, _ := p.Encode()
		f.Add(code)
	}
	for _, build := range []func(testing.TB) (*Program, *Weights, []int32){sample, composed} {
		p, _, _ := build(f)
		code, _ := p.Encode()
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodeProgram(data)
		if err != nil {
			return
		}
		again, err := p.Encode()
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("accepted bytes do not encode back: %v", err)
		}
	})
}

func FuzzDecodeWeights(f *testing.F) {
	p, w, _ := mlp(f, 4, 1, 3, 5, 2)
	data, _ := w.Encode(p)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := DecodeWeights(p, data)
		if err != nil {
			return
		}
		again, err := w.Encode(p)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("accepted bytes do not encode back: %v", err)
		}
	})
}
