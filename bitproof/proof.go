package bitproof

import (
	encoding "encoding/binary"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
)

// Magic begins a file with a proof.
const Magic = "ZKWBITS\n"

// version of the format of proofs.
const version = 1

// headerBytes is the length of magic, version and the statement's digest.
const headerBytes = len(Magic) + 4 + 32

// Proof that the committed columns obey a statement. Its lengths follow from the
// statement.
type Proof struct {
	Root fribinius.Root
	// AtZ are the columns' values at the rows' part of the zero-check's point.
	AtZ []gf2.Element
	// Gates is the zero-check's sum-check, and AtGates the columns' values at the rows'
	// part of its end. Both are nil, and so is Join, without AND gates.
	Gates   *binary.Proof
	AtGates []gf2.Element
	// Join is the sum-check that brings both points together.
	Join    *binary.Proof
	Opening *fribinius.Proof
}

// Names of the checks that Verify makes, in their order.
const (
	CheckFormat    = "format"
	CheckStatement = "statement digest"
	CheckZeros     = "XOR gates"
	CheckGates     = "zero-check"
	CheckFactors   = "factors of AND gates"
	CheckJoin      = "sum-check of both points"
	CheckWeight    = "weight of both points"
	CheckOpening   = "opening"
)

// ErrRejected is the class of errors for proofs that are not accepted.
var ErrRejected = errors.New("bitproof: rejected")

// Rejection says which check a proof failed, and why.
type Rejection struct {
	Check string
	Err   error // what is behind it, or nil
}

func (r *Rejection) Error() string {
	if r.Err == nil {
		return r.Check
	}
	return r.Check + ": " + r.Err.Error()
}

// Unwrap makes it an ErrRejected, and the error behind it.
func (r *Rejection) Unwrap() []error {
	if r.Err == nil {
		return []error{ErrRejected}
	}
	return []error{ErrRejected, r.Err}
}

func reject(check, format string, args ...any) error {
	return &Rejection{check, fmt.Errorf(format, args...)}
}

// AppendProof appends the proof as a file: Magic; the version, a little-endian 32-bit
// number; the statement's digest; the root's 8 words; AtZ; the messages of Gates, round
// by round, and its evaluations; AtGates; Join like Gates; and Opening, in the encoding of
// package fribinius. Elements are 16 bytes, little-endian.
func (p *Params) AppendProof(b []byte, pf *Proof) ([]byte, error) {
	if err := p.checkProof(pf); err != nil {
		return nil, err
	}
	b = append(b, Magic...)
	b = encoding.LittleEndian.AppendUint32(b, version)
	b = append(b, p.digest[:]...)
	for _, w := range pf.Root {
		b = encoding.LittleEndian.AppendUint32(b, w)
	}
	b = appendElements(b, pf.AtZ)
	if p.hasAnds() {
		b = appendSumcheck(b, pf.Gates)
		b = appendElements(b, pf.AtGates)
		b = appendSumcheck(b, pf.Join)
	}
	return p.commit.AppendProof(b, pf.Opening)
}

func appendElements(b []byte, list []gf2.Element) []byte {
	for _, e := range list {
		v := e.Bytes()
		b = append(b, v[:]...)
	}
	return b
}

func appendSumcheck(b []byte, pf *binary.Proof) []byte {
	for _, message := range pf.Rounds {
		b = appendElements(b, message)
	}
	return appendElements(b, pf.Evals)
}

// DecodeProof reads a proof from exactly data. Errors are Rejections: of CheckFormat
// where data is no such file, of CheckStatement where it is about another statement.
func (p *Params) DecodeProof(data []byte) (*Proof, error) {
	digest, err := ProofStatement(data)
	if err != nil {
		return nil, err
	}
	if digest != p.digest {
		return nil, reject(CheckStatement, "the proof is about statement %x, want %x", digest[:8], p.digest[:8])
	}
	r := &reader{taken: headerBytes, rest: data[headerBytes:]}
	pf := &Proof{}
	r.root(&pf.Root)
	columns := len(p.statement.Names)
	pf.AtZ = r.elements(columns)
	if p.hasAnds() {
		pf.Gates = r.sumcheck(p.gateShape())
		pf.AtGates = r.elements(columns)
		pf.Join = r.sumcheck(p.joinShape())
	}
	if r.err != nil {
		return nil, r.err
	}
	if pf.Opening, err = p.commit.DecodeProof(r.rest); err != nil {
		return nil, &Rejection{CheckFormat, fmt.Errorf("opening: %w", err)}
	}
	return pf, nil
}

// ProofStatement is the digest of the statement that a proof names.
func ProofStatement(data []byte) (digest [32]byte, err error) {
	if got := data[:min(len(data), len(Magic))]; string(got) != Magic {
		return digest, reject(CheckFormat, "no proof about columns of bits: it begins with %q, want %q", got, Magic)
	}
	if len(data) < headerBytes {
		return digest, reject(CheckFormat, "%d bytes, want at least %d", len(data), headerBytes)
	}
	if v := encoding.LittleEndian.Uint32(data[len(Magic):]); v != version {
		return digest, reject(CheckFormat, "version %d, want %d", v, version)
	}
	copy(digest[:], data[len(Magic)+4:])
	return digest, nil
}

// ProofRoot is the root that a proof is about.
func ProofRoot(data []byte) (root fribinius.Root, err error) {
	if _, err := ProofStatement(data); err != nil {
		return root, err
	}
	r := &reader{taken: headerBytes, rest: data[headerBytes:]}
	r.root(&root)
	return root, r.err
}

// reader takes fixed lengths off the front of a file.
type reader struct {
	taken int
	rest  []byte
	err   error
}

func (r *reader) bytes(n int) []byte {
	if r.err == nil && len(r.rest) < n {
		r.err = reject(CheckFormat, "%d bytes, want at least %d", r.taken+len(r.rest), r.taken+n)
	}
	if r.err != nil {
		return nil
	}
	out := r.rest[:n]
	r.taken, r.rest = r.taken+n, r.rest[n:]
	return out
}

func (r *reader) root(root *fribinius.Root) {
	if data := r.bytes(4 * len(root)); r.err == nil {
		for i := range root {
			root[i] = encoding.LittleEndian.Uint32(data[4*i:])
		}
	}
}

func (r *reader) elements(n int) []gf2.Element {
	data := r.bytes(16 * n)
	if r.err != nil {
		return nil
	}
	out := make([]gf2.Element, n)
	for i := range out {
		out[i] = gf2.FromBytes([16]byte(data[16*i:]))
	}
	return out
}

func (r *reader) sumcheck(s binary.Shape) *binary.Proof {
	pf := &binary.Proof{}
	for range s.Vars {
		pf.Rounds = append(pf.Rounds, r.elements(s.Points()))
	}
	pf.Evals = r.elements(s.Evals())
	return pf
}

// checkProof says what is wrong with a proof's lengths, for proofs that were not
// decoded. Those of the opening are for package fribinius.
func (p *Params) checkProof(pf *Proof) error {
	columns := len(p.statement.Names)
	if pf == nil || pf.Opening == nil {
		return reject(CheckFormat, "no proof")
	}
	if len(pf.AtZ) != columns {
		return reject(CheckFormat, "%d values of columns at the zero-check's point, want %d", len(pf.AtZ), columns)
	}
	if !p.hasAnds() {
		if pf.Gates != nil || pf.AtGates != nil || pf.Join != nil {
			return reject(CheckFormat, "a sum-check of AND gates, want none")
		}
		return nil
	}
	if len(pf.AtGates) != columns {
		return reject(CheckFormat, "%d values of columns at the sum-check's point, want %d", len(pf.AtGates), columns)
	}
	if err := checkSumcheck("zero-check", p.gateShape(), pf.Gates); err != nil {
		return err
	}
	return checkSumcheck("sum-check of both points", p.joinShape(), pf.Join)
}

func checkSumcheck(name string, s binary.Shape, pf *binary.Proof) error {
	if pf == nil {
		return reject(CheckFormat, "no %s", name)
	}
	if len(pf.Rounds) != s.Vars || len(pf.Evals) != s.Evals() {
		return reject(CheckFormat, "%s of %d rounds and %d evaluations, want %d and %d", name, len(pf.Rounds), len(pf.Evals), s.Vars, s.Evals())
	}
	for i, message := range pf.Rounds {
		if len(message) != s.Points() {
			return reject(CheckFormat, "%s: %d elements in round %d, want %d", name, len(message), i, s.Points())
		}
	}
	return nil
}
