// Package engine is what the pages ask for, in Go: to verify files that were
// dropped on them, and to commit to a table and open it. It compiles to
// WebAssembly (folder wasm), and its tests run natively.
package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/whirfile"
	"github.com/zkwarp/zkwarp/whir/whirfile/prover"
)

// Report is the outcome of a verification, for JSON.
type Report struct {
	// Verdict is "accepted", "rejected" or "malformed".
	Verdict string `json:"verdict"`
	// Check that failed, and why; for malformed files the reason alone.
	Check  string `json:"check,omitempty"`
	Reason string `json:"reason,omitempty"`
	// What the files say, as far as they could be read.
	Parameters *whirfile.Description `json:"parameters,omitempty"`
	Commitment string                `json:"commitment,omitempty"` // SHA-256 of the file
	Claims     []whirfile.Claim      `json:"claims,omitempty"`
	ClaimCount int                   `json:"claim_count"`
	ProofBytes int                   `json:"proof_bytes"`
	VerifyMS   float64               `json:"verify_ms"`
}

// shown is how many claims a report lists.
const shown = 8

// Verify reads a bundle, or a commitment, claims and a proof in any order, and
// verifies.
func Verify(files ...[]byte) *Report {
	r := &Report{Verdict: "malformed"}
	b, err := read(files)
	if err != nil {
		r.Reason = err.Error()
		return r
	}
	digest := b.Commitment.Digest()
	r.Parameters, r.Commitment = b.Commitment.Params.Describe(), fmt.Sprintf("%x", digest)
	r.ClaimCount, r.Claims = len(b.Claims), b.Claims[:min(len(b.Claims), shown)]
	r.ProofBytes = len(b.Proof.Encode())
	start := time.Now()
	err = b.Verify()
	r.VerifyMS = milliseconds(start)
	var rejection *whirfile.Rejection
	switch {
	case err == nil:
		r.Verdict = "accepted"
	case errors.As(err, &rejection):
		r.Verdict, r.Check = "rejected", rejection.Check
		if rejection.Err != nil {
			r.Reason = rejection.Err.Error()
		}
	default:
		r.Reason = err.Error()
	}
	return r
}

// read sorts files out by their first bytes.
func read(files [][]byte) (*whirfile.Bundle, error) {
	b := &whirfile.Bundle{}
	for _, f := range files {
		var err error
		switch magic := string(f[:min(8, len(f))]); {
		case magic == whirfile.MagicBundle:
			if len(files) > 1 {
				return nil, fmt.Errorf("a bundle comes alone: %d files", len(files))
			}
			return whirfile.DecodeBundle(f)
		case magic == whirfile.MagicCommitment && b.Commitment == nil:
			b.Commitment, err = whirfile.DecodeCommitment(f)
		case magic == whirfile.MagicProof && b.Proof == nil:
			b.Proof, err = whirfile.DecodeProof(f)
		case magic == whirfile.MagicKey:
			return nil, errors.New("a file is an opening key, which is for its owner only: verifying takes the .whir file")
		case bytes.HasPrefix(bytes.TrimLeft(f, " \t\r\n"), []byte("{")) && b.Claims == nil:
			b.Claims, err = whirfile.DecodeClaims(f)
		default:
			return nil, fmt.Errorf("a file of %d bytes is neither a bundle nor a commitment, claims or proof, or there are two of a kind", len(f))
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case b.Commitment == nil:
		return nil, errors.New("the commitment (.whir) is missing")
	case b.Claims == nil:
		return nil, errors.New("the claims (.claims.json) are missing")
	case b.Proof == nil:
		return nil, errors.New("the proof (.proof) is missing")
	}
	return b, nil
}

// MaxVars bounds tables made here: 2^18 elements.
const MaxVars = 18

// Options say what to prove.
type Options struct {
	// Scheme by name, such as "m31-poseidon2".
	Scheme string `json:"scheme"`
	// Vars is log2 of the number of elements of a random table. It is not used
	// where there is a table.
	Vars int `json:"vars"`
	// Seed of the random table and point.
	Seed string `json:"seed"`
	// Bits of every line of the security table.
	Bits int `json:"bits"`
}

// Made is a proof with what it took.
type Made struct {
	Report     *Report `json:"report"` // of verifying it
	CommitMS   float64 `json:"commit_ms"`
	OpenMS     float64 `json:"open_ms"`
	EvaluateMS float64 `json:"evaluate_ms"`
	Elements   int     `json:"elements"`
	// Bundle is the file.
	Bundle []byte `json:"-"`
}

// Prove commits to a table (the contents of a file, or random if nil), opens it
// at a random point and verifies the opening. It calls progress as each stage
// begins.
func Prove(ctx context.Context, o Options, table []byte, progress func(stage string)) (*Made, error) {
	s, err := whirfile.Find(o.Scheme)
	if err != nil {
		return nil, err
	}
	if o.Bits < 1 || o.Bits > 128 {
		return nil, fmt.Errorf("%d bits of security, want 1 to 128", o.Bits)
	}
	vars := o.Vars
	var words []uint32
	if table != nil {
		progress("reading the table")
		if words, err = whirfile.ReadTable(table, s.Spec().Modulus); err != nil {
			return nil, err
		}
		if vars, err = s.TableVars(len(words)); err != nil {
			return nil, err
		}
	}
	if vars < 1 || vars > MaxVars {
		return nil, fmt.Errorf("a table of 2^%d elements, this page takes 2^1 to 2^%d", vars, MaxVars)
	}
	progress("choosing parameters")
	p, err := s.Choose(vars, whir.Options{Lambda: o.Bits})
	if err != nil {
		return nil, err
	}
	if words == nil {
		words = p.RandomTable(o.Seed)
	}
	dev, err := device.Open("cpu")
	if err != nil {
		return nil, err
	}
	q, err := dev.NewQueue(ctx)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	m := &Made{Elements: 1 << vars}
	progress("committing")
	start := time.Now()
	c, err := prover.Commit(q, p, words)
	if err != nil {
		return nil, err
	}
	m.CommitMS = milliseconds(start)
	progress("evaluating")
	start = time.Now()
	claims, err := c.Evaluate([]whirfile.Claim{{Kind: whirfile.Eval, Point: p.RandomPoint(o.Seed, vars)}})
	if err != nil {
		return nil, err
	}
	m.EvaluateMS = milliseconds(start)
	progress("opening")
	start = time.Now()
	proof, err := c.Open(q, claims)
	if err != nil {
		return nil, err
	}
	m.OpenMS = milliseconds(start)
	progress("verifying")
	m.Bundle = (&whirfile.Bundle{Commitment: c.Commitment(), Claims: claims, Proof: proof}).Encode()
	m.Report = Verify(m.Bundle)
	return m, nil
}

// Schemes lists the names for Options with what they stand for.
func Schemes() (out [][2]string) {
	for _, s := range whirfile.Schemes() {
		out = append(out, [2]string{s.Name(), s.About})
	}
	return out
}

func milliseconds(since time.Time) float64 {
	return float64(time.Since(since).Microseconds()) / 1000
}
