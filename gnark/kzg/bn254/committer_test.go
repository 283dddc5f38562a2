package bn254_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	gnark "github.com/consensys/gnark-crypto/ecc/bn254/kzg"
	"github.com/consensys/gnark-crypto/utils"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/kzg"
	"github.com/zkwarp/zkwarp/gnark/kzg/bn254"
)

// size is of the reference string, no power of two.
const size = 300

var reference = sync.OnceValues(func() (*gnark.SRS, error) { return gnark.NewSRS(size, big.NewInt(0x5eed)) })

func setUp(t testing.TB) *gnark.SRS {
	t.Helper()
	s, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func random(n int) []fr.Element {
	p := make([]fr.Element, n)
	for i := range p {
		p[i].MustSetRandom()
	}
	return p
}

func committer(t *testing.T, pk gnark.ProvingKey, opts ...kzg.Option) *bn254.Committer {
	t.Helper()
	c, err := bn254.New(pk, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// each runs a test on every device, the emulator for one curve. A sum takes that half a second.
func each(t *testing.T, f func(t *testing.T, device string)) {
	for _, name := range []string{"cpu", "simt", "cuda"} {
		t.Run(name, func(t *testing.T) {
			if name == "simt" && curve.ID != ecc.BN254 {
				t.Skip("takes seconds; emulated for one curve")
			}
			f(t, devicetest.Open(t, name).Name())
		})
	}
}

// Digests and proofs are gnark-crypto's own on every device, which verifies them.
func TestSame(t *testing.T) {
	s, ctx := setUp(t), context.Background()
	point := random(1)[0]
	polynomials := [][]fr.Element{nil, random(1), random(2), random(33), make([]fr.Element, 33), random(size - 1), random(size), make([]fr.Element, size)}
	all := polynomials
	each(t, func(t *testing.T, device string) {
		polynomials, batches := all, [][]int{{6}, {0}, {1, 1}, {3, 4}, {6, 5, 3, 7, 0, 6}}
		if device == "simt" {
			polynomials, batches = [][]fr.Element{nil, all[3], all[6]}, [][]int{{1, 2, 0}}
		}
		var log bytes.Buffer
		defer func() {
			if log.Len() > 0 {
				t.Errorf("logs %s", log.String())
			}
		}()
		c := committer(t, s.Pk, kzg.WithDevice(device), bn254.WithVerifyingKey(s.Vk), kzg.WithCheck(), kzg.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		if c.Len() != size {
			t.Errorf("%d points", c.Len())
		}
		many, err := c.CommitMany(ctx, polynomials)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range polynomials {
			what := fmt.Sprintf("polynomial %d of %d coefficients", i, len(p))
			want, err := gnark.Commit(p, s.Pk)
			if err != nil {
				t.Fatal(err)
			}
			if many[i] != want {
				t.Errorf("%s: commit: not gnark-crypto's digest", what)
			}
			theirs, err := gnark.Open(p, point, s.Pk)
			if err != nil {
				t.Fatal(err)
			}
			kept := append(p[:0:0], p...)
			ours, err := c.Open(ctx, p, point)
			if err != nil || ours != theirs {
				t.Errorf("%s: open: right %v, error %v", what, ours == theirs, err)
			}
			for j := range p {
				if p[j] != kept[j] {
					t.Fatalf("%s: open changed coefficient %d", what, j)
				}
			}
			if err := gnark.Verify(&many[i], &ours, point, s.Vk); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if device == "simt" {
				continue
			}
			if digest, err := c.Commit(p); err != nil || digest != want {
				t.Errorf("%s: commit alone: right %v, error %v", what, digest == want, err)
			}
			with, err := gnark.OpenWithCommitter(p, point, c)
			if err != nil || with != theirs {
				t.Errorf("%s: gnark-crypto's opening with our committer: right %v, error %v", what, with == theirs, err)
			}
		}
		for _, list := range batches {
			var ps [][]fr.Element
			var ds []gnark.Digest
			for _, i := range list {
				ps, ds = append(ps, polynomials[i]), append(ds, many[i])
			}
			for _, data := range [][][]byte{nil, {[]byte("a"), []byte("transcript")}} {
				theirs, err := gnark.BatchOpenSinglePoint(ps, ds, point, sha256.New(), s.Pk, data...)
				if err != nil {
					t.Fatal(err)
				}
				ours, err := c.BatchOpenSinglePoint(ctx, ps, ds, point, sha256.New(), data...)
				if err != nil {
					t.Fatalf("polynomials %v: %v", list, err)
				}
				if fmt.Sprint(ours) != fmt.Sprint(theirs) {
					t.Errorf("polynomials %v: not gnark-crypto's proof", list)
				}
				if err := gnark.BatchVerifySinglePoint(ds, &ours, point, sha256.New(), s.Vk, data...); err != nil {
					t.Errorf("polynomials %v: %v", list, err)
				}
			}
		}
	})
}

// Nobody takes an opening of ours for one of another value, point, polynomial or order.
func TestTampered(t *testing.T) {
	s, ctx := setUp(t), context.Background()
	c := committer(t, s.Pk, kzg.WithDevice("cpu"))
	p, point := random(70), random(1)[0]
	digest, err := c.Commit(p)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := c.Open(ctx, p, point)
	if err != nil {
		t.Fatal(err)
	}
	if err := gnark.Verify(&digest, &proof, point, s.Vk); err != nil {
		t.Fatal(err)
	}
	value, h, other, one := proof, proof, digest, fr.One()
	value.ClaimedValue.Add(&value.ClaimedValue, &one)
	h.H.Add(&h.H, &s.Pk.G1[0])
	other.Add(&other, &s.Pk.G1[1])
	var elsewhere fr.Element
	elsewhere.Add(&point, &one)
	for name, rejected := range map[string]error{
		"value":      gnark.Verify(&digest, &value, point, s.Vk),
		"quotient":   gnark.Verify(&digest, &h, point, s.Vk),
		"commitment": gnark.Verify(&other, &proof, point, s.Vk),
		"point":      gnark.Verify(&digest, &proof, elsewhere, s.Vk),
	} {
		if rejected == nil {
			t.Errorf("verifies with another %s", name)
		}
	}
	q := random(70)
	digests, err := c.CommitMany(ctx, [][]fr.Element{p, q})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := c.BatchOpenSinglePoint(ctx, [][]fr.Element{p, q}, digests, point, sha256.New(), []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	verify := func(ds []gnark.Digest, data string) error {
		return gnark.BatchVerifySinglePoint(ds, &batch, point, sha256.New(), s.Vk, []byte(data))
	}
	if err := verify(digests, "data"); err != nil {
		t.Fatal(err)
	}
	if verify(digests, "date") == nil {
		t.Error("verifies with other data")
	}
	if verify([]gnark.Digest{digests[1], digests[0]}, "data") == nil {
		t.Error("verifies with the digests exchanged")
	}
	batch.ClaimedValues[1].Add(&batch.ClaimedValues[1], &one)
	if verify(digests, "data") == nil {
		t.Error("verifies with another value")
	}
	// With the verifying key no such proof is made.
	c = committer(t, s.Pk, kzg.WithDevice("cpu"), bn254.WithVerifyingKey(s.Vk))
	_, err = c.BatchOpenSinglePoint(ctx, [][]fr.Element{p, q}, []gnark.Digest{digests[1], digests[0]}, point, sha256.New())
	if !errors.Is(err, kzg.ErrInput) || !errors.Is(err, gnark.ErrVerifyOpeningProof) {
		t.Errorf("digests of other polynomials: %v", err)
	}
}

// A reference string in Lagrange form commits to polynomials by their values.
func TestLagrange(t *testing.T) {
	const n = 64
	s := setUp(t)
	points, err := gnark.ToLagrangeG1(s.Pk.G1[:n])
	if err != nil {
		t.Fatal(err)
	}
	p := random(n)
	want, err := gnark.Commit(p, s.Pk)
	if err != nil {
		t.Fatal(err)
	}
	fft.NewDomain(n).FFT(p, fft.DIF)
	utils.BitReverse(p)
	each(t, func(t *testing.T, device string) {
		c := committer(t, gnark.ProvingKey{G1: points}, kzg.WithDevice(device))
		if got, err := c.Commit(p); err != nil || got != want {
			t.Errorf("right %v, error %v", got == want, err)
		}
	})
}

// Committers serve many callers at a time, with polynomials of more lengths than bases are
// kept for.
func TestConcurrent(t *testing.T) {
	s, ctx := setUp(t), context.Background()
	const callers = 24
	point := random(1)[0]
	var polynomials [callers][]fr.Element
	var want [callers]gnark.OpeningProof
	for i := range want {
		polynomials[i] = random(1 + 20*(i%12))
		var err error
		if want[i], err = gnark.Open(polynomials[i], point, s.Pk); err != nil {
			t.Fatal(err)
		}
	}
	each(t, func(t *testing.T, device string) {
		c := committer(t, s.Pk, kzg.WithDevice(device))
		var wg sync.WaitGroup
		for i := range want {
			if device == "simt" && (i%12 < 1 || i%12 > 2) {
				continue
			}
			wg.Go(func() {
				if got, err := c.Open(ctx, polynomials[i], point); err != nil || got != want[i] {
					t.Errorf("polynomial %d: right %v, error %v", i, got == want[i], err)
				}
			})
		}
		wg.Wait()
		c.Close()
		c.Close()
		if _, err := c.Commit(polynomials[1]); !errors.Is(err, kzg.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if c.Bytes() != 0 {
			t.Errorf("%d bytes after Close", c.Bytes())
		}
	})
}

func TestBadInput(t *testing.T) {
	s, ctx := setUp(t), context.Background()
	c := committer(t, s.Pk, kzg.WithDevice("cpu"))
	long, p, point := make([]fr.Element, size+1), random(3), random(1)[0]
	digest, err := c.Commit(p)
	if err != nil {
		t.Fatal(err)
	}
	bad := random(5)
	bad[3] = fr.Element{} // and then the modulus, which is no form of an element
	words := fr.Modulus().Bits()
	for i := range bad[3] {
		bad[3][i] = uint64(words[i])
	}
	batch := func(ps [][]fr.Element, ds ...gnark.Digest) error {
		_, err := c.BatchOpenSinglePoint(ctx, ps, ds, point, sha256.New())
		return err
	}
	commit := func(p []fr.Element) error { _, err := c.Commit(p); return err }
	open := func(p []fr.Element) error { _, err := c.Open(ctx, p, point); return err }
	many := func(ps ...[]fr.Element) error { _, err := c.CommitMany(ctx, ps); return err }
	_, noHash := c.BatchOpenSinglePoint(ctx, [][]fr.Element{p}, []gnark.Digest{digest}, point, nil)
	made := func(pk gnark.ProvingKey, opts ...kzg.Option) error { _, err := bn254.New(pk, opts...); return err }
	for name, x := range map[string]struct {
		err  error
		says []string
		is   error
	}{
		"commit, too long":       {commit(long), []string{"301 coefficients", "300 points"}, gnark.ErrInvalidPolynomialSize},
		"open, too long":         {open(long), []string{"301 coefficients", "300 points"}, gnark.ErrInvalidPolynomialSize},
		"many, too long":         {many(p, long), []string{"polynomial 1", "301 coefficients", "300 points"}, gnark.ErrInvalidPolynomialSize},
		"batch, too long":        {batch([][]fr.Element{p, p, long}, digest, digest, digest), []string{"polynomial 2", "301", "300"}, gnark.ErrInvalidPolynomialSize},
		"batch, digests missing": {batch([][]fr.Element{p, p}, digest), []string{"1 digests of 2 polynomials"}, gnark.ErrInvalidNbDigests},
		"batch of none":          {batch(nil), []string{"no polynomials"}, gnark.ErrZeroNbDigests},
		"batch without hash":     {noHash, []string{"no hash function"}, kzg.ErrInput},
		"no element":             {commit(bad), []string{"scalar 3"}, kzg.ErrInput},
		"no element of many":     {many(p, bad), []string{"polynomial 1", "scalar 3"}, kzg.ErrInput},
		"open, no element":       {open(bad), []string{"coefficient 3 is"}, kzg.ErrInput},
		"open, no element first": {open(bad[3:]), []string{"coefficient 0 is"}, kzg.ErrInput},
		"batch, no element":      {batch([][]fr.Element{p, bad}, digest, digest), []string{"polynomial 1", "coefficient 3 is"}, kzg.ErrInput},
		"no points":              {made(gnark.ProvingKey{}), []string{"without points"}, kzg.ErrInput},
		"less memory than none":  {made(s.Pk, kzg.WithMemory(-1)), []string{"-1 bytes"}, kzg.ErrInput},
		"no logger":              {made(s.Pk, kzg.WithLogger(nil)), []string{"no logger"}, kzg.ErrInput},
		"no option":              {made(s.Pk, nil), []string{"nil"}, kzg.ErrInput},
	} {
		if !errors.Is(x.err, kzg.ErrInput) || !errors.Is(x.err, x.is) {
			t.Errorf("%s: %v", name, x.err)
			continue
		}
		for _, part := range x.says {
			if !strings.Contains(x.err.Error(), part) {
				t.Errorf("%s: %v does not say %q", name, x.err, part)
			}
		}
	}
	bad = random(3)
	bad[2] = fr.NewElement(0)
	for i := range bad[2] {
		bad[2][i] = uint64(words[i])
	}
	bad[2][0]-- // the largest form of an element
	if err := open(bad); err != nil {
		t.Errorf("the modulus less one: %v", err)
	}
	if made(s.Pk, kzg.WithDevice("cuda:none")) == nil {
		t.Error("a device that is none")
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.CommitContext(ended, p); !errors.Is(err, context.Canceled) {
		t.Errorf("commit: %v", err)
	}
	if _, err := c.Open(ended, p, point); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	if _, err := c.CommitMany(ended, [][]fr.Element{p, p}); !errors.Is(err, context.Canceled) {
		t.Errorf("many: %v", err)
	}
	if _, err := c.BatchOpenSinglePoint(ended, [][]fr.Element{p}, []gnark.Digest{digest}, point, sha256.New()); !errors.Is(err, context.Canceled) {
		t.Errorf("batch: %v", err)
	}
}
