package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed bdt.cuh
var bdtHeaderText string

//go:embed bdt.cu
var bdtText string

//go:embed bdt_terms.cu
var bdtTermsText string

//go:embed bdt_round.cu
var bdtRoundText string

// The units of the paper's algorithms: bdtSource works on sliced tables, bdtTermsSource has
// BDT-2's sums, bdtRoundSource what is between two passes.
var (
	bdtHeader      = bdtUnit("bdt.cuh", bdtHeaderText, kernel.PTX)
	bdtSource      = bdtUnit("bdt.cu", bdtText, bdtHeader)
	bdtTermsSource = bdtUnit("bdt_terms.cu", bdtTermsText, bdtHeader)
	bdtRoundSource = bdtUnit("bdt_round.cu", bdtRoundText, bdtHeader, roundHeader)
)

func bdtUnit(name, text string, headers ...*kernel.Source) *kernel.Source {
	return &kernel.Source{Name: "sumcheck/binary/prover/" + name, Text: text, Headers: headers}
}

// bdtSources is the units of this file.
func bdtSources() []*kernel.Source {
	return []*kernel.Source{bdtSource, bdtTermsSource, bdtRoundSource}
}

// What bdt.cuh calls BDT_THREADS, and BDT_SHARED in bytes.
const (
	bdtThreads = 256
	bdtShared  = 4 * (9*1024 + 16*1024)
)

// points is where a message of a sum of that degree has values: 0, 2, .., d.
func points(degree int) []int {
	out := []int{0}
	for y := 2; y <= degree; y++ {
		out = append(out, y)
	}
	return out
}

// termsKernel is the kernel for so many terms of one value of p_1's variables, and how
// many of them a block sums.
func termsKernel(terms int) (name string, width int) {
	switch {
	case terms <= 4:
		return "binary_terms_4", 4
	case terms <= 8:
		return "binary_terms_8", 8
	}
	return "binary_terms_16", 16
}
