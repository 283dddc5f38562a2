package bench

// whirCases are the polynomial commitments and what they are made of.
func whirCases() []Case {
	return append(hashCases(), treeCases()...)
}
