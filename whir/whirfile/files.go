package whirfile

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Magic strings, the first eight bytes of each file. A version follows.
const (
	MagicCommitment = "ZKWWCOM\n"
	MagicProof      = "ZKWWPRF\n"
	MagicKey        = "ZKWWKEY\n"
	MagicBundle     = "ZKWWALL\n"
)

// Version of all formats here.
const Version = 1

// Commitment is what a verifier keeps: the scheme, its parameters, and the root
// of the tree.
type Commitment struct {
	Params *Params
	Root   Root
}

// Encode is the commitment as a file.
func (c *Commitment) Encode() []byte {
	b := header(MagicCommitment)
	b = appendPart(b, []byte(c.Params.scheme.Name()))
	b = appendPart(b, c.Params.encode())
	return append(b, c.Root[:]...)
}

// Digest is SHA-256 of the file.
func (c *Commitment) Digest() [32]byte { return sha256.Sum256(c.Encode()) }

// DecodeCommitment reads a commitment, and checks its parameters as their maker
// had to: they reach their level of security.
func DecodeCommitment(data []byte) (*Commitment, error) {
	d := &parts{data: data}
	d.header(MagicCommitment, "commitment")
	name := d.part("the scheme's name")
	params := d.part("parameters")
	var root Root
	copy(root[:], d.take(len(root), "the root"))
	d.end()
	if d.err != nil {
		return nil, d.err
	}
	s, err := Find(string(name))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	p, err := s.decodeParams(params)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if err := s.checkRoot(root); err != nil {
		return nil, fmt.Errorf("%w: root: %w", ErrFormat, err)
	}
	return &Commitment{p, root}, nil
}

// Proof is an opening as a file holds it.
type Proof struct {
	// Params is the digest of the parameters that the proof is for.
	Params [32]byte
	// Body is the encoding by package whir.
	Body []byte
}

// Encode is the proof as a file.
func (p *Proof) Encode() []byte { return append(append(header(MagicProof), p.Params[:]...), p.Body...) }

// DecodeProof reads a proof. Its body can be told to be whole only with a
// commitment, by [Commitment.CheckProof].
func DecodeProof(data []byte) (*Proof, error) {
	d := &parts{data: data}
	d.header(MagicProof, "proof")
	digest := d.take(32, "the digest of the parameters")
	if d.err != nil {
		return nil, d.err
	}
	return &Proof{[32]byte(digest), d.data}, nil
}

// CheckProof checks that a proof has the commitment's parameters and is a whole
// one of the given number of claims. It says nothing about its truth.
func (c *Commitment) CheckProof(pf *Proof, claims int) error {
	if pf.Params != c.Params.Digest() {
		return &Rejection{Check: CheckParameters, Err: fmt.Errorf("the proof is for those of digest %x, the commitment's is %x", pf.Params[:8], firstBytes(c.Params.Digest()))}
	}
	return rejection(c.Params.scheme.checkProof(c.Params, claims, pf.Body))
}

// Verify checks that the committed tables have the claimed values. The error is
// a *Rejection if they need not have, and wraps ErrFormat if claims or proof are
// malformed.
func (c *Commitment) Verify(claims []Claim, pf *Proof) error {
	if err := c.Params.CheckClaims(claims, false); err != nil {
		return err
	}
	if err := c.CheckProof(pf, len(claims)); err != nil {
		return err
	}
	return rejection(c.Params.scheme.verify(c.Params, c.Root, claims, pf.Body))
}

func firstBytes(digest [32]byte) []byte { return digest[:8] }

// Bundle is all that a verifier needs in one file.
type Bundle struct {
	Commitment *Commitment
	Claims     []Claim
	Proof      *Proof
}

// Encode is the bundle as a file.
func (b *Bundle) Encode() []byte {
	out := appendPart(header(MagicBundle), b.Commitment.Encode())
	out = appendPart(out, EncodeClaims(b.Claims))
	return appendPart(out, b.Proof.Encode())
}

// DecodeBundle reads a bundle.
func DecodeBundle(data []byte) (*Bundle, error) {
	d := &parts{data: data}
	d.header(MagicBundle, "bundle")
	commitment, claims, proof := d.part("the commitment"), d.part("the claims"), d.part("the proof")
	d.end()
	if d.err != nil {
		return nil, d.err
	}
	var b Bundle
	var err error
	if b.Commitment, err = DecodeCommitment(commitment); err != nil {
		return nil, fmt.Errorf("commitment: %w", err)
	}
	if b.Claims, err = DecodeClaims(claims); err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	if b.Proof, err = DecodeProof(proof); err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	return &b, nil
}

// Verify is [Commitment.Verify] for what is in the bundle.
func (b *Bundle) Verify() error { return b.Commitment.Verify(b.Claims, b.Proof) }

func header(magic string) []byte {
	return binary.LittleEndian.AppendUint32([]byte(magic), Version)
}

// appendPart appends bytes after their number.
func appendPart(dst, part []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(part))), part...)
}

// parts reads a file from its front, and keeps its first error. What it returns
// shares the file's memory.
type parts struct {
	data []byte
	err  error
}

func (d *parts) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %w", ErrFormat, fmt.Errorf(format, args...))
	}
}

func (d *parts) take(n int, what string) []byte {
	if d.err == nil && n > len(d.data) {
		d.fail("cut off: %s needs %d bytes, %d are left", what, n, len(d.data))
	}
	if d.err != nil {
		return nil
	}
	out := d.data[:n:n]
	d.data = d.data[n:]
	return out
}

func (d *parts) uint32(what string) uint32 {
	b := d.take(4, what)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

func (d *parts) part(what string) []byte {
	n := d.uint32("the length of " + what)
	if d.err == nil && uint64(n) > uint64(len(d.data)) {
		d.fail("cut off: %s needs %d bytes, %d are left", what, n, len(d.data))
	}
	return d.take(int(n), what)
}

func (d *parts) header(magic, what string) {
	if got := d.take(len(magic), "the magic string"); d.err == nil && string(got) != magic {
		d.fail("no %s of zkwarp whir: begins with %q, want %q", what, got, magic)
	}
	if v := d.uint32("the version"); d.err == nil && v != Version {
		d.fail("%s of version %d, this program reads version %d", what, v, Version)
	}
}

func (d *parts) end() {
	if len(d.data) != 0 {
		d.fail("%d bytes too many", len(d.data))
	}
}
