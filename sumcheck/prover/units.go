package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

//go:embed round.cuh
var roundText string

//go:embed batch.cuh
var batchText string

//go:embed window.cuh
var windowText string

//go:embed pass.cuh
var passText string

//go:embed line.cuh
var lineText string

//go:embed tail.cuh
var tailText string

//go:embed sumcheck.cu
var sumcheckText string

//go:embed terms.cu
var termsText string

//go:embed linear.cu
var linearText string

//go:embed product1.cu
var product1Text string

//go:embed product2.cu
var product2Text string

//go:embed product3.cu
var product3Text string

//go:embed stacks.cu
var stacksText string

// unit is a source of this folder.
func unit(name, text string, headers ...*kernel.Source) *kernel.Source {
	return &kernel.Source{Name: "sumcheck/prover/" + name, Text: text, Headers: headers}
}

// Headers for kernels of other folders: RoundHeader for what happens between two
// rounds, PassHeader for passes over a batch by summands of their own, TailHeader
// for its tail.
var (
	RoundHeader  = unit("round.cuh", roundText, m31.Header, transcript.Header)
	batchHeader  = unit("batch.cuh", batchText, RoundHeader)
	windowHeader = unit("window.cuh", windowText, batchHeader)
	PassHeader   = unit("pass.cuh", passText, windowHeader)
	lineHeader   = unit("line.cuh", lineText, PassHeader)
	TailHeader   = unit("tail.cuh", tailText, lineHeader)
)

// Source has the kernels that every batch needs, linearSource those for one large
// table, stacksSource those for stacks; termsSource and productSources have the passes of the summands that are
// built in.
var (
	Source         = unit("sumcheck.cu", sumcheckText, kernel.PTX, TailHeader)
	linearSource   = unit("linear.cu", linearText, kernel.PTX, batchHeader)
	termsSource    = unit("terms.cu", termsText, kernel.PTX, lineHeader)
	productSources = [...]*kernel.Source{
		unit("product1.cu", product1Text, kernel.PTX, PassHeader),
		unit("product2.cu", product2Text, kernel.PTX, PassHeader),
		unit("product3.cu", product3Text, kernel.PTX, PassHeader),
	}
	stacksSource = unit("stacks.cu", stacksText, kernel.PTX, batchHeader)
)

// Sources lists the package's units.
func Sources() []*kernel.Source {
	return append([]*kernel.Source{Source, linearSource, termsSource, stacksSource}, productSources[:]...)
}

// kernelSet is the kernels for one kind of summand.
type kernelSet struct {
	source *kernel.Source
	// pass serves instances of all forms; firstPass, if there is one, those that
	// join with tables of words.
	pass, firstPass string
	// first is the largest window of instances that join and whose tables are all
	// words, next that of all others.
	first, next int
	perUnit     int // blocks of it that a multiprocessor holds; 0: perUnit
	// tail serves the last rounds of batches all of whose instances have it. Its
	// kernel is called as sumcheck_tail is.
	tail device.Kernel
	// kind is what the tail knows the summand as.
	kind uint64
	// mixed says that sums are of the batch's degree, whatever the instance's.
	mixed bool
}

var (
	builtInTail  = device.Kernel{Source: Source, Name: "sumcheck_tail"}
	termsKernels = &kernelSet{source: termsSource, pass: "sumcheck_terms", first: 1, next: 1, tail: builtInTail, mixed: true}
	// productKernels are by the number of factors, and then without and with eq.
	productKernels = [sumcheck.MaxDegree][2]*kernelSet{
		{
			{source: productSources[0], pass: "sumcheck_product1", first: 3, next: 2, tail: builtInTail, kind: 1},
			{source: productSources[0], pass: "sumcheck_eq_product1", first: 2, next: 2, tail: builtInTail, kind: 1},
		}, {
			{source: productSources[1], pass: "sumcheck_product2", firstPass: "sumcheck_product2_first", first: 3, next: 2, tail: builtInTail, kind: 2},
			{source: productSources[1], pass: "sumcheck_eq_product2", first: 2, next: 2, perUnit: 3, tail: builtInTail, kind: 2},
		}, {
			{source: productSources[2], pass: "sumcheck_product3", first: 2, next: 1, tail: builtInTail, kind: 3},
			{source: productSources[2], pass: "sumcheck_eq_product3", first: 1, next: 1, tail: builtInTail, kind: 3},
		},
	}
)

// kernels is the set that serves an instance.
func kernels(in Instance) *kernelSet {
	if in.Expr != nil {
		return &kernelsOf(in.Expr).kernelSet
	}
	if in.Terms != nil || in.Coeffs.Len() > 0 {
		return termsKernels
	}
	if in.Eq {
		return productKernels[in.Factors-1][1]
	}
	return productKernels[in.Factors-1][0]
}
