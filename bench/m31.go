package bench

// m31Cases are the operations that proofs over Mersenne-31 spend their time in.
func m31Cases() []Case {
	return []Case{
		{Suite: "m31", Name: "field-mul-m31", About: "field multiplications, no memory traffic", Kernels: []string{mulChains.kernel}, Run: mulChains.run},
		{Suite: "m31", Name: "poseidon2-m31-w16", About: "permutations, no memory traffic", Kernels: []string{permute16.kernel}, Run: permute16.run},
	}
}
