package cli

import (
	"bytes"
	"context"
	"math/big"
	"slices"
	"unsafe"

	bls12377g "github.com/consensys/gnark-crypto/ecc/bls12-377"
	bls12377fp "github.com/consensys/gnark-crypto/ecc/bls12-377/fp"
	bls12377fr "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	bls12381g "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bn254g "github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fp "github.com/consensys/gnark-crypto/ecc/bn254/fp"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	bw6761g "github.com/consensys/gnark-crypto/ecc/bw6-761"
	bw6761fp "github.com/consensys/gnark-crypto/ecc/bw6-761/fp"
	bw6761fr "github.com/consensys/gnark-crypto/ecc/bw6-761/fr"

	mnt4753g "github.com/zkwarp/zkwarp/curve/mnt4753"
	mnt4753fp "github.com/zkwarp/zkwarp/curve/mnt4753/fp"
	mnt4753fr "github.com/zkwarp/zkwarp/curve/mnt4753/fr"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bls12377"
	"github.com/zkwarp/zkwarp/msm/bls12381"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/bw6761"
	"github.com/zkwarp/zkwarp/msm/known"
	"github.com/zkwarp/zkwarp/msm/mnt4753"
	"github.com/zkwarp/zkwarp/msm/msmfile"
)

// msmGroup is a group of points, whatever its types.
type msmGroup interface {
	units() []*kernel.Source
	read(a *app, points, scalars string) (msmInput, error)
	// sample makes files of n points and scalars, and their sum.
	sample(n int, seed uint64, kind string) (points, scalars []byte, r msmResult, err error)
}

// msmInput is one multi-scalar multiplication to do.
type msmInput interface {
	len() int
	upload(*device.Device, msm.Options) error
	sum(context.Context) error
	result() msmResult
	encode() ([]byte, error) // the result's file
	close()
}

var msmGroups = []struct {
	curve  string
	second bool // G2
	group  msmGroup
}{
	{"bn254", false, msmOf[bn254g.G1Affine, bn254fr.Element, bn254fp.Element](bn254.G1, bn254.G1Files)},
	{"bn254", true, msmOf[bn254g.G2Affine, bn254fr.Element, bn254g.E2](bn254.G2, bn254.G2Files)},
	{"bls12-377", false, msmOf[bls12377g.G1Affine, bls12377fr.Element, bls12377fp.Element](bls12377.G1, bls12377.G1Files)},
	{"bls12-377", true, msmOf[bls12377g.G2Affine, bls12377fr.Element, bls12377g.E2](bls12377.G2, bls12377.G2Files)},
	{"bls12-381", false, msmOf[bls12381g.G1Affine, bls12381fr.Element, bls12381fp.Element](bls12381.G1, bls12381.G1Files)},
	{"bls12-381", true, msmOf[bls12381g.G2Affine, bls12381fr.Element, bls12381g.E2](bls12381.G2, bls12381.G2Files)},
	{"bw6-761", false, msmOf[bw6761g.G1Affine, bw6761fr.Element, bw6761fp.Element](bw6761.G1, bw6761.G1Files)},
	{"bw6-761", true, msmOf[bw6761g.G2Affine, bw6761fr.Element, bw6761fp.Element](bw6761.G2, bw6761.G2Files)},
	{"mnt4-753", false, msmOf[mnt4753g.G1Affine, mnt4753fr.Element, mnt4753fp.Element](mnt4753.G1, mnt4753.G1Files)},
}

func msmCurves() (out []string) {
	for _, g := range msmGroups {
		if !slices.Contains(out, g.curve) {
			out = append(out, g.curve)
		}
	}
	return out
}

func msmKinds() []string { return known.Kinds() }

type typedGroup[P known.Affine[E], S, E any, F weierstrass.Field[E], M known.Scalar[S]] struct {
	curve *msm.Curve[P, S]
	files *msmfile.Format[P, S]
}

func msmOf[P known.Affine[E], S, E any, F weierstrass.Field[E], M known.Scalar[S]](c *msm.Curve[P, S], f *msmfile.Format[P, S]) msmGroup {
	return typedGroup[P, S, E, F, M]{c, f}
}

func (g typedGroup[P, S, E, F, M]) units() []*kernel.Source { return g.curve.Units() }

func (g typedGroup[P, S, E, F, M]) read(a *app, points, scalars string) (msmInput, error) {
	in := &typedInput[P, S]{curve: g.curve, files: g.files}
	err := func() error {
		f, err := a.openRead("points", points)
		if err != nil {
			return err
		}
		defer f.Close()
		r, err := g.files.Points(f)
		if err == nil {
			in.points, err = r.All()
		}
		if err != nil {
			return inputError("points %s: %w", points, plainFS(err))
		}
		return nil
	}()
	if err != nil {
		return nil, err
	}
	f, err := a.openRead("scalars", scalars)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := g.files.Scalars(f)
	if err == nil && r.Len() != len(in.points) {
		return nil, inputError("scalars %s: %d scalars for the %d points of %s; there must be one for each", scalars, r.Len(), len(in.points), points)
	}
	if err == nil {
		in.scalars, err = r.All()
	}
	if err != nil {
		return nil, inputError("scalars %s: %w", scalars, plainFS(err))
	}
	return in, nil
}

func (g typedGroup[P, S, E, F, M]) sample(n int, seed uint64, kind string) (points, scalars []byte, r msmResult, err error) {
	b := known.New[P, S, E, F, M](g.curve, seed, n)
	s, err := b.Scalars(kind, seed, n)
	if err != nil {
		return nil, nil, r, err
	}
	var p, q bytes.Buffer
	if err := g.files.WritePoints(&p, b.Points, msmfile.Raw); err != nil {
		return nil, nil, r, err
	}
	if err := g.files.WriteScalars(&q, s); err != nil {
		return nil, nil, r, err
	}
	in := &typedInput[P, S]{curve: g.curve, total: b.Expected(s)}
	return p.Bytes(), q.Bytes(), in.result(), nil
}

type typedInput[P, S any] struct {
	curve   *msm.Curve[P, S]
	files   *msmfile.Format[P, S]
	points  []P
	scalars []S
	bases   *msm.Bases[P, S]
	total   P
}

func (in *typedInput[P, S]) len() int { return len(in.points) }

func (in *typedInput[P, S]) upload(d *device.Device, o msm.Options) (err error) {
	in.bases, err = msm.New(d, in.curve, in.points, o)
	return err
}

func (in *typedInput[P, S]) sum(ctx context.Context) (err error) {
	in.total, err = in.bases.Sum(ctx, in.scalars)
	return err
}

func (in *typedInput[P, S]) close() { in.bases.Close() }

func (in *typedInput[P, S]) encode() ([]byte, error) {
	var b bytes.Buffer
	err := in.files.WritePoints(&b, []P{in.total}, msmfile.Raw)
	return b.Bytes(), err
}

// result reads the coordinates off the words of the point, whose layout is the same
// for all groups.
func (in *typedInput[P, S]) result() msmResult {
	g := in.curve.Group
	r := msmResult{Curve: g.Curve, Group: "G1", Infinity: true}
	if g == bn254.G2.Group || g == bls12377.G2.Group || g == bls12381.G2.Group || g == bw6761.G2.Group {
		r.Group = "G2"
	}
	words := unsafe.Slice((*uint32)(unsafe.Pointer(&in.total)), g.AffineBytes()/4)
	var numbers []string
	for ; len(words) > 0; words = words[g.Base.Limbs:] {
		v := g.Base.FromMontgomery(words[:g.Base.Limbs])
		r.Infinity = r.Infinity && v.Sign() == 0
		numbers = append(numbers, hexNumber(v))
	}
	if !r.Infinity {
		r.X, r.Y = numbers[:g.Degree], numbers[g.Degree:]
	}
	return r
}

func hexNumber(v *big.Int) string { return "0x" + v.Text(16) }
