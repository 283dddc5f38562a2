package bn254_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	gnark "github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/kzg"
	"github.com/zkwarp/zkwarp/gnark/kzg/bn254"
	group "github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
)

// BenchmarkCommitter is commitments and openings by gnark-crypto, and by a Committer on the
// device that ZKWARP_DEVICE names, or the first GPU. What they make is compared.
func BenchmarkCommitter(b *testing.B) {
	d, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	for _, log := range []int{10, 12, 14, 16, 18, 20, 22, 24} {
		b.Run(fmt.Sprintf("2^%d", log), func(b *testing.B) { benchmark(b, d, powers(b, d, 1<<log)) })
	}
}

// powers is a key of n powers of a random number, which the device makes.
func powers(b *testing.B, d *device.Device, n int) gnark.ProvingKey {
	_, _, base, _ := curve.Generators()
	table, err := fixedbase.New(d, group.G1, group.G1Multiples, base, fixedbase.Options{N: n})
	if err != nil {
		b.Fatal(err)
	}
	defer table.Close()
	alpha, power := random(1)[0], fr.One()
	points := make([]curve.G1Affine, n)
	err = table.MultiplyFunc(b.Context(), points, func(to []fr.Element, _ int) error {
		for i := range to {
			to[i] = power
			power.Mul(&power, &alpha)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return gnark.ProvingKey{G1: points}
}

func benchmark(b *testing.B, d *device.Device, pk gnark.ProvingKey) {
	const several = 6
	n, ctx := len(pk.G1), context.Background()
	p, point := random(n), random(1)[0]
	polynomials := slices.Repeat([][]fr.Element{p}, several)
	c, err := bn254.New(pk, kzg.WithDevice(d.Name()))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	digest, err := c.Commit(p)
	if err != nil {
		b.Fatal(err)
	}
	digests := slices.Repeat([]gnark.Digest{digest}, several)
	// run is ours and theirs, whose results are the same.
	run := func(name string, each int, ours, theirs func() (any, error)) {
		var results []string
		for _, who := range []struct {
			name string
			f    func() (any, error)
		}{{d.Name(), ours}, {"gnark", theirs}} {
			b.Run(name+"/"+who.name, func(b *testing.B) {
				var got any
				for b.Loop() {
					if got, err = who.f(); err != nil {
						b.Fatal(err)
					}
				}
				results = append(results, fmt.Sprint(got))
				b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N*each), "ms/polynomial")
			})
		}
		for _, r := range results {
			if r != results[0] {
				b.Errorf("%d coefficients: %s: not what gnark-crypto makes", n, name)
			}
		}
	}
	run("commit", 1, func() (any, error) { return c.Commit(p) }, func() (any, error) { return gnark.Commit(p, pk) })
	run("open", 1, func() (any, error) { return c.Open(ctx, p, point) }, func() (any, error) { return gnark.Open(p, point, pk) })
	run("open 6 at once", several, func() (any, error) {
		return c.BatchOpenSinglePoint(ctx, polynomials, digests, point, sha256.New())
	}, func() (any, error) {
		return gnark.BatchOpenSinglePoint(polynomials, digests, point, sha256.New(), pk)
	})
	run("commit to 6", several, func() (any, error) { return c.CommitMany(ctx, polynomials) }, func() (any, error) {
		out := make([]gnark.Digest, several)
		for i, p := range polynomials {
			if out[i], err = gnark.Commit(p, pk); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}
