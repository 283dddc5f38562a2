package prover

// Memory estimates the bytes that a device must have for a proof: for what
// depends on the key alone, and for the proof itself. A proof that has less
// fails at once.
func (pk *ProvingKey) Memory() (key, proof int64, err error) {
	l, err := pk.layout()
	if err != nil {
		return 0, 0, err
	}
	key, proof = l.least()
	return key, proof, nil
}
