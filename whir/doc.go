// Package whir is the WHIR multilinear polynomial commitment (ePrint
// 2024/1586): the verifier, the parameters with their chooser and security
// report, and the encoding of proofs. The prover is in whir/prover.
//
// A commitment is to a table of 2^m symbols, the values of a multilinear
// polynomial f on the cube; the first variable is the top bit of the index. An
// opening proves claims <w, f> = v, among them evaluations f(z) = v. Only
// proven bounds are used: every round is within the unique decoding or the
// Johnson radius.
//
// The protocol is generic over the symbols F and the challenges E, which are
// extensions of one prime field whose elements are 32-bit words W. CM31 is the
// instance over the Mersenne-31 extensions; on top of it the M31 types pack
// two Mersenne-31 values into a symbol.
//
// docs/whir.md describes the protocol, the encoding and the soundness.
package whir
