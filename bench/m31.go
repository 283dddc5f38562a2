package bench

import "fmt"

// m31Cases are the operations that proofs over Mersenne-31 spend their time in.
func m31Cases() []Case {
	cases := []Case{
		{Suite: "m31", Name: "field-mul-m31", About: "field multiplications, no memory traffic", Kernels: []string{mulChains.kernel}, Run: mulChains.run},
		{Suite: "m31", Name: "poseidon2-m31-w16", About: "permutations, no memory traffic", Kernels: []string{permute16.kernel}, Run: permute16.run},
	}
	add := func(name string, vars int, about string, run func(*Env, int) ([]Measurement, error)) {
		cases = append(cases, Case{Suite: "m31", Name: fmt.Sprintf("%s-2^%d", name, vars), About: about, Large: vars > 20,
			Run: func(e *Env) ([]Measurement, error) { return run(e, vars) }})
	}
	for _, vars := range []int{10, 20, 25} {
		add("fold-ext", vars, "bind one variable: base table by an extension challenge, out of place", foldBase)
		add("fold-qm31", vars, "bind one variable: extension table, in place", foldExtension)
	}
	for _, vars := range []int{10, 14, 20, 25} {
		add("sumcheck-product", vars, "all rounds of the sum of a product of two base tables, transcript included", sumcheckCase(2))
	}
	for _, vars := range []int{10, 20, 25} {
		add("sumcheck-single", vars, "all rounds of the sum of one base table, transcript included", sumcheckCase(1))
	}
	cases = append(cases, merkleCases()...)
	for _, vars := range []int{10, 16, 20, 24} {
		add("logup", vars, "all layers of one tree of fractions: look-ups and the rows of their table", logupCase)
	}
	cases = append(cases, matmulCases()...)
	cases = append(cases, restrictCases()...)
	cases = append(cases, matrixCases()...)
	cases = append(cases, m31CPUCases()...)
	cases = append(cases, exprCases()...)
	return append(cases,
		Case{Suite: "m31", Name: "sumcheck-batch-4096", About: "4096 product sum-checks of mixed sizes up to 2^25, one batch", Large: true, Run: batchCase(4096, 25)},
		Case{Suite: "m31", Name: "sumcheck-batch-64", About: "64 of them, up to 2^12", Run: batchCase(64, 12)})
}
