package whirfile

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

// Files that are whole but for one thing are refused by it.
func TestFilesRefused(t *testing.T) {
	for _, s := range Schemes() {
		c := commitment(t, s)
		p := c.Params
		refused := func(what string, err error, says string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %s: error %v, want one about %q", s.Name(), what, err, says)
			}
		}
		// Roots are words of the field where the hash is over it, else any bytes.
		for _, bad := range []uint32{uint32(p.Inner().Spec().Modulus), 1<<32 - 1} {
			other := *c
			binary.LittleEndian.PutUint32(other.Root[28:], bad)
			_, err := DecodeCommitment(other.Encode())
			if s.Hash == "poseidon2" {
				refused("root", err, "root")
			} else if err != nil {
				t.Errorf("%s: root: %v", s.Name(), err)
			}
		}
		// A proof for other parameters is rejected, and by name.
		err := c.CheckProof(&Proof{Params: [32]byte{1}}, 1)
		refused("proof", err, CheckParameters)
		var r *Rejection
		if !errors.As(err, &r) || r.Check != CheckParameters {
			t.Errorf("%s: a proof for other parameters: %v", s.Name(), err)
		}
		// Claims without values cannot be verified.
		claims := []Claim{{Kind: Eval, Point: p.RandomPoint("x", p.Vars())}}
		refused("claims without values", c.Verify(claims, &Proof{Params: p.Digest()}), "values")
		claims[0].Values = p.RandomPoint("v", 2)
		refused("a value more", c.Verify(claims, &Proof{Params: p.Digest()}), "values")

		words := p.RandomTable("1")
		key := func(change func(*Table)) []byte {
			k := &Key{c, []Table{{Source: Embedded, Words: slices.Clone(words), Digest: TableDigest(words)}}}
			change(&k.Tables[0])
			return k.Encode()
		}
		whole := key(func(*Table) {})
		if _, err := DecodeKey(whole); err != nil {
			t.Errorf("%s: %v", s.Name(), err)
		}
		whole[len(whole)-sha256.Size-1] ^= 1
		_, err = DecodeKey(whole)
		refused("key that was changed", err, "SHA-256")
		_, err = DecodeKey(key(func(t *Table) { t.Digest[0] ^= 1 }))
		refused("another table's digest", err, "digest")
		_, err = DecodeKey(key(func(t *Table) {
			t.Words[3] = uint32(p.Inner().Spec().Modulus)
			t.Digest = TableDigest(t.Words)
		}))
		refused("word of a table", err, "word 3")
		_, err = DecodeKey(key(func(t *Table) { t.Source = Seed + 1 }))
		refused("source of a table", err, "source")
	}
}
