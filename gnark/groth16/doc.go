// Package groth16 stands in for gnark's backend/groth16: it has gnark's exported names,
// over gnark's own constraint systems, keys, witnesses and proofs.
package groth16
