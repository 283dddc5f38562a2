package bn254

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"math/big"
	"strings"
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

// A device whose sums are points of the group, but wrong ones, is found out by the
// verifying key alone. The proof is then the CPU's, and the fault is logged.
func TestWrongProof(t *testing.T) {
	if curve.ID != ecc.BN254 {
		t.Skip("takes seconds; emulated for one curve")
	}
	s, err := gnark.NewSRS(40, big.NewInt(7))
	if err != nil {
		t.Fatal(err)
	}
	lying := *group.G1
	lying.Host.Combine = func(sums []msm.Part) curve.G1Affine {
		p := group.G1.Host.Combine(sums)
		p.Double(&p)
		return p
	}
	var log bytes.Buffer
	o, err := srs.Choose([]kzg.Option{kzg.WithDevice(devicetest.Open(t, "simt").Name()), kzg.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))})
	if err != nil {
		t.Fatal(err)
	}
	c := &Committer{vk: &s.Vk}
	if c.points, err = srs.New(&lying, s.Pk.G1, o); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
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
