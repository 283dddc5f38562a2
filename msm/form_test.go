package msm_test

import (
	"context"
	"errors"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-377"
	"github.com/consensys/gnark-crypto/ecc/bls12-377/fr"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/msm"
	zkbls12377 "github.com/zkwarp/zkwarp/msm/bls12377"
)

// Points are taken into Edwards form piece by piece; without the memory for it they stay
// as they are given.
func TestForms(t *testing.T) {
	if os.Getenv("ZKWARP_SIMT_ORDER")+os.Getenv("ZKWARP_SIMT_SANITIZE") != "" {
		t.Skip("wide coordinates say nothing of orders")
	}
	const n = 70
	_, _, g, _ := bls12377.Generators()
	points, scalars := make([]bls12377.G1Affine, n), make([]fr.Element, n)
	for i := range points {
		points[i].ScalarMultiplication(&g, big.NewInt(int64(i))) // the first is infinity
		scalars[i].MustSetRandom()
	}
	ctx, c := context.Background(), zkbls12377.G1
	want, err := c.Host.Sum(ctx, points, scalars)
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		o := msm.WithPiece(msm.Options{Subgroup: msm.Asserted, Check: true, Window: 8}, 32)
		b, err := msm.New(d, c, points, o)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if got, err := b.Sum(ctx, scalars); err != nil || got != want || b.Form() != "bls12377_ed" {
			t.Errorf("in pieces, form %s: %v, %v", b.Form(), got, err)
		}
		on := devicetest.Upload(t, q, points)
		if err := q.Sync(); err != nil {
			t.Fatal(err)
		}
		r, err := msm.NewBuffer(d, c, on, o)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if got, err := r.Sum(ctx, scalars); err != nil || got != want || r.Form() != "bls12377_ed" {
			t.Errorf("from the device, form %s: %v, %v", r.Form(), got, err)
		}
		bad := append([]bls12377.G1Affine{}, points...)
		bad[67].Y.SetOne()
		if _, err := msm.New(d, c, bad, o); !errors.Is(err, msm.ErrInput) || !strings.Contains(err.Error(), "point 67 is not on the curve") {
			t.Errorf("a bad point in the third piece: %v", err)
		}
	})
}

func TestFormMemory(t *testing.T) {
	d, err := device.Open("simt")
	if err != nil {
		t.Skip(err)
	}
	if os.Getenv("ZKWARP_SIMT_ORDER")+os.Getenv("ZKWARP_SIMT_SANITIZE") != "" {
		t.Skip("wide coordinates say nothing of orders")
	}
	const n = 1 << 11
	_, _, g, _ := bls12377.Generators()
	points := make([]bls12377.G1Affine, n)
	for i := range points {
		points[i] = g
	}
	o := msm.WithPiece(msm.Options{Subgroup: msm.Asserted, Window: 8}, 512)
	before := d.InUse()
	defer d.SetBudget(0)
	seen := map[string]bool{}
	for budget := int64(1600 << 10); !seen["none"]; budget -= 64 << 10 {
		d.SetBudget(before + budget)
		b, err := msm.New(d, zkbls12377.G1, points, o)
		form := "none"
		if err == nil {
			form = b.Form()
			b.Close()
		} else if !errors.Is(err, device.ErrNoMemory) {
			t.Fatalf("%d bytes: %v", budget, err)
		}
		if form == "bls12377_ed" && seen["bls12377_g1"] {
			t.Errorf("%d bytes: Edwards form, and not with more", budget)
		}
		seen[form] = true
	}
	if !seen["bls12377_ed"] || !seen["bls12377_g1"] {
		t.Errorf("forms: %v", seen)
	}
	if left := d.InUse(); left != before {
		t.Errorf("%d bytes in use, %d before", left, before)
	}
}
