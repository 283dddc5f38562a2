package msmfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	bls12377g "github.com/consensys/gnark-crypto/ecc/bls12-377"
	bls12377fr "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	bls12381g "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bn254g "github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	bw6761g "github.com/consensys/gnark-crypto/ecc/bw6-761"
	bw6761fr "github.com/consensys/gnark-crypto/ecc/bw6-761/fr"

	mntcurve "github.com/zkwarp/zkwarp/curve/mnt4753"
	mntfr "github.com/zkwarp/zkwarp/curve/mnt4753/fr"
	"github.com/zkwarp/zkwarp/curve/toy61"
	toyfr "github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/msm/bls12377"
	"github.com/zkwarp/zkwarp/msm/bls12381"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/bw6761"
	"github.com/zkwarp/zkwarp/msm/mnt4753"
	"github.com/zkwarp/zkwarp/msm/msmfile"
	"github.com/zkwarp/zkwarp/msm/msmtest"
)

// points are 0·G, 1·G, -1·G, ... with both signs of y.
func points[P any](n int, mul func(k *big.Int) P) []P {
	out := make([]P, n)
	for i := range out {
		k := big.NewInt(int64(i+1) / 2)
		if i%2 == 0 {
			k.Neg(k)
		}
		out[i] = mul(k)
	}
	return out
}

type encoder interface{ Encode(v any) error }

// Files are byte by byte those of gnark-crypto.
func TestGnark(t *testing.T) {
	compare(t, bn254.G1Files, points(9, func(k *big.Int) bn254g.G1Affine { return *new(bn254g.G1Affine).ScalarMultiplicationBase(k) }), []bn254fr.Element{{}, {1}, {2, 3}},
		func(w io.Writer) encoder { return bn254g.NewEncoder(w, bn254g.RawEncoding()) }, func(w io.Writer) encoder { return bn254g.NewEncoder(w) })
	compare(t, bn254.G2Files, points(9, func(k *big.Int) bn254g.G2Affine { return *new(bn254g.G2Affine).ScalarMultiplicationBase(k) }), []bn254fr.Element{{}, {1}, {2, 3}},
		func(w io.Writer) encoder { return bn254g.NewEncoder(w, bn254g.RawEncoding()) }, func(w io.Writer) encoder { return bn254g.NewEncoder(w) })
	compare(t, bls12377.G1Files, points(9, func(k *big.Int) bls12377g.G1Affine { return *new(bls12377g.G1Affine).ScalarMultiplicationBase(k) }), []bls12377fr.Element{{}, {1}, {2, 3}},
		func(w io.Writer) encoder { return bls12377g.NewEncoder(w, bls12377g.RawEncoding()) }, func(w io.Writer) encoder { return bls12377g.NewEncoder(w) })
	compare(t, bls12377.G2Files, points(9, func(k *big.Int) bls12377g.G2Affine { return *new(bls12377g.G2Affine).ScalarMultiplicationBase(k) }), []bls12377fr.Element{{}, {1}, {2, 3}},
		func(w io.Writer) encoder { return bls12377g.NewEncoder(w, bls12377g.RawEncoding()) }, func(w io.Writer) encoder { return bls12377g.NewEncoder(w) })
	compare(t, bls12381.G1Files, points(9, func(k *big.Int) bls12381g.G1Affine { return *new(bls12381g.G1Affine).ScalarMultiplicationBase(k) }), []bls12381fr.Element{{}, {1}, {2, 3}},
		func(w io.Writer) encoder { return bls12381g.NewEncoder(w, bls12381g.RawEncoding()) }, func(w io.Writer) encoder { return bls12381g.NewEncoder(w) })
	compare(t, bls12381.G2Files, points(9, func(k *big.Int) bls12381g.G2Affine { return *new(bls12381g.G2Affine).ScalarMultiplicationBase(k) }), []bls12381fr.Element{{}, {1}, {2, 3}},
		func(w io.Writer) encoder { return bls12381g.NewEncoder(w, bls12381g.RawEncoding()) }, func(w io.Writer) encoder { return bls12381g.NewEncoder(w) })
	compare(t, bw6761.G1Files, points(9, func(k *big.Int) bw6761g.G1Affine { return *new(bw6761g.G1Affine).ScalarMultiplicationBase(k) }), []bw6761fr.Element{{}, {1}, {2, 3}},
		func(w io.Writer) encoder { return bw6761g.NewEncoder(w, bw6761g.RawEncoding()) }, func(w io.Writer) encoder { return bw6761g.NewEncoder(w) })
	compare(t, bw6761.G2Files, points(9, func(k *big.Int) bw6761g.G2Affine { return *new(bw6761g.G2Affine).ScalarMultiplicationBase(k) }), []bw6761fr.Element{{}, {1}, {2, 3}},
		func(w io.Writer) encoder { return bw6761g.NewEncoder(w, bw6761g.RawEncoding()) }, func(w io.Writer) encoder { return bw6761g.NewEncoder(w) })
	compare(t, mnt4753.G1Files, points(9, func(k *big.Int) mntcurve.G1Affine { return mntcurve.G1.Mul(mntcurve.G1.Generator, k) }), []mntfr.Element{{}, {1}, {2, 3}}, nil, nil)
	compare(t, msmtest.Toy61Files, points(40000, func(k *big.Int) toy61.G1Affine { return toy61.G1.Mul(toy61.G1.Generator, k) }), make([]toyfr.Element, 40000), nil, nil)
}

func compare[P, S comparable](t *testing.T, f *msmfile.Format[P, S], points []P, scalars []S, raw, compressed func(io.Writer) encoder) {
	t.Helper()
	name := f.Group().Name
	var files [][]byte
	for form, other := range map[msmfile.Form]func(io.Writer) encoder{msmfile.Raw: raw, msmfile.Compressed: compressed} {
		var got, want bytes.Buffer
		if err := f.WritePoints(&got, points, form); err != nil {
			t.Fatal(err)
		}
		if other != nil {
			if err := other(&want).Encode(points); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%s: form %d is not gnark-crypto's", name, form)
			}
		}
		files = append(files, got.Bytes())
	}
	var s, want bytes.Buffer
	if err := f.WriteScalars(&s, scalars); err != nil {
		t.Fatal(err)
	}
	if raw != nil {
		if err := raw(&want).Encode(scalars); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(s.Bytes(), want.Bytes()) {
			t.Errorf("%s: scalars are not gnark-crypto's", name)
		}
	}
	for _, file := range files {
		same(t, name, points, file, f.Points)
	}
	same(t, name, scalars, s.Bytes(), f.Scalars)

	dir := t.TempDir()
	for what, data := range map[string][]byte{"points": files[0], "scalars": s.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, what), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := f.ReadPoints(filepath.Join(dir, "points")); err != nil || len(got) != len(points) {
		t.Errorf("%s: %d points, %v", name, len(got), err)
	}
	if got, err := f.ReadScalars(filepath.Join(dir, "scalars")); err != nil || len(got) != len(scalars) {
		t.Errorf("%s: %d scalars, %v", name, len(got), err)
	}
	_, err := f.ReadScalars(filepath.Join(dir, "points"))
	if !errors.Is(err, msmfile.ErrFormat) || !strings.Contains(err.Error(), "points: ") {
		t.Errorf("%s: points taken for scalars: %v", name, err)
	}
}

func same[T comparable](t *testing.T, name string, want []T, file []byte, open func(io.Reader) (*msmfile.Reader[T], error)) {
	t.Helper()
	r, err := open(iotest.HalfReader(bytes.NewReader(file)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != len(want) {
		t.Fatalf("%s: %d elements, want %d", name, r.Len(), len(want))
	}
	got, err := r.All()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d is another", name, i)
		}
	}
}

func TestBadFiles(t *testing.T) {
	f := bls12381.G1Files
	good := points(4, func(k *big.Int) bls12381g.G1Affine { return *new(bls12381g.G1Affine).ScalarMultiplicationBase(k) })
	file := func(form msmfile.Form) []byte {
		var b bytes.Buffer
		if err := f.WritePoints(&b, good, form); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	raw, compressed := file(msmfile.Raw), file(msmfile.Compressed)
	edit := func(b []byte, at int, with ...byte) []byte {
		out := bytes.Clone(b)
		copy(out[at:], with)
		return out
	}
	modulus := f.Group().Base.Modulus.FillBytes(make([]byte, 48))
	// The first point is infinity; the second starts at 100 raw, at 52 compressed.
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                {nil, "number of points: bad file: it ends early"},
		"half a header":        {raw[:3], "ends early"},
		"no points":            {raw[:4], "point 0: bad file: it ends early"},
		"half a point":         {raw[:110], "point 1: bad file: it ends early"},
		"one point less":       {raw[:len(raw)-96], "point 3: bad file: it ends early"},
		"one byte more":        {append(bytes.Clone(raw), 0), "something follows"},
		"a promise":            {edit(raw, 0, 255, 255, 255, 255), "point 4: bad file: it ends early"},
		"x is the modulus":     {edit(raw, 100, modulus...), "point 1: bad file: a coordinate is not below"},
		"y is the modulus":     {edit(raw, 148, modulus...), "point 1: bad file: a coordinate is not below"},
		"off the curve":        {edit(raw, 195, raw[195]^1), "point 1: bad file: not on the curve"},
		"zero without flag":    {edit(raw, 4, make([]byte, 96)...), "point 0: bad file: not on the curve"},
		"infinity with a bit":  {edit(raw, 99, 1), "point 0: bad file: infinity"},
		"flags 111":            {edit(raw, 4, 0xe0), "point 0: bad file: unknown flags"},
		"flags 001":            {edit(raw, 100, raw[100]|0x20), "point 1: bad file: unknown flags"},
		"compressed, no root":  {edit(compressed, 99, compressed[99]^8), "point 1: bad file: not on the curve"},
		"compressed, modulus":  {edit(compressed, 52, append([]byte{modulus[0] | 0x80}, modulus[1:]...)...), "point 1: bad file: a coordinate is not below"},
		"compressed, infinity": {edit(compressed, 4, 0xc1), "point 0: bad file: infinity"},
	} {
		r, err := f.Points(bytes.NewReader(c.file))
		if err == nil {
			_, err = r.All()
		}
		if !errors.Is(err, msmfile.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	order := f.Group().Scalar.Modulus.FillBytes(make([]byte, 32))
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"the order": {append([]byte{0, 0, 0, 2}, append(make([]byte, 32), order...)...), "scalar 1: bad file: not below the group's order"},
		"short":     {make([]byte, 4+31)[:35], ""},
	} {
		if name == "short" {
			c.file[3], c.want = 1, "scalar 0: bad file: it ends early"
		}
		r, err := f.Scalars(bytes.NewReader(c.file))
		if err == nil {
			_, err = r.All()
		}
		if !errors.Is(err, msmfile.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// Compressed, y = 0 has one spelling: x = 1 on BW6-761's G1, y² = x³ - 1.
	g := bw6761.G1Files
	two := make([]byte, 4+96)
	two[3], two[4], two[99] = 1, 0x80, 1
	for flag, want := range map[byte]bool{0x80: true, 0xa0: false} {
		two[4] = flag
		r, err := g.Points(bytes.NewReader(two))
		if err == nil {
			_, err = r.All()
		}
		if (err == nil) != want {
			t.Errorf("y = 0 with flags %#x: %v", flag, err)
		}
	}
	// Errors of the reader are its own.
	broken := errors.New("broken")
	r, err := f.Points(io.MultiReader(bytes.NewReader(raw[:120]), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.All(); !errors.Is(err, broken) || errors.Is(err, msmfile.ErrFormat) {
		t.Errorf("a broken reader: %v", err)
	}
	r, err = f.Points(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Read(make([]bls12381g.G1Affine, 5)); err == nil {
		t.Error("more points than there are")
	}
	if err := r.Read(make([]bls12381g.G1Affine, 3)); err != nil || r.Len() != 1 || r.End() == nil {
		t.Errorf("%v, %d left", err, r.Len())
	}
}

// encodings is a point as both forms have it.
type encodings interface {
	raw() []byte
	packed() []byte
	onCurve() bool
}

type bn254G1 struct{ p bn254g.G1Affine }

func (e bn254G1) raw() []byte    { b := e.p.RawBytes(); return b[:] }
func (e bn254G1) packed() []byte { b := e.p.Bytes(); return b[:] }
func (e bn254G1) onCurve() bool  { return e.p.IsOnCurve() }

type bn254G2 struct{ p bn254g.G2Affine }

func (e bn254G2) raw() []byte    { b := e.p.RawBytes(); return b[:] }
func (e bn254G2) packed() []byte { b := e.p.Bytes(); return b[:] }
func (e bn254G2) onCurve() bool  { return e.p.IsOnCurve() }

type bls12381G1 struct{ p bls12381g.G1Affine }

func (e bls12381G1) raw() []byte    { b := e.p.RawBytes(); return b[:] }
func (e bls12381G1) packed() []byte { b := e.p.Bytes(); return b[:] }
func (e bls12381G1) onCurve() bool  { return e.p.IsOnCurve() }

// wrapped reads points and hides their types.
func wrapped[P, S any](f *msmfile.Format[P, S], data []byte, wrap func(P) encodings) ([]encodings, error) {
	r, err := f.Points(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	all, err := r.All()
	var out []encodings
	for _, p := range all {
		out = append(out, wrap(p))
	}
	return out, err
}

// fuzzed are formats that differ in flags and coordinates: two bits for flags, an
// extension, three bits.
var fuzzed = []func(data []byte) ([]encodings, error){
	func(data []byte) ([]encodings, error) {
		return wrapped(bn254.G1Files, data, func(p bn254g.G1Affine) encodings { return bn254G1{p} })
	},
	func(data []byte) ([]encodings, error) {
		return wrapped(bn254.G2Files, data, func(p bn254g.G2Affine) encodings { return bn254G2{p} })
	},
	func(data []byte) ([]encodings, error) {
		return wrapped(bls12381.G1Files, data, func(p bls12381g.G1Affine) encodings { return bls12381G1{p} })
	},
}

// What is read is written the same way, by whatever forms it mixes.
func FuzzPoints(f *testing.F) {
	g1 := points(5, func(k *big.Int) bn254g.G1Affine { return *new(bn254g.G1Affine).ScalarMultiplicationBase(k) })
	g2 := points(3, func(k *big.Int) bn254g.G2Affine { return *new(bn254g.G2Affine).ScalarMultiplicationBase(k) })
	other := points(3, func(k *big.Int) bls12381g.G1Affine { return *new(bls12381g.G1Affine).ScalarMultiplicationBase(k) })
	for _, form := range []msmfile.Form{msmfile.Raw, msmfile.Compressed} {
		var b [3]bytes.Buffer
		if err := errors.Join(bn254.G1Files.WritePoints(&b[0], g1, form), bn254.G2Files.WritePoints(&b[1], g2, form), bls12381.G1Files.WritePoints(&b[2], other, form)); err != nil {
			f.Fatal(err)
		}
		for i := range b {
			f.Add(uint8(i), b[i].Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, data []byte) {
		all, err := fuzzed[int(format)%len(fuzzed)](data)
		if err != nil {
			if !errors.Is(err, msmfile.ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		if len(data) < 4 || binary.BigEndian.Uint32(data) != uint32(len(all)) {
			t.Fatalf("%d points of %x", len(all), data)
		}
		rest := data[4:]
		for i, p := range all {
			if !p.onCurve() {
				t.Fatalf("point %d is not on the curve", i)
			}
			if raw := p.raw(); bytes.HasPrefix(rest, raw) {
				rest = rest[len(raw):]
				continue
			}
			packed := p.packed()
			if !bytes.HasPrefix(rest, packed) {
				t.Fatalf("point %d is written otherwise", i)
			}
			rest = rest[len(packed):]
		}
		if len(rest) != 0 {
			t.Fatal("bytes were left out")
		}
	})
}

// Scalars that are read are written the same way: canonical, as many, and to the end.
func FuzzScalars(f *testing.F) {
	var b bytes.Buffer
	if err := bn254.G1Files.WriteScalars(&b, make([]bn254fr.Element, 3)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := bn254.G1Files.Scalars(bytes.NewReader(data))
		if err == nil {
			var all []bn254fr.Element
			if all, err = r.All(); err == nil {
				var out bytes.Buffer
				if err := bn254.G1Files.WriteScalars(&out, all); err != nil || !bytes.Equal(out.Bytes(), data) {
					t.Fatalf("%x is written as %x, %v", data, out.Bytes(), err)
				}
				return
			}
		}
		if !errors.Is(err, msmfile.ErrFormat) {
			t.Fatal(err)
		}
	})
}
