// Package whirfile keeps WHIR commitments, claims and proofs in files, and
// verifies them: the half of `zkwarp whir` that needs no device, also for
// browsers. whir/whirfile/prover makes the files.
//
// A scheme is a pair of fields and a hash, known by name. Everything here is
// over canonical 32-bit words, so that one program serves all schemes. A
// transcript holds nothing but the commitment and the claims: a proof can be
// made and checked at any time after the commitment.
//
// docs/whir-files.md has the formats.
package whirfile
