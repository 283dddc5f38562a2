// Package prover makes the keys and proofs that package zkml verifies.
//
// A proof is made on a device.Queue: the forward pass, multiplicities, lookup
// denominators, fractional sums and sum-checks are operations on device
// buffers; the polynomial commitments run on the host. The bytes of a proof do
// not depend on the device.
package prover
