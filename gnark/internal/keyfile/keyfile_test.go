package keyfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	curve254 "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark/backend/groth16"
	gnark381 "github.com/consensys/gnark/backend/groth16/bls12-381"
	gnark254 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/device/devicetest"
)

// circuit is a power of X, and commits to it or not.
type circuit struct {
	X      frontend.Variable
	Y      frontend.Variable `gnark:",public"`
	Times  int
	Commit bool
}

func (c *circuit) Define(api frontend.API) error {
	if c.Commit {
		if _, err := api.(frontend.Committer).Commit(c.X, c.Y); err != nil {
			return err
		}
	}
	x := c.X
	for range c.Times {
		x = api.Mul(x, c.X)
	}
	api.AssertIsEqual(x, c.Y)
	return nil
}

func setup(t testing.TB, id ecc.ID, c *circuit) groth16.ProvingKey {
	t.Helper()
	ccs, err := frontend.Compile(id.ScalarField(), r1cs.NewBuilder, c)
	if err != nil {
		t.Fatal(err)
	}
	pk, _, err := groth16.Setup(ccs)
	if err != nil {
		t.Fatal(err)
	}
	return pk
}

// encoded is a key in each of the formats.
func encoded(t testing.TB, pk groth16.ProvingKey) map[Format][]byte {
	t.Helper()
	out := map[Format][]byte{}
	for format, to := range map[Format]func(io.Writer) error{
		Compressed: func(w io.Writer) error { _, err := pk.WriteTo(w); return err },
		Raw:        func(w io.Writer) error { _, err := pk.WriteRawTo(w); return err },
		Dump:       pk.WriteDump,
		Mapped:     func(w io.Writer) error { return Write(w, pk) },
	} {
		var b bytes.Buffer
		if err := to(&b); err != nil {
			t.Fatal(err)
		}
		out[format] = b.Bytes()
	}
	return out
}

func put(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A key that was written in any format comes back as it was.
func TestFormats(t *testing.T) {
	for _, c := range curves() {
		for _, commit := range []bool{false, true} {
			t.Run(fmt.Sprint(c.system.id, commit), func(t *testing.T) {
				pk := setup(t, c.system.id, &circuit{Times: 9, Commit: commit})
				for format, b := range encoded(t, pk) {
					for _, trusted := range []bool{false, true} {
						var done, total int64
						f, err := Open(t.Context(), c.system.id, put(t, b), Options{Trusted: trusted, Tables: true, Progress: func(d, n int64) {
							if d <= done {
								t.Errorf("%s: progress from %d to %d", format, done, d)
							}
							done, total = d, n
						}})
						if err != nil {
							t.Fatalf("%s: %v", format, err)
						}
						if f.Format != format || f.InFile != (format == Mapped) {
							t.Errorf("%s was read as %s, in its file: %t", format, f.Format, f.InFile)
						}
						if done != total || total == 0 {
							t.Errorf("%s: progress ended at %d of %d bytes", format, done, total)
						}
						if !reflect.DeepEqual(f.Key, pk) {
							t.Errorf("%s: the key differs", format)
						}
						if err := f.Close(); err != nil {
							t.Error(err)
						}
						if err := f.Close(); err != nil {
							t.Errorf("closed twice: %v", err)
						}
					}
				}
			})
		}
	}
}

// Lists of many times grain points are read whole, and points of gnark's own reading of the
// same bytes are the same.
func TestLong(t *testing.T) {
	ccs, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &circuit{Times: 2*grain + 77})
	if err != nil {
		t.Fatal(err)
	}
	pk, err := groth16.DummySetup(ccs)
	if err != nil {
		t.Fatal(err)
	}
	// Points that are not all the same, which those of DummySetup are.
	key := pk.(*gnark254.ProvingKey)
	for i := 1; i < len(key.G1.Z); i++ {
		key.G1.Z[i].Add(&key.G1.Z[i-1], &key.G1.Z[0])
	}
	for i := 1; i < len(key.G2.B); i++ {
		key.G2.B[i].Add(&key.G2.B[i-1], &key.G2.B[0])
	}
	for format, b := range encoded(t, pk) {
		f, err := Open(t.Context(), ecc.BN254, put(t, b), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := f.Key.(*gnark254.ProvingKey)
		if !reflect.DeepEqual(got.G1, key.G1) || !reflect.DeepEqual(got.G2, key.G2) || !reflect.DeepEqual(got.InfinityA, key.InfinityA) {
			t.Errorf("%s: the points differ", format)
		}
		if _, err := got.Domain.Twiddles(); err == nil {
			t.Error("the domain has tables that nobody asked for")
		}
		if got.Domain.Generator != key.Domain.Generator || got.Domain.Cardinality != key.Domain.Cardinality {
			t.Errorf("%s: the domain differs", format)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err = Open(ctx, ecc.BN254, put(t, b), Options{Progress: func(_, _ int64) { cancel() }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, interrupted: %v", format, err)
		}
	}
}

// Files that end early, go on behind their end, or say something that cannot be are errors.
func TestDamaged(t *testing.T) {
	for format, b := range encoded(t, setup(t, ecc.BN254, &circuit{Times: 2, Commit: true})) {
		open := func(b []byte) error {
			_, err := readBN254(t.Context(), b, Options{})
			return err
		}
		step := 3
		if format == Mapped {
			step = 67
		}
		for n := 0; n < len(b); n += step {
			if err := open(b[:n]); !errors.Is(err, ErrFormat) {
				t.Fatalf("%s, %d bytes of %d: %v", format, n, len(b), err)
			}
		}
		if err := open(append(bytes.Clone(b), 0)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "1 bytes after its end") {
			t.Errorf("%s, a byte too long: %v", format, err)
		}
		// Every byte counts, but the padding's place and the domain's flag.
		flag := 8 + 5*32
		if format == Dump || format == Mapped {
			flag += 8
		}
		for i := 0; i < len(b); i += step {
			bad := bytes.Clone(b)
			bad[i] ^= 0x41
			f, err := readBN254(t.Context(), bad, Options{})
			if err == nil && format == Compressed && i != flag {
				// Another abscissa may be one of a point, too.
				if again := encoded(t, f.Key)[format]; !bytes.Equal(again[flag+1:], bad[flag+1:]) {
					t.Errorf("%s, byte %d of %d changed: the key is not that of the file", format, i, len(b))
				}
			} else if i != flag && !errors.Is(err, ErrFormat) {
				t.Errorf("%s, byte %d of %d changed: %v", format, i, len(b), err)
			}
		}
		if _, err := readBLS12381(t.Context(), b, Options{}); !errors.Is(err, ErrFormat) {
			t.Errorf("%s, as one over another curve: %v", format, err)
		}
	}
}

// Lengths that no file has take no memory.
func TestLengths(t *testing.T) {
	for format, b := range encoded(t, setup(t, ecc.BN254, &circuit{Times: 2})) {
		for at := 0; at+8 <= len(b) && at < 1500; at += 3 {
			for _, v := range []uint64{1<<64 - 1, 1 << 58, 1 << 40} {
				bad := bytes.Clone(b)
				binary.BigEndian.PutUint64(bad[at:], v)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := readBN254(t.Context(), bad, Options{Trusted: true})
				runtime.ReadMemStats(&after)
				if took := after.TotalAlloc - before.TotalAlloc; took > 1<<22 {
					t.Fatalf("%s: %d at %d took %d bytes (%v)", format, v, at, took, err)
				}
			}
		}
	}
}

// Points outside of the subgroup, and coordinates that are not reduced, are found unless
// the file is trusted.
func TestPointsChecked(t *testing.T) {
	pk := setup(t, ecc.BLS12_381, &circuit{Times: 20}).(*gnark381.ProvingKey)
	p := outside381()
	right := pk.G1.K[7]
	pk.G1.K[7] = p
	for format, b := range encoded(t, pk) {
		if _, err := Open(t.Context(), ecc.BLS12_381, put(t, b), Options{}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "query K") {
			t.Errorf("%s: %v", format, err)
		}
		f, err := Open(t.Context(), ecc.BLS12_381, put(t, b), Options{Trusted: true})
		if err != nil {
			t.Errorf("%s, trusted: %v", format, err)
			continue
		}
		if f.Key.(*gnark381.ProvingKey).G1.K[7] != p {
			t.Errorf("%s: another point", format)
		}
		f.Close()
	}
	pk.G1.K[7] = right
	// The same point, in words above the modulus.
	for i, carry := 0, uint64(0); i < 6; i++ {
		m := words(ecc.BLS12_381.BaseField(), 48)[i]
		sum := pk.G1.K[7].X[i] + m + carry
		carry = ((pk.G1.K[7].X[i] & m) | ((pk.G1.K[7].X[i] | m) &^ sum)) >> 63
		pk.G1.K[7].X[i] = sum
	}
	files := encoded(t, pk)
	for _, format := range []Format{Dump, Mapped} {
		if _, err := Open(t.Context(), ecc.BLS12_381, put(t, files[format]), Options{}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "not below the modulus") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// The number of wires is told without reading points.
func TestWires(t *testing.T) {
	pk := setup(t, ecc.BN254, &circuit{Times: 9, Commit: true}).(*gnark254.ProvingKey)
	for format, b := range encoded(t, pk) {
		if n, err := Wires(ecc.BN254, put(t, b)); n != len(pk.InfinityA) || err != nil {
			t.Errorf("%s: %d wires, error %v, want %d", format, n, err, len(pk.InfinityA))
		}
		if _, err := Wires(ecc.BN254, put(t, b[:len(b)-1])); !errors.Is(err, ErrFormat) {
			t.Errorf("%s, cut short: %v", format, err)
		}
		// At an odd place, where a mapping cannot be, points are copied.
		odd := append(make([]byte, 1, 1+len(b)), b...)[1:]
		if f, err := Read(t.Context(), ecc.BN254, odd, Options{Tables: true}); err != nil || f.InFile || !reflect.DeepEqual(f.Key, groth16.ProvingKey(pk)) {
			t.Errorf("%s at an odd place: error %v", format, err)
		}
	}
}

// A device finds what the CPU finds.
func TestDevice(t *testing.T) {
	for _, id := range []ecc.ID{ecc.BN254, ecc.BLS12_381} {
		for _, kind := range []string{"simt", "cuda"} {
			t.Run(fmt.Sprint(id, " ", kind), func(t *testing.T) {
				if kind == "simt" && id != ecc.BN254 {
					t.Skip("takes seconds; emulated over one curve")
				}
				o := Options{Device: devicetest.Open(t, kind), Tables: true, least: 1}
				pk := setup(t, id, &circuit{Times: 9})
				for format, b := range encoded(t, pk) {
					f, err := Open(t.Context(), id, put(t, b), o)
					if err != nil {
						t.Fatalf("%s: %v", format, err)
					}
					if !reflect.DeepEqual(f.Key, pk) {
						t.Errorf("%s: the key differs", format)
					}
					f.Close()
				}
				// B in G2 has points of the curve that are not in the group, A points that are not on it.
				spoil := []func(){}
				switch pk := pk.(type) {
				case *gnark254.ProvingKey:
					spoil = append(spoil, func() { pk.G2.B[1] = outside254(t) }, func() { pk.G1.A[2].X.SetOne() })
				case *gnark381.ProvingKey:
					spoil = append(spoil, func() { pk.G1.A[3] = outside381() })
				}
				for _, f := range spoil {
					f()
					for format, b := range encoded(t, pk) {
						if format == Compressed { // has all points on the curve
							continue
						}
						if _, err := Open(t.Context(), id, put(t, b), o); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "query ") {
							t.Errorf("%s: %v", format, err)
						}
					}
				}
			})
		}
	}
}

// outside254 is a point of BN254's second curve that is not in G2.
func outside254(t *testing.T) (p curve254.G2Affine) {
	t.Helper()
	_, _, _, g2 := curve254.Generators()
	var right, b curve254.E2
	right.Square(&g2.X).Mul(&right, &g2.X) // the curve's constant is y² - x³
	b.Square(&g2.Y).Sub(&b, &right)
	for x := uint64(1); ; x++ {
		p.X.A0.SetUint64(x)
		right.Square(&p.X).Mul(&right, &p.X).Add(&right, &b)
		if right.Legendre() == 1 {
			p.Y.Sqrt(&right)
			if p.IsOnCurve() && !p.IsInSubGroup() {
				return p
			}
		}
	}
}

// outside381 is a point of BLS12-381 that is not in G1: almost all are such.
func outside381() (p curve.G1Affine) {
	for x := uint64(1); ; x++ {
		p.X.SetUint64(x)
		p.Y.Square(&p.X).Mul(&p.Y, &p.X)
		four := p.X
		four.SetUint64(4)
		if p.Y.Add(&p.Y, &four); p.Y.Sqrt(&p.Y) != nil && p.IsOnCurve() && !p.IsInSubGroup() {
			return p
		}
	}
}

func TestNotAFile(t *testing.T) {
	if _, err := Open(t.Context(), ecc.BN254, t.TempDir(), Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Open(t.Context(), ecc.BN254, filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if _, err := Open(t.Context(), ecc.BLS24_315, put(t, nil), Options{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a curve without keys: %v", err)
	}
}

// FuzzRead reads bytes as a key of each format. Whatever they are, there is a key that
// writes the same bytes or an error, and no more memory is taken than the bytes account for.
func FuzzRead(f *testing.F) {
	for _, b := range encoded(f, setup(f, ecc.BN254, &circuit{Times: 3, Commit: true})) {
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file, err := readBN254(t.Context(), b, Options{})
		runtime.ReadMemStats(&after)
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+64*len(b)); took > most {
			t.Errorf("%d bytes of memory for %d (%v)", took, len(b), err)
		}
		if err != nil {
			return
		}
		again := encoded(t, file.Key)[file.Format]
		flag := 8 + 5*32 // of the domain's tables, which were not made
		if file.Format == Dump || file.Format == Mapped {
			flag += 8
		}
		if len(again) != len(b) || !bytes.Equal(again[:flag], b[:flag]) || !bytes.Equal(again[flag+1:], b[flag+1:]) {
			t.Errorf("%s: the key is not that of the bytes", file.Format)
		}
	})
}
