package whirfile

import (
	"crypto/sha256"

	"github.com/zkwarp/zkwarp/whir"
)

// Params are the parameters of a scheme. They are immutable.
type Params struct {
	scheme *Scheme
	inner  *whir.Params
	packed *whir.M31Params // for tables of Mersenne-31 values alone
}

// Scheme that the parameters are for.
func (p *Params) Scheme() *Scheme { return p.scheme }

// Inner is the parameters over symbols. A packed table of 2^n values is one of
// 2^(n-1) symbols.
func (p *Params) Inner() *whir.Params { return p.inner }

// Packed is the parameters of a table of Mersenne-31 values, nil for others.
func (p *Params) Packed() *whir.M31Params { return p.packed }

// Vars is log2 of the number of entries in a table, and the number of
// coordinates of a point.
func (p *Params) Vars() int {
	if p.packed != nil {
		return p.packed.Vars()
	}
	return p.inner.Vars()
}

// Tables is the number of tables in a commitment.
func (p *Params) Tables() int { return p.inner.Batch() }

// Claims is the largest number of claims that an opening may prove.
func (p *Params) Claims() int {
	n := p.inner.Config().Claims
	if p.packed != nil {
		n /= 2
	}
	return n
}

// TableWords is the number of words of a table.
func (p *Params) TableWords() int { return p.scheme.EntryWords() << p.Vars() }

// encode is the parameters as files have them, without the scheme's name.
func (p *Params) encode() []byte {
	if p.packed != nil {
		return p.packed.AppendBinary(nil)
	}
	return p.inner.AppendBinary(nil)
}

// Digest tells parameters apart: SHA-256 of the scheme's name, a zero byte and
// the encoding.
func (p *Params) Digest() [32]byte {
	return sha256.Sum256(append(append([]byte(p.scheme.Name()), 0), p.encode()...))
}
