package zkml

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Version of the encodings of keys and proofs, and of the protocol.
const Version = 6

// Magic strings, the first eight bytes of each artefact.
const (
	MagicVerifyingKey = "ZKWVKEY\n"
	MagicProvingKey   = "ZKWPKEY\n"
	MagicProof        = "ZKWPROF\n"
)

// ErrFormat is the class of errors about bytes that are no artefact of the
// kind and version asked for.
var ErrFormat = graph.ErrFormat

func formatf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrFormat, fmt.Errorf(format, args...))
}

// header appends magic, version and a digest.
func header(magic string, digest [32]byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), Version)
	return append(b, digest[:]...)
}

const headerSize = 8 + 4 + 32

// readHeader takes the header off the front.
func readHeader(data []byte, magic, what string) (digest [32]byte, rest []byte, err error) {
	if len(data) < 8 || string(data[:8]) != magic {
		return digest, nil, formatf("not a %s", what)
	}
	if len(data) < headerSize {
		return digest, nil, formatf("%s: truncated: %d bytes", what, len(data))
	}
	if v := binary.LittleEndian.Uint32(data[8:]); v != Version {
		return digest, nil, formatf("%s of version %d, want %d", what, v, Version)
	}
	copy(digest[:], data[12:])
	return digest, data[headerSize:], nil
}

// encodeCore is the encoding of everything but the weights' proof.
func (vk *VerifyingKey) encodeCore() ([]byte, error) {
	program, err := vk.program.Encode()
	if err != nil {
		return nil, err
	}
	b := []byte{byte(vk.mode)}
	b = appendBytes(b, program)
	for _, list := range [][]int{vk.commits.Inputs, vk.commits.Outputs} {
		b = append(b, byte(len(list)))
		for _, i := range list {
			b = binary.LittleEndian.AppendUint32(b, uint32(i))
		}
	}
	b = append(b, vk.weightsDigest[:]...)
	if vk.inference.Commitments[plan.Parameters] != nil {
		b = m31.AppendBytes(b, vk.root[:])
	}
	for _, s := range []*ArgumentSettings{&vk.settings.Inference, &vk.settings.Weights} {
		b = append(b, byte(s.Work))
		for h := range max(len(s.Commitments), int(plan.FirstCommitted)) {
			b = appendParams(b, s.commitment(plan.Home(h)))
		}
	}
	return b, nil
}

// Encode is the key's canonical encoding: header with the digest, the core, and
// the proof of the weights.
func (vk *VerifyingKey) Encode() []byte {
	b := header(MagicVerifyingKey, vk.digest)
	b = appendBytes(b, vk.core)
	return appendBytes(b, vk.weightsProof)
}

// DecodeVerifyingKey reads a key from exactly data. The key is consistent, but
// not yet checked: see Check.
func DecodeVerifyingKey(data []byte) (*VerifyingKey, error) {
	const what = "verifying key"
	digest, rest, err := readHeader(data, MagicVerifyingKey, what)
	if err != nil {
		return nil, err
	}
	r := &cursor{data: rest}
	core := &cursor{data: r.bytes("core")}
	proof := r.bytes("proof of the weights")
	if err := r.done(); err != nil {
		return nil, formatf("%s: %w", what, err)
	}
	parts := KeyParts{Mode: Mode(core.u8("mode")), WeightsProof: append([]byte(nil), proof...)}
	program := core.bytes("program")
	for _, list := range []*[]int{&parts.Commits.Inputs, &parts.Commits.Outputs} {
		for range core.u8("number of committed tensors") {
			*list = append(*list, int(core.u32("committed tensor")))
		}
	}
	copy(parts.WeightsDigest[:], core.take("weights digest", 32))
	if core.err == nil {
		if parts.Program, err = graph.DecodeProgram(program); err != nil {
			return nil, formatf("%s: %w", what, err)
		}
		if parts.Mode == Committed && len(parts.Program.Params()) > 0 {
			core.words("root", parts.Root[:])
		}
	}
	committed := len(parts.Commits.Inputs) + len(parts.Commits.Outputs)
	for i, s := range []*ArgumentSettings{&parts.Settings.Inference, &parts.Settings.Weights} {
		s.Work = int(core.u8("work"))
		n := int(plan.FirstCommitted)
		if i == 0 {
			n += committed
		}
		for h := 0; h < n && core.err == nil; h++ {
			s.Commitments = append(s.Commitments, core.params(plan.Home(h).String()))
		}
	}
	if err := core.done(); err != nil {
		return nil, formatf("%s: %w", what, err)
	}
	vk, err := NewVerifyingKey(parts)
	if err != nil {
		return nil, formatf("%s: %w", what, err)
	}
	if vk.digest != digest {
		return nil, formatf("%s: its digest does not match its contents", what)
	}
	return vk, nil
}

// EncodeProvingKey is the proving key's canonical encoding: the verifying key
// and the weights.
func EncodeProvingKey(vk *VerifyingKey, w *graph.Weights) ([]byte, error) {
	var b bytes.Buffer
	err := WriteProvingKey(&b, vk, w)
	return b.Bytes(), err
}

// WriteProvingKey writes EncodeProvingKey's bytes without having them all in memory.
func WriteProvingKey(out io.Writer, vk *VerifyingKey, w *graph.Weights) error {
	if err := given.Check(given.Arg{Name: "verifying key", Given: vk != nil}, given.Arg{Name: "weights", Given: w != nil}); err != nil {
		return fmt.Errorf("zkml: proving key: %w", err)
	}
	size, weights, err := w.Encoding(vk.program)
	if err != nil {
		return fmt.Errorf("zkml: proving key: %w", err)
	}
	b := header(MagicProvingKey, vk.digest)
	b = appendBytes(b, vk.Encode())
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	if grow, ok := out.(*bytes.Buffer); ok {
		grow.Grow(len(b) + size)
	}
	if _, err := out.Write(b); err != nil {
		return err
	}
	return weights(out)
}

// DecodeProvingKey reads a proving key from exactly data and checks that the
// weights are the verifying key's.
func DecodeProvingKey(data []byte) (*VerifyingKey, *graph.Weights, error) {
	vk, w, check, err := OpenProvingKey(data)
	if err == nil {
		err = check()
	}
	if err != nil {
		return nil, nil, err
	}
	return vk, w, nil
}

// OpenProvingKey is DecodeProvingKey without what takes longest: whether the weights, which are within their bounds, are the verifying key's is found by
// hashing them, which check does. data must not change while the weights are used.
func OpenProvingKey(data []byte) (vk *VerifyingKey, w *graph.Weights, check func() error, err error) {
	const what = "proving key"
	digest, rest, err := readHeader(data, MagicProvingKey, what)
	if err != nil {
		return nil, nil, nil, err
	}
	r := &cursor{data: rest}
	key, weights := r.bytes("verifying key"), r.bytes("weights")
	if err := r.done(); err != nil {
		return nil, nil, nil, formatf("%s: %w", what, err)
	}
	if vk, err = DecodeVerifyingKey(key); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", what, err)
	}
	if w, err = graph.DecodeWeights(vk.program, weights); err != nil {
		return nil, nil, nil, formatf("%s: %w", what, err)
	}
	unlike := formatf("%s: its digests do not match its contents", what)
	if digest != vk.digest {
		return nil, nil, nil, unlike
	}
	return vk, w, func() error {
		if sha256.Sum256(weights) != vk.weightsDigest { // the encoding is canonical
			return unlike
		}
		return nil
	}, nil
}

func appendBytes(b, part []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(part))), part...)
}

// appendParams appends the encoding of a commitment's parameters, nothing but
// its length 0 for none.
func appendParams(b []byte, p *whir.M31Params) []byte {
	if p == nil {
		return appendBytes(b, nil)
	}
	return appendBytes(b, p.AppendBinary(nil))
}

func (c *cursor) params(what string) *whir.M31Params {
	b := c.bytes(what)
	if len(b) == 0 {
		return nil
	}
	p, err := whir.DecodeM31Params(b)
	c.fail(what, err)
	return p
}

func (c *cursor) u32(what string) uint32 {
	if b := c.take(what, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u8(what string) uint8 {
	if b := c.take(what, 1); b != nil {
		return b[0]
	}
	return 0
}

// bytes reads a part that its length precedes.
func (c *cursor) bytes(what string) []byte {
	if n := c.take(what, 4); n != nil {
		return c.take(what, int(binary.LittleEndian.Uint32(n)))
	}
	return nil
}

func (c *cursor) done() error {
	if c.err == nil && len(c.data) > 0 {
		c.err = fmt.Errorf("%d bytes too many", len(c.data))
	}
	return c.err
}
