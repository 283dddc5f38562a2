package bn254

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	gnark "github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/kzg"
	"github.com/zkwarp/zkwarp/gnark/kzg/internal/srs"
	"github.com/zkwarp/zkwarp/msm"
	group "github.com/zkwarp/zkwarp/msm/bn254"
)

// lying is a committer on a device whose sums are points of the group, but may be wrong
// ones: lie changes the sum that is number i from 0 on.
func lying(t *testing.T, s *gnark.SRS, lie func(i int64, p *curve.G1Affine), opts ...kzg.Option) (*Committer, *bytes.Buffer) {
	t.Helper()
	if curve.ID != ecc.BN254 {
		t.Skip("takes seconds; emulated for one curve")
	}
	var sums atomic.Int64
	group := *group.G1
	combine := group.Host.Combine
	group.Host.Combine = func(parts []msm.Part) curve.G1Affine {
		p := combine(parts)
		lie(sums.Add(1)-1, &p)
		return p
	}
	var log bytes.Buffer
	opts = append(opts, kzg.WithDevice(devicetest.Open(t, "simt").Name()), kzg.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	o, err := srs.Choose(opts)
	if err != nil {
		t.Fatal(err)
	}
	c := &Committer{vk: &s.Vk}
	if c.points, err = srs.New(&group, s.Pk.G1, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, &log
}

// A wrong point of the group in a proof is found out by the verifying key alone. The proof is
// then the CPU's, and the fault is logged.
func TestWrongProof(t *testing.T) {
	s, err := gnark.NewSRS(40, big.NewInt(7))
	if err != nil {
		t.Fatal(err)
	}
	c, log := lying(t, s, func(_ int64, p *curve.G1Affine) { p.Double(p) })
	p, point := random(40), random(1)[0]
	digest, err := gnark.Commit(p, s.Pk)
	if err != nil {
		t.Fatal(err)
	}
	polynomials, digests := [][]fr.Element{p}, []gnark.Digest{digest}
	proof, err := c.BatchOpenSinglePoint(context.Background(), polynomials, digests, point, sha256.New())
	if err != nil {
		t.Fatal(err)
	}
	if err := gnark.BatchVerifySinglePoint(digests, &proof, point, sha256.New(), s.Vk); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "wrong=true") || !strings.Contains(log.String(), "does not verify") {
		t.Errorf("logs %q", log.String())
	}
}

// A wrong commitment, or a wrong sum to check it by, is found out if it was asked for.
func TestWrongCommitment(t *testing.T) {
	s, err := gnark.NewSRS(40, big.NewInt(7))
	if err != nil {
		t.Fatal(err)
	}
	polynomials := [][]fr.Element{random(40), random(11)}
	var want []gnark.Digest
	for _, p := range polynomials {
		d, err := gnark.Commit(p, s.Pk)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, d)
	}
	for _, wrong := range []int64{1, 2} { // of three sums
		lie := func(i int64, p *curve.G1Affine) {
			if i == wrong {
				p.Neg(p)
			}
		}
		c, log := lying(t, s, lie, kzg.WithCheck())
		got, err := c.CommitMany(context.Background(), polynomials)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("sum %d: right %v, error %v", wrong, slices.Equal(got, want), err)
		}
		if !strings.Contains(log.String(), "wrong=true") {
			t.Errorf("sum %d: logs %q", wrong, log.String())
		}
	}
	for _, checked := range []bool{false, true} {
		var opts []kzg.Option
		if checked {
			opts = append(opts, kzg.WithCheck())
		}
		c, log := lying(t, s, func(i int64, p *curve.G1Affine) {
			if i == 0 {
				p.Neg(p)
			}
		}, opts...)
		got, err := c.Commit(polynomials[0])
		if err != nil || (got == want[0]) != checked || (log.Len() > 0) != checked {
			t.Errorf("one polynomial, checked %v: right %v, error %v, logs %q", checked, got == want[0], err, log.String())
		}
		if none, err := c.Commit(nil); err != nil || !none.IsInfinity() {
			t.Errorf("no coefficients: %v", err)
		}
	}
}
