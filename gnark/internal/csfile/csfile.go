// Package csfile reads gnark's rank-1 constraint systems from files that somebody else may
// have made. gnark's reader and solver run on goroutines of their own and index with what
// the file says: where that is not so, they end the program, and nobody can recover. So the
// file is gone over before gnark reads it, and the system before gnark solves it; after that
// nothing is left that could panic but hints, which [Read]'s options guard.
package csfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strings"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/ronanh/intcomp"
)

// ErrFormat is the class of errors in what a file holds.
var ErrFormat = errors.New("bad constraint system")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Read reads a constraint system over a curve from a file's bytes. wires is how many it may
// have, such as those of the proving key that it comes with: a few bytes can say that there are so many that memory
// does not suffice. The options are for its solver.
func Read(id ecc.ID, b []byte, wires int) (constraint.ConstraintSystem, []solver.Option, error) {
	ccs, err := Decode(id, b)
	if err != nil {
		return nil, nil, err
	}
	options, err := check(ccs, id.ScalarField(), wires)
	if err != nil {
		return nil, nil, err
	}
	return ccs, options, nil
}

// Decode is Read without the check of what the system says: for one's own.
func Decode(id ecc.ID, b []byte) (ccs constraint.ConstraintSystem, err error) {
	if err := scan(b, 8*len(words(id.ScalarField()))); err != nil {
		return nil, err
	}
	defer recovered(&err)
	ccs = groth16.NewCS(id)
	if _, err := ccs.ReadFrom(bytes.NewReader(b)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if ccs.Field().Cmp(id.ScalarField()) != 0 {
		return nil, bad("it is not over %s", strings.ReplaceAll(id.String(), "_", "-"))
	}
	return ccs, nil
}

// recovered makes a panic an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = bad("%v", r)
	}
}

// words is a modulus in words of 64 bits, the lowest first.
func words(modulus *big.Int) []uint64 {
	out := make([]uint64, (modulus.BitLen()+63)/64)
	b := modulus.FillBytes(make([]byte, 8*len(out)))
	for i := range out {
		out[i] = binary.BigEndian.Uint64(b[len(b)-8*i-8:])
	}
	return out
}

// headers is the size of both headers, four numbers each.
const headers = 4 * 8

// scan goes over a file: the lengths of all in it, of which a few take far more memory than they have bytes.
//
// The file is, with numbers of 8 bytes, lowest first: the length of what follows the third
// number of the version; the version; lengths of levels, instructions, call data and the body;
// these four; the number of coefficients, and these.
func scan(b []byte, element int) (err error) {
	defer recovered(&err)
	number := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	if len(b) < 2*headers {
		return bad("%d bytes are too few for its lengths", len(b))
	}
	if n := number(0); n != uint64(len(b)-headers) {
		return bad("%d bytes are to follow the version, and %d do", n, len(b)-headers)
	}
	rest := b[2*headers:]
	var sections [4][]byte
	for i, name := range []string{"levels", "instructions", "call data", "the body"} {
		n := number(headers + 8*i)
		if n > uint64(len(rest)) {
			return bad("%d bytes of %s, where %d are left", n, name, len(rest))
		}
		sections[i], rest = rest[:n], rest[n:]
	}
	if len(rest) < 8 {
		return bad("no number of coefficients")
	}
	if n, has := binary.LittleEndian.Uint64(rest), len(rest)-8; n != uint64(has/element) || has%element != 0 {
		return bad("%d coefficients in %d bytes", n, has)
	}
	// gnark decodes the body into a pointer, which null would make nil under its goroutines.
	if body := sections[3]; len(body) == 0 || body[0]>>5 != 5 {
		return bad("the body is not a map")
	}
	data := sections[2]
	if len(data) < 8 || binary.LittleEndian.Uint64(data) > uint64(len(data)-8) {
		return bad("call data of more numbers than it has bytes")
	}
	instructions, err := scanInstructions(sections[1], len(data)-8)
	if err != nil {
		return err
	}
	return scanLevels(sections[0], instructions)
}

// scanInstructions returns how many there are, no more than most.
func scanInstructions(b []byte, most int) (int, error) {
	var count int
	for i, name := range []string{"blueprints", "constraints", "wires", "call data"} {
		what := "the instructions' " + name
		size := 4
		if i == 3 {
			size = 8
		}
		packed, rest, err := take(b, size, what)
		if err != nil {
			return 0, err
		}
		var n int
		if size == 4 {
			n, err = length32(packed, most)
		} else {
			n, err = length64(packed, most)
		}
		if err != nil {
			return 0, bad("%s: %v", what, err)
		}
		if i > 0 && n != count {
			return 0, bad("%s: %d of %d", what, n, count)
		}
		count, b = n, rest
	}
	if len(b) > 0 {
		return 0, bad("%d bytes behind the instructions", len(b))
	}
	return count, nil
}

// scanLevels looks whether all levels together have as many instructions as there are.
func scanLevels(b []byte, instructions int) error {
	if len(b) < 8 {
		return bad("no number of levels")
	}
	levels := binary.LittleEndian.Uint64(b)
	if b = b[8:]; levels > uint64(len(b)/8) {
		return bad("%d levels in %d bytes", levels, len(b))
	}
	left := instructions
	for i := range levels {
		packed, rest, err := take(b, 4, fmt.Sprintf("level %d", i))
		if err != nil {
			return err
		}
		n, err := length32(packed, left)
		if err != nil {
			return bad("level %d: %v", i, err)
		}
		left -= n
		b = rest
	}
	if left != 0 || len(b) > 0 {
		return bad("levels have %d instructions of %d, and %d bytes are behind them", instructions-left, instructions, len(b))
	}
	return nil
}

// take is the next list of packed integers, which has its number of words in front.
func take(b []byte, size int, what string) (packed, rest []byte, err error) {
	if len(b) < 8 {
		return nil, nil, bad("%s: no length", what)
	}
	n := binary.LittleEndian.Uint64(b)
	if b = b[8:]; n > uint64(len(b)/size) {
		return nil, nil, bad("%s: %d words in %d bytes", what, n, len(b))
	}
	return b[:int(n)*size], b[int(n)*size:], nil
}

// length32 is how many integers a list of package intcomp has, after unpacking it: that
// gnark does so again will not panic then. The format is intcomp's: blocks with their
// number of integers and of words in front, and in the end the size of the last. Fewer than
// 128 integers are of a byte or more each; others are packed by 128s, each with a word of four widths and as many words as these
// are together.
func length32(b []byte, most int) (int, error) {
	in := make([]uint32, len(b)/4)
	for i := range in {
		in[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	n := 0
	for at := 0; at < len(in)-1; {
		block := in[at : len(in)-1]
		if len(block) < 3 {
			return 0, fmt.Errorf("a block of %d words", len(block))
		}
		count, size := int(block[0]), int(block[1])
		if size > len(block) || size < 3 {
			return 0, fmt.Errorf("a block of %d words, where %d are left", size, len(block))
		}
		if count > most-n {
			return 0, fmt.Errorf("more than %d", most)
		}
		if count >= intcomp.BitPackingBlockSize32 {
			if err := packed(count, intcomp.BitPackingBlockSize32, 32, size, 3, func(i int) uint32 { return block[i] }); err != nil {
				return 0, err
			}
		}
		n += count
		at += size
	}
	if got := len(intcomp.UncompressUint32(in, nil)); got != n {
		return 0, fmt.Errorf("%d, which say that they are %d", got, n)
	}
	return n, nil
}

// length64 is length32 for integers of 64 bits, packed by 256s, which have both numbers of a
// block in one word.
func length64(b []byte, most int) (int, error) {
	in := make([]uint64, len(b)/8)
	for i := range in {
		in[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	n := 0
	for at := 0; at < len(in)-1; {
		block := in[at : len(in)-1]
		count, size := int(int32(block[0])), int(block[0]>>32)
		if size > len(block) || size < 2 {
			return 0, fmt.Errorf("a block of %d words, where %d are left", size, len(block))
		}
		if count < 0 || count > most-n {
			return 0, fmt.Errorf("more than %d", most)
		}
		if count >= intcomp.BitPackingBlockSize64 {
			if err := packed(count, intcomp.BitPackingBlockSize64, 64, size, 2, func(i int) uint32 { return uint32(block[i]) }); err != nil {
				return 0, err
			}
		}
		n += count
		at += size
	}
	if got := len(intcomp.UncompressUint64(in, nil)); got != n {
		return 0, fmt.Errorf("%d, which say that they are %d", got, n)
	}
	return n, nil
}

// packed goes over the widths of a block of packed integers.
func packed(count, each, width, size, at int, word func(i int) uint32) error {
	if count%each != 0 {
		return fmt.Errorf("a block of %d, which is no multiple of %d", count, each)
	}
	for range count / each {
		if at >= size {
			return fmt.Errorf("a block of %d words that goes on behind its end", size)
		}
		widths := word(at)
		at++
		for range 4 {
			w := int(widths & 0x7f)
			if w > width {
				return fmt.Errorf("integers of %d bits", w)
			}
			at += w
			widths >>= 8
		}
	}
	if at != size {
		return fmt.Errorf("a block of %d words that has %d", size, at)
	}
	return nil
}

// below says whether an element is less than the modulus.
func below(e constraint.U64, modulus []uint64) bool {
	var borrow uint64
	for i, m := range modulus {
		_, borrow = bits.Sub64(e[i], m, borrow)
	}
	return borrow != 0
}
