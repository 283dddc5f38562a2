package bench

import (
	"fmt"

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
	"github.com/zkwarp/zkwarp/msm/bls12377"
	"github.com/zkwarp/zkwarp/msm/bls12381"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/bw6761"
	"github.com/zkwarp/zkwarp/msm/known"
	"github.com/zkwarp/zkwarp/msm/mnt4753"
)

const msmSuite = "msm"

// msmTables is what precomputed multiples may take of a device's memory in the cases
// with tables.
const msmTables = 40 << 30

// msmSpec is one multi-scalar multiplication to measure.
type msmSpec struct {
	log    int    // of the number of points
	kind   string // of scalars; "" is uniform
	tables bool
	pinned bool // scalars in page-locked host memory, otherwise resident
	gpus   int  // more than one

	simulated int // GPUs
}

func (s msmSpec) scalars() string {
	if s.kind == "" {
		return "uniform"
	}
	return s.kind
}

// step tells of a step of a case that takes minutes.
func (s msmSpec) step(e *Env, format string, args ...any) {
	if s.log >= 28 {
		e.step(format, args...)
	}
}

// msmGroup measures one group, whatever its types.
type msmGroup interface {
	run(*Env, msmSpec) ([]Measurement, error)
}

// msmCases are sums of every curve in sizes, distributions of scalars, and ways to hold
// them.
func msmCases() []Case {
	last := &msmPoints{}
	var cases []Case
	add := func(g msmGroup, name, about string, s msmSpec) {
		cases = append(cases, Case{Suite: msmSuite, Name: name, About: about, Large: s.log > 20,
			GPU: s.gpus > 1 || s.pinned || s.tables, Run: func(e *Env) ([]Measurement, error) { return msmSkips(g.run(e, s)) }})
	}
	for _, c := range msmCurves(last) {
		for _, log := range append([]int{8}, c.logs...) {
			name := fmt.Sprintf("%s-2^%d", c.name, log)
			if log > c.resident {
				add(c.g1, name+"-pinned", "sum of 2^n points of G1, scalars in page-locked host memory", msmSpec{log: log, pinned: true})
				continue
			}
			add(c.g1, name, "sum of 2^n points of G1, bases and scalars resident", msmSpec{log: log})
			if log == 8 {
				continue
			}
			if c.pinned {
				add(c.g1, name+"-pinned", "the same, scalars in page-locked host memory", msmSpec{log: log, pinned: true})
			}
			if c.tables && log <= 26 {
				add(c.g1, name+"-tables", "the same with precomputed multiples of the bases", msmSpec{log: log, tables: true})
			}
		}
		if c.g2 != nil {
			for _, log := range []int{8, 20, 22, 24} {
				add(c.g2, fmt.Sprintf("%s-2^%d-g2", c.name, log), "sum of 2^n points of G2", msmSpec{log: log})
			}
		}
		for _, kind := range known.Kinds()[1:] {
			for _, log := range []int{8, c.skew} {
				add(c.g1, fmt.Sprintf("%s-2^%d-skew-%s", c.name, log, kind), "scalars that are not uniform", msmSpec{log: log, kind: kind})
			}
		}
		for _, gpus := range []int{2, 4, 8} {
			for _, log := range c.split {
				add(c.g1, fmt.Sprintf("%s-2^%d-%dgpu", c.name, log, gpus), "the same on so many GPUs, against one of them", msmSpec{log: log, gpus: gpus})
			}
		}
		cases = append(cases, Case{Suite: msmSuite, Name: "tiny-" + c.name, About: "the slower of 2^10 and 2^12 points",
			Run: func(e *Env) ([]Measurement, error) { return msmSkips(tiny(e, c.g1)) }})
	}
	return cases
}

// MaxSimulated is the most GPUs that can be simulated.
const MaxSimulated = 1024

// simulatedCases are shares of so many GPUs that run in turn on the one there is.
func simulatedCases(gpus int) []Case {
	var cases []Case
	for _, c := range msmCurves(&msmPoints{}) {
		for _, log := range append([]int{8}, c.logs...) {
			if log > c.resident {
				continue
			}
			s := msmSpec{log: log, simulated: gpus}
			cases = append(cases, Case{Suite: msmSuite, Name: fmt.Sprintf("%s-2^%d-simulated-%dgpu", c.name, log, gpus),
				About: "a simulation: the shares of so many GPUs in turn on one, the longest counted", Large: log > 20, GPU: true,
				Run: func(e *Env) ([]Measurement, error) { return msmSkips(c.g1.run(e, s)) }})
		}
	}
	return cases
}

// msmCurve is what is measured of a curve.
type msmCurve struct {
	name           string
	g1, g2         msmGroup
	logs           []int
	resident       int   // the largest whose scalars a GPU of 80 GB holds besides the bases
	split          []int // for several GPUs
	skew           int
	pinned, tables bool
}

func msmCurves(last *msmPoints) []msmCurve {
	all := []int{20, 22, 24, 26, 28}
	return []msmCurve{
		{"bn254", msmGroupOf[bn254g.G1Affine, bn254fr.Element, bn254fp.Element](bn254.G1, last),
			msmGroupOf[bn254g.G2Affine, bn254fr.Element, bn254g.E2](bn254.G2, last),
			all, 28, []int{26, 28}, 24, true, true},
		{"bls12-381", msmGroupOf[bls12381g.G1Affine, bls12381fr.Element, bls12381fp.Element](bls12381.G1, last),
			msmGroupOf[bls12381g.G2Affine, bls12381fr.Element, bls12381g.E2](bls12381.G2, last),
			all, 28, []int{26, 28}, 24, true, true},
		{"bls12-377", msmGroupOf[bls12377g.G1Affine, bls12377fr.Element, bls12377fp.Element](bls12377.G1, last),
			msmGroupOf[bls12377g.G2Affine, bls12377fr.Element, bls12377g.E2](bls12377.G2, last),
			all, 28, []int{26, 28}, 24, true, true},
		{"mnt4-753", msmGroupOf[mnt4753g.G1Affine, mnt4753fr.Element, mnt4753fp.Element](mnt4753.G1, last), nil,
			all, 26, []int{26}, 22, false, false},
		{"bw6-761", msmGroupOf[bw6761g.G1Affine, bw6761fr.Element, bw6761fp.Element](bw6761.G1, last),
			msmGroupOf[bw6761g.G2Affine, bw6761fr.Element, bw6761fp.Element](bw6761.G2, last),
			[]int{20, 22, 24}, 24, nil, 22, false, false},
	}
}

// tiny measures two sizes that take no time but the way there and back.
func tiny(e *Env, g msmGroup) ([]Measurement, error) {
	var slower Measurement
	for _, log := range []int{10, 12} {
		found, err := g.run(e, msmSpec{log: log})
		if err != nil {
			return nil, err
		}
		if m := found[0]; slower.Samples == nil || Median(m.Samples) > Median(slower.Samples) {
			slower = m
			slower.Note = fmt.Sprintf("2^%d points; ", log) + m.Note
		}
	}
	return []Measurement{slower}, nil
}
