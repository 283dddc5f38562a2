package transcript

// Domain tags, one a protocol that starts transcripts. They stay below 2^16:
// the tree's leaf hash uses the same permutation with larger tags.
const (
	// TagTest is for tests and benchmarks.
	TagTest = 1
	// TagZKML is the proof of a neural network's inference, with all the
	// protocols it is made of.
	TagZKML = 2
	// TagWHIR is a polynomial commitment opened by itself.
	TagWHIR = 3
	// TagSumcheck is a sum-check by itself.
	TagSumcheck = 4
	// TagLogUp is a lookup argument by itself.
	TagLogUp = 5
)
