package circom

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/zkwarp/zkwarp/device"
)

// ZKey is snarkjs's proving key of a circuit, with the verifying key in it. It does not
// change and is safe for concurrent use.
type ZKey struct {
	name       string
	sys        system
	wires      int
	public     int
	domain     int
	vk         *VerifyingKey
	provingKey provingKey
}

// provingKey is the part of a key whose types are those of its curve.
type provingKey interface {
	// on puts the points on devices, one at least.
	on(k *ZKey, devices []*device.Device) (runner, error)
}

var zkey = format{
	magic: "zkey", version: 1,
	sections: map[uint32]string{
		1: "protocol", 2: "header", 3: "IC", 4: "coefficients", 5: "A points", 6: "B1 points", 7: "B2 points", 8: "C points", 9: "H points",
	},
	optional: map[uint32]string{10: "contributions"},
	refused: map[uint32]string{
		11: otherProtocol, 12: otherProtocol, 13: otherProtocol, 14: otherProtocol, 15: otherProtocol, 16: otherProtocol, 17: otherProtocol,
	},
}

// otherProtocol is whose keys have more sections than 10.
const otherProtocol = "PLONK or FFLONK; Groth16 is read"

var protocols = map[int]string{2: "PLONK", 10: "FFLONK"}

// OpenZKey reads a .zkey file.
func OpenZKey(path string) (*ZKey, error) { return openFile(path, ReadZKey) }

// ReadZKey reads a .zkey file of size bytes; name is for errors. Every point is checked to
// be on its curve, those of the verifying key to be in their groups of prime order as well.
// That the points are those of a circuit's setup a reader cannot know: snarkjs zkey verify.
func ReadZKey(name string, r io.ReaderAt, size int64) (*ZKey, error) {
	f, err := zkey.scan(name, r, size)
	if err != nil {
		return nil, err
	}
	h, err := f.sections[1].header()
	if err != nil {
		return nil, err
	}
	switch p := h.u32("the protocol"); {
	case h.err != nil || p == 1:
	case protocols[p] != "":
		h.fail(0, "a key for %s; Groth16 is read", protocols[p])
	default:
		h.fail(0, "protocol %d; 1 (Groth16) is read", p)
	}
	if err := h.end(); err != nil {
		return nil, err
	}
	if h, err = f.sections[2].header(); err != nil {
		return nil, err
	}
	s := h.prime("the base field's modulus", func(c *curve) *big.Int { return c.q }, func(c *curve) []uint64 { return c.qWords })
	at := h.at
	if o := h.order(); h.err == nil && o != s {
		h.fail(at, "the scalar field is that of another curve than the base field")
	}
	if h.err != nil {
		return nil, h.err
	}
	c := s.curve()
	k := &ZKey{name: name, sys: s, vk: &VerifyingKey{Curve: c.id}}
	at = h.at
	k.wires, k.public, k.domain = h.u32("the number of wires"), h.u32("the number of public signals"), h.u32("the size of the domain")
	switch log := log2(k.domain); {
	case h.err != nil:
	case k.wires < 1 || k.public >= k.wires:
		h.fail(at, "%d wires with %d public signals and the constant", k.wires, k.public)
	case log < 1:
		h.fail(at+8, "a domain of %d; it is a power of two, 2 at least", k.domain)
	case log >= c.adicity:
		// The points of section 9 are for the odd elements of a subgroup of twice the order.
		h.fail(at+8, "a domain of 2^%d; %s has room for 2^%d", log, c.id, c.adicity-1)
	}
	k.vk.Alpha = G1(h.point(c, 2, "alpha in G1"))
	h.point(c, 2, "beta in G1") // of the proving key, which reads it again
	k.vk.Beta = g2(h.point(c, 4, "beta in G2"))
	k.vk.Gamma = g2(h.point(c, 4, "gamma in G2"))
	h.point(c, 2, "delta in G1")
	k.vk.Delta = g2(h.point(c, 4, "delta in G2"))
	if err := h.end(); err != nil {
		return nil, err
	}
	if k.provingKey, err = s.zkey(f, k); err != nil {
		return nil, err
	}
	return k, nil
}

// point reads coordinates in Montgomery form.
func (h *header) point(c *curve, coordinates int, what string) []*big.Int {
	out := make([]*big.Int, coordinates)
	words := make([]uint64, len(c.qWords))
	for i := range out {
		at := h.at
		decodeWords(words, h.bytes(8*len(words), what))
		if h.err == nil && !below(words, c.qWords) {
			h.fail(at, "%s: a coordinate is not below the field's modulus", what)
		}
		out[i] = c.fromMontgomery(words)
	}
	return out
}

// log2 is the logarithm of a power of two, or -1.
func log2(n int) int {
	for i := range 33 {
		if n == 1<<i {
			return i
		}
	}
	return -1
}

// Curve is the key's curve.
func (k *ZKey) Curve() ecc.ID { return k.sys.curve().id }

// NumWires is how many values a witness has.
func (k *ZKey) NumWires() int { return k.wires }

// NumPublic is how many public signals the circuit has: outputs and public inputs.
func (k *ZKey) NumPublic() int { return k.public }

// DomainSize is the size of the domain of constraints, a power of two.
func (k *ZKey) DomainSize() int { return k.domain }

// VerifyingKey is the verifying key. It must not be changed.
func (k *ZKey) VerifyingKey() *VerifyingKey { return k.vk }

// key is a proving key with its types of points, G and H, and of scalars, S.
type key[G, H, S any] struct {
	pairing *pairing[G, H, S]

	alpha, beta, delta G
	beta2, delta2      H

	a, b   *matrix[S]
	a1, b1 []G
	b2     []H
	c1, h1 []G // h1 in the order of gnark-crypto's domain
	shift  S   // of the coset on which h1 is
}

// zkey implements system.
func (p *pairing[G, H, S]) zkey(f *binFile, z *ZKey) (provingKey, error) {
	k := &key[G, H, S]{pairing: p}
	// The header was read once; its points in the curve's types are checked here.
	if err := k.header(f.sections[2], z); err != nil {
		return nil, err
	}
	ic, err := readPoints(p.g1, p.c, f.sections[3], z.public+1, nil)
	if err != nil {
		return nil, err
	}
	for i := range ic {
		if !p.g1.inSubgroup(&ic[i]) {
			return nil, f.sections[3].errorf(int64(i)*int64(p.g1.bytes()), "point %d is not in the subgroup of prime order", i)
		}
		z.vk.IC = append(z.vk.IC, G1(p.g1.coordinates(p.c, &ic[i])))
	}
	// The domain takes memory, for which the file must have the points.
	if err := f.sections[9].expect(int64(z.domain)*int64(p.g1.bytes()), fmt.Sprintf("%d points", z.domain)); err != nil {
		return nil, err
	}
	order, odd, shift, err := p.domain(log2(z.domain))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", z.name, err)
	}
	k.shift = shift
	if k.a, k.b, err = p.readMatrices(f.sections[4], z, order); err != nil {
		return nil, err
	}
	for _, q := range []struct {
		to     *[]G
		number uint32
		n      int
		place  func(int) int
	}{
		{&k.a1, 5, z.wires, nil},
		{&k.b1, 6, z.wires, nil},
		{&k.c1, 8, z.wires - z.public - 1, nil},
		{&k.h1, 9, z.domain, odd},
	} {
		if *q.to, err = readPoints(p.g1, p.c, f.sections[q.number], q.n, q.place); err != nil {
			return nil, err
		}
	}
	if k.b2, err = readPoints(p.g2, p.c, f.sections[7], z.wires, nil); err != nil {
		return nil, err
	}
	return k, nil
}

// header reads the points behind the moduli and the three numbers.
func (k *key[G, H, S]) header(s *section, z *ZKey) error {
	p := k.pairing
	off := int64(4 + 8*len(p.c.qWords) + 4 + 8*len(p.c.rWords) + 12)
	b := make([]byte, s.size-off) // header's end has checked the size
	if err := s.readAt(b, off); err != nil {
		return err
	}
	at := off
	var err error
	for _, q := range []struct {
		what string
		one  *G
		two  *H
	}{
		{"alpha in G1", &k.alpha, nil}, {"beta in G1", &k.beta, nil}, {"beta in G2", nil, &k.beta2},
		{"gamma in G2", nil, new(H)}, {"delta in G1", &k.delta, nil}, {"delta in G2", nil, &k.delta2},
	} {
		var n int
		if q.one != nil {
			n, err = p.g1.special(q.one, b)
		} else {
			n, err = p.g2.special(q.two, b)
		}
		if err != nil {
			return s.errorf(at, "%s: %w", q.what, err)
		}
		b, at = b[n:], at+int64(n)
	}
	return nil
}

// special decodes a point of a verifying key, which must be of its group and not infinity,
// and returns the number of its bytes.
func (g *group[P]) special(to *P, b []byte) (int, error) {
	n := g.bytes()
	decodeWords(g.memory(to), b[:n])
	return n, g.check(to)
}

// readPoints reads n points that fill the section; point i goes to place(i) if there is a
// place.
func readPoints[P any](g *group[P], c *curve, s *section, n int, place func(int) int) ([]P, error) {
	size := g.bytes()
	if err := s.expect(int64(n)*int64(size), fmt.Sprintf("%d points", n)); err != nil {
		return nil, err
	}
	out := make([]P, n)
	return out, s.records(0, n, size, func(first int, b []byte) error {
		return forEach(len(b)/size, func(i int) error {
			at := first + i
			if place != nil {
				at = place(first + i)
			}
			p := &out[at]
			words := g.memory(p)
			decodeWords(words, b[i*size:])
			for j := 0; j < len(words); j += len(c.qWords) {
				if !below(words[j:j+len(c.qWords)], c.qWords) {
					return s.errorf(int64(first+i)*int64(size)+int64(8*j), "point %d: a coordinate is not below the field's modulus", first+i)
				}
			}
			if !g.onCurve(p) {
				return s.errorf(int64(first+i)*int64(size), "point %d is not on the curve", first+i)
			}
			return nil
		})
	})
}

// matrix is sparse: row i has the terms from start[i] to start[i+1].
type matrix[S any] struct {
	start []int
	wires []uint32
	value []S
}

// coefficient is the bytes of a term in the file: matrix, row, wire, value.
const coefficient = 12 + 32

// readMatrices reads A and B; row i goes to order(i).
func (p *pairing[G, H, S]) readMatrices(s *section, z *ZKey, order func(int) int) (a, b *matrix[S], err error) {
	var head [4]byte
	if s.size < 4 {
		return nil, nil, s.errorf(-8, "%d bytes are too few", s.size)
	}
	if err := s.readAt(head[:], 0); err != nil {
		return nil, nil, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if err := s.expect(4+int64(n)*coefficient, fmt.Sprintf("%d coefficients", n)); err != nil {
		return nil, nil, err
	}
	m := [2]*matrix[S]{{start: make([]int, z.domain+1)}, {start: make([]int, z.domain+1)}}
	terms := func(f func(i int, m, row int, wire uint32, value []byte) error) error {
		return s.records(4, n, coefficient, func(first int, b []byte) error {
			for i := first; len(b) > 0; i, b = i+1, b[coefficient:] {
				which, row, wire := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
				at := 4 + int64(i)*coefficient
				switch {
				case which > 1:
					return s.errorf(at, "coefficient %d: matrix %d; 0 and 1 are A and B", i, which)
				case int64(row) >= int64(z.domain):
					return s.errorf(at+4, "coefficient %d: row %d of %d", i, row, z.domain)
				case int64(wire) >= int64(z.wires):
					return s.errorf(at+8, "coefficient %d: wire %d of %d", i, wire, z.wires)
				}
				if err := f(i, int(which), order(int(row)), wire, b[12:coefficient]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = terms(func(_, which, row int, _ uint32, _ []byte) error {
		m[which].start[row+1]++
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var next [2][]int // where a row's next term goes
	for i, m := range m {
		for row := range z.domain {
			m.start[row+1] += m.start[row]
		}
		m.wires, m.value = make([]uint32, m.start[z.domain]), make([]S, m.start[z.domain])
		next[i] = slices.Clone(m.start[:z.domain])
	}
	err = terms(func(i, which, row int, wire uint32, value []byte) error {
		at := next[which][row]
		if at == m[which].start[row+1] {
			return s.errorf(4+int64(i)*coefficient, "coefficient %d: the file was changed meanwhile", i)
		}
		next[which][row]++
		var e Element
		decodeWords(e[:], value)
		if !below(e[:], p.c.rWords) {
			return s.errorf(4+int64(i)*coefficient+12, "coefficient %d is not below the field's order", i)
		}
		// snarkjs multiplies by R, 2^256, twice, so that the product with a number that is not
		// in Montgomery form is in it.
		m[which].wires[at], m[which].value[at] = wire, p.field.reduced(e)
		return nil
	})
	return m[0], m[1], err
}
