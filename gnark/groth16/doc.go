// Package groth16 is gnark's backend/groth16 with the prover of zkwarp, which works on
// NVIDIA GPUs where there are any. A program of gnark's changes its import,
//
//	import "github.com/zkwarp/zkwarp/gnark/groth16" // "github.com/consensys/gnark/backend/groth16"
//
// and nothing else: all names of gnark's package are here, and constraint systems,
// keys, witnesses and proofs are gnark's own. Verify calls gnark's function.
//
// [Prove] keeps the keys that it was last used with on the device. Programs that want to
// say which device, how much memory, or which verifying key each proof is checked with
// make a [Prover] for a key.
//
// What is computed where, and what is checked, is in docs/groth16.md.
package groth16

//go:generate go run ./internal/gen
