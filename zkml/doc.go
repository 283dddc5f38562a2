// Package zkml proves that an integer program, run with committed weights on an
// input, gives an output. Inputs and outputs are public, or committed by salted
// roots where the key says so (Commits).
//
// The statement is about package graph's interpreter: graph.Run with the
// weights that the key commits to maps x to exactly y. Package zkml is the half
// that verifies: keys, proofs, the security budget and Verify; package
// zkml/prover makes keys and proofs on a device. Both walk the plan that package
// plan derives from the program.
//
// Proofs are succinct and binding. They are not zero-knowledge: round
// polynomials and evaluations leak linear combinations of weights and
// activations.
//
// docs/protocol.md is the normative description.
package zkml
