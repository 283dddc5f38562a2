// Package kernels lists the module's CUDA translation units, for the checks that
// go over all of them.
package kernels

//go:generate go run ../tools/kerneldoc -root ../..

import (
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/bench"
	bits "github.com/zkwarp/zkwarp/bitproof/prover"
	curve "github.com/zkwarp/zkwarp/curve/conformance"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/device/ptxtest"
	fields "github.com/zkwarp/zkwarp/field/conformance"
	fp64 "github.com/zkwarp/zkwarp/field/fp64/conformance"
	gf2 "github.com/zkwarp/zkwarp/field/gf2/conformance"
	m31 "github.com/zkwarp/zkwarp/field/m31/conformance"
	fribinius "github.com/zkwarp/zkwarp/fribinius/prover"
	poseidon2 "github.com/zkwarp/zkwarp/hash/poseidon2/conformance"
	logup "github.com/zkwarp/zkwarp/logup/prover"
	matrix "github.com/zkwarp/zkwarp/matrix/prover"
	merkle "github.com/zkwarp/zkwarp/merkle/prover"
	mle "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
	additive "github.com/zkwarp/zkwarp/ntt/additive/prover"
	ntt "github.com/zkwarp/zkwarp/ntt/prover"
	"github.com/zkwarp/zkwarp/ntt/scalar"
	binary "github.com/zkwarp/zkwarp/sumcheck/binary/prover"
	sumcheck "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
	tower "github.com/zkwarp/zkwarp/transcript/tower/prover"
	whir "github.com/zkwarp/zkwarp/whir/prover"
	zkml "github.com/zkwarp/zkwarp/zkml/prover"
)

// All is every translation unit, one for each .cu file of the repository.
func All() []*kernel.Source {
	return slices.Concat(
		bench.MSMFieldSources(),
		binary.Sources(),
		bits.Sources(),
		curve.Sources(),
		bench.ProductSources(),
		fields.Sources(),
		fixedbase.Sources(),
		fp64.Sources(),
		fribinius.Sources(),
		merkle.Sources(),
		ntt.Sources(),
		msm.Sources(),
		poseidon2.Sources(),
		scalar.Sources(),
		sumcheck.Sources(),
		transcript.Sources(),
		whir.Sources(),
		[]*kernel.Source{
			additive.Source,
			bench.ArithSource,
			bench.BN254Source,
			bench.CardSource,
			bench.BabyBearHashSource,
			bench.KoalaBearHashSource,
			bench.RandomSource,
			gf2.Source,
			logup.Source,
			logup.TailSource,
			m31.Source,
			matrix.ResidueSource,
			matrix.Source,
			mle.RestrictSource,
			mle.Source,
			ptxtest.Source,
			tower.Source,
			zkml.ClaimsSource,
			zkml.FactorsSource,
			zkml.LeavesSource,
			zkml.Source,
		},
	)
}

// Generated is the units that are written at run time, for a fixed set of
// expressions.
func Generated() []*kernel.Source {
	var out []*kernel.Source
	for _, e := range sumchecktest.Examples() {
		out = append(out, sumcheck.ExprSources(e)...)
	}
	return out
}

// Program is the units that verbs and provers use: All without those of tests and
// measurements.
func Program() []*kernel.Source {
	return slices.DeleteFunc(All(), func(s *kernel.Source) bool {
		return strings.HasPrefix(s.Name, "bench/") || strings.Contains(s.Name, "conformance") || strings.Contains(s.Name, "ptxtest") ||
			strings.Contains(s.Name, ".toy61")
	})
}
