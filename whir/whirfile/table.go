package whirfile

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"github.com/zkwarp/zkwarp/internal/tensorio"
)

// ReadTable reads the words of a table from a file: a .npy array of integers or
// of floats without fractions, of any shape, or raw little-endian 32-bit words.
// Every word must be below the modulus.
func ReadTable(file []byte, modulus uint64) ([]uint32, error) {
	if tensorio.Detect(file) == tensorio.NPY {
		t, err := tensorio.ReadNPY(file)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		out := make([]uint32, len(t.Data))
		for i, v := range t.Data {
			if v != math.Trunc(v) || v < 0 || v >= float64(modulus) {
				return nil, fmt.Errorf("%w: element %d is %s, want an integer from 0 to %d", ErrFormat, i, strconv.FormatFloat(v, 'f', -1, 64), modulus-1)
			}
			out[i] = uint32(v)
		}
		return out, nil
	}
	if len(file)%4 != 0 {
		return nil, fmt.Errorf("%w: %d bytes are neither a .npy file nor whole 32-bit words", ErrFormat, len(file))
	}
	out := make([]uint32, len(file)/4)
	for i := range out {
		if out[i] = binary.LittleEndian.Uint32(file[4*i:]); uint64(out[i]) >= modulus {
			return nil, fmt.Errorf("%w: word %d is %d, want less than %d", ErrFormat, i, out[i], modulus)
		}
	}
	return out, nil
}

// TableVars is log2 of the number of entries of a table of the scheme with that
// many words.
func (s *Scheme) TableVars(words int) (int, error) {
	n := words / s.EntryWords()
	if n < 2 || n*s.EntryWords() != words || n&(n-1) != 0 {
		each := ""
		if s.EntryWords() > 1 {
			each = fmt.Sprintf(", of %d words each", s.EntryWords())
		}
		return 0, fmt.Errorf("%w: a table of %d words, want a power of two of at least 2 entries%s", ErrFormat, words, each)
	}
	return bits.Len(uint(n)) - 1, nil
}

// CheckTable checks a table's length and words.
func (p *Params) CheckTable(words []uint32) error {
	if len(words) != p.TableWords() {
		return fmt.Errorf("%w: a table of %d words, want %d", ErrFormat, len(words), p.TableWords())
	}
	if err := checkWords(p.inner.Spec().Modulus, words); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

// Random returns n words below the modulus that depend on the label and the
// seed alone: the ChaCha8 generator of math/rand/v2 keyed with SHA-256 of both,
// of whose 32-bit numbers the low 31 bits are taken and those not below the
// modulus left out.
func Random(label, seed string, modulus uint64, n int) []uint32 {
	r := rand.NewChaCha8(sha256.Sum256([]byte("zkwarp whir " + label + "\x00" + seed)))
	out := make([]uint32, 0, n)
	for len(out) < n {
		if w := uint32(r.Uint64()) & (1<<31 - 1); uint64(w) < modulus {
			out = append(out, w)
		}
	}
	return out
}

// RandomTable is a table of random words.
func (p *Params) RandomTable(seed string) []uint32 {
	return Random("table", seed, p.inner.Spec().Modulus, p.TableWords())
}

// RandomPoint is a random point of n coordinates.
func (p *Params) RandomPoint(seed string, n int) []Words {
	spec := p.inner.Spec()
	w := Random("point", seed, spec.Modulus, n*spec.ChallengeWords)
	out := make([]Words, n)
	for i := range out {
		out[i] = w[i*spec.ChallengeWords : (i+1)*spec.ChallengeWords]
	}
	return out
}
