package prover

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/whirfile"
)

func queue(t testing.TB) *device.Queue {
	t.Helper()
	d, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

// made is everything about one commitment.
type made struct {
	p      *whirfile.Params
	tables [][]uint32
	b      *whirfile.Bundle
}

// options are work enough for fast tests.
var options = whir.Options{Lambda: 80, Claims: 3, FoldWork: 4, QueryWork: 4}

func make1(t testing.TB, q *device.Queue, s *whirfile.Scheme, vars int, o whir.Options) *made {
	t.Helper()
	p, err := s.Choose(vars, o)
	if err != nil {
		t.Fatal(err)
	}
	m := &made{p: p}
	for i := range p.Tables() {
		m.tables = append(m.tables, p.RandomTable(fmt.Sprint(i)))
	}
	c, err := Commit(q, p, m.tables...)
	if err != nil {
		t.Fatal(err)
	}
	claims := []whirfile.Claim{{Kind: whirfile.Eval, Point: p.RandomPoint("x", vars)}, {Kind: whirfile.Eval, Point: p.RandomPoint("y", vars)}}
	if p.Packed() == nil {
		claims[1] = whirfile.Claim{Kind: whirfile.Univariate, Point: p.RandomPoint("z", 1)}
	}
	if claims, err = c.Evaluate(claims); err != nil {
		t.Fatal(err)
	}
	pf, err := c.Open(q, claims)
	if err != nil {
		t.Fatal(err)
	}
	m.b = &whirfile.Bundle{Commitment: c.Commitment(), Claims: claims, Proof: pf}
	return m
}

// shapes are a table of several sizes and, where the scheme has it, a batch.
func shapes(s *whirfile.Scheme) map[int]whir.Options {
	out := map[int]whir.Options{1: options, 5: options, 9: options}
	if s.Field != "m31" {
		o := options
		o.Batch, o.Arity = 3, 4
		out[6] = o
	}
	return out
}

// What is made verifies, also once it went through files.
func TestRoundTrip(t *testing.T) {
	q := queue(t)
	for _, s := range whirfile.Schemes() {
		for vars, o := range shapes(s) {
			t.Run(fmt.Sprintf("%s/%d", s.Name(), vars), func(t *testing.T) {
				m := make1(t, q, s, vars, o)
				if err := m.b.Verify(); err != nil {
					t.Fatal(err)
				}
				file := m.b.Encode()
				again, err := whirfile.DecodeBundle(file)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(again.Encode(), file) {
					t.Error("the bundle changed on its way through a file")
				}
				if err := again.Verify(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Values are those of the definition, at points of the cube and elsewhere.
func TestEvaluate(t *testing.T) {
	q := queue(t)
	for _, s := range whirfile.Schemes() {
		p, err := s.Choose(4, options)
		if err != nil {
			t.Fatal(err)
		}
		table := p.RandomTable("t")
		c, err := Commit(q, p, table)
		if err != nil {
			t.Fatal(err)
		}
		entry := s.EntryWords()
		claim := func(kind whirfile.Kind, point ...uint32) whirfile.Claim {
			out := whirfile.Claim{Kind: kind}
			for _, x := range point {
				out.Point = append(out.Point, whirfile.Words{x})
			}
			return out
		}
		got, err := c.Evaluate([]whirfile.Claim{claim(whirfile.Eval, 1, 0, 1, 1)})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[0].Values[0][:entry], table[11*entry:12*entry]) {
			t.Errorf("%s: at 1011 the value is %v, entry 11 is %v", s.Name(), got[0].Values[0], table[11*entry:12*entry])
		}
		// (1-5) f(0,..) + 5 f(1,..) along the first variable.
		got, err = c.Evaluate([]whirfile.Claim{claim(whirfile.Eval, 5, 0, 1, 0)})
		if err != nil {
			t.Fatal(err)
		}
		modulus := p.Inner().Spec().Modulus
		want := (uint64(table[2*entry])*(modulus-4) + 5*uint64(table[10*entry])) % modulus
		if uint64(got[0].Values[0][0]) != want {
			t.Errorf("%s: at (5,0,1,0) the value is %v, want %d", s.Name(), got[0].Values[0], want)
		}
		if s.Field == "m31" {
			continue
		}
		got, err = c.Evaluate([]whirfile.Claim{claim(whirfile.Univariate, 3)})
		if err != nil {
			t.Fatal(err)
		}
		want, power := 0, uint64(1)
		for b := range 16 {
			want = (want + power*uint64(table[b*entry])) % modulus
			power = power * 3 % modulus
		}
		if uint64(got[0].Values[0][0]) != want {
			t.Errorf("%s: the univariate value at 3 is %v, want %d", s.Name(), got[0].Values[0], want)
		}
	}
}

// A changed byte anywhere in the bundle is malformed or rejected by a named
// check, and so is every truncation.
func TestSpoiledBundle(t *testing.T) {
	q := queue(t)
	for _, s := range whirfile.Schemes() {
		m := make1(t, q, s, 9, options) // a tree of more leaves than queries open, whatever their nonce
		good := m.b.Encode()
		verify := func(file []byte) error {
			b, err := whirfile.DecodeBundle(file)
			if err != nil {
				return err
			}
			return b.Verify()
		}
		check := func(what string, file []byte) {
			t.Helper()
			err := verify(file)
			var rejection *whirfile.Rejection
			switch {
			case err == nil:
				t.Errorf("%s: %s was accepted", s.Name(), what)
			case errors.As(err, &rejection) == errors.Is(err, whirfile.ErrFormat):
				t.Errorf("%s: %s: the error is neither a rejection nor about the format: %v", s.Name(), what, err)
			case rejection != nil && rejection.Check == "":
				t.Errorf("%s: %s: the rejection names no check", s.Name(), what)
			}
		}
		space := func(b byte) bool { return b == ' ' || b == '\n' }
		step := max(1, len(good)/100)
		for at := 0; at < len(good); at += step {
			bad := slices.Clone(good)
			bad[at] ^= 1 << (at % 8)
			if space(bad[at]) && space(good[at]) {
				continue // between the tokens of the claims
			}
			check(fmt.Sprintf("bit %d of byte %d flipped", at%8, at), bad)
		}
		for i := range 20 {
			check("a truncation", good[:len(good)*i/20])
		}
		check("a byte more", append(slices.Clone(good), 0))
	}
}

// Another statement, commitment or proof is rejected by the check that is about
// it.
func TestRejections(t *testing.T) {
	q := queue(t)
	for _, s := range whirfile.Schemes() {
		m := make1(t, q, s, 6, options)
		expect := func(what, check string, b whirfile.Bundle) {
			t.Helper()
			err := b.Verify()
			var r *whirfile.Rejection
			if !errors.As(err, &r) || check != "" && r.Check != check {
				t.Errorf("%s: %s: %v, want a rejection by %q", s.Name(), what, err, check)
			}
		}
		claims := func(change func(c []whirfile.Claim)) []whirfile.Claim {
			c := slices.Clone(m.b.Claims)
			for i := range c {
				c[i].Point, c[i].Values = slices.Clone(c[i].Point), slices.Clone(c[i].Values)
				for j := range c[i].Point {
					c[i].Point[j] = slices.Clone(c[i].Point[j])
				}
				for j := range c[i].Values {
					c[i].Values[j] = slices.Clone(c[i].Values[j])
				}
			}
			change(c)
			return c
		}
		value := claims(func(c []whirfile.Claim) { c[0].Values[0][0] ^= 1 })
		expect("another value", "", whirfile.Bundle{Commitment: m.b.Commitment, Claims: value, Proof: m.b.Proof})
		point := claims(func(c []whirfile.Claim) { c[1].Point[0][0] ^= 1 })
		expect("another point", "", whirfile.Bundle{Commitment: m.b.Commitment, Claims: point, Proof: m.b.Proof})
		o := options
		o.Lambda = 81
		other := make1(t, q, s, 6, o)
		expect("other parameters", whirfile.CheckParameters, whirfile.Bundle{Commitment: m.b.Commitment, Claims: m.b.Claims, Proof: other.b.Proof})
		root := *m.b.Commitment
		root.Root[4] ^= 1
		expect("another root", "", whirfile.Bundle{Commitment: &root, Claims: m.b.Claims, Proof: m.b.Proof})
	}
}

func TestRefusals(t *testing.T) {
	q := queue(t)
	for _, s := range whirfile.Schemes() {
		m := make1(t, q, s, 4, options)
		modulus := uint32(m.p.Inner().Spec().Modulus)
		big := slices.Clone(m.tables[0])
		big[5] = modulus
		if _, err := Commit(q, m.p, big); !errors.Is(err, whirfile.ErrFormat) {
			t.Errorf("%s: a word of the modulus: %v", s.Name(), err)
		}
		if _, err := Commit(q, m.p, big[:4]); !errors.Is(err, whirfile.ErrFormat) {
			t.Errorf("%s: a short table: %v", s.Name(), err)
		}
		if _, err := Commit(q, m.p); err == nil {
			t.Errorf("%s: no table was committed to", s.Name())
		}
		c, err := Commit(q, m.p, m.tables...)
		if err != nil {
			t.Fatal(err)
		}
		wrong := slices.Clone(m.b.Claims)
		wrong[0].Values = []whirfile.Words{{1}}
		var false1 *FalseClaim
		if _, err := c.Evaluate(wrong); !errors.As(err, &false1) || false1.Claim != 0 {
			t.Errorf("%s: a false claim: %v", s.Name(), err)
		}
		if got, err := c.Evaluate(m.b.Claims); err != nil || len(got) != 2 {
			t.Errorf("%s: true claims with their values: %v", s.Name(), err)
		}
		if _, err := c.Open(q, []whirfile.Claim{{Kind: whirfile.Eval, Point: m.p.RandomPoint("x", 4)}}); !errors.Is(err, whirfile.ErrFormat) {
			t.Errorf("%s: opening a claim without its value: %v", s.Name(), err)
		}
	}
}

// A key keeps what it was made of.
func TestKey(t *testing.T) {
	q := queue(t)
	for _, s := range whirfile.Schemes() {
		m := make1(t, q, s, 3, options)
		k := &whirfile.Key{Commitment: m.b.Commitment, Tables: []whirfile.Table{{Words: m.tables[0], Digest: whirfile.TableDigest(m.tables[0])}}}
		file := k.Encode()
		again, err := whirfile.DecodeKey(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Encode(), file) || !slices.Equal(again.Tables[0].Words, m.tables[0]) {
			t.Errorf("%s: the key changed on its way through a file", s.Name())
		}
		for at := range file {
			bad := slices.Clone(file)
			bad[at] ^= 0x10
			if _, err := whirfile.DecodeKey(bad); !errors.Is(err, whirfile.ErrFormat) {
				t.Errorf("%s: byte %d changed: %v", s.Name(), at, err)
			}
		}
		for n := range len(file) {
			if _, err := whirfile.DecodeKey(file[:n]); !errors.Is(err, whirfile.ErrFormat) {
				t.Errorf("%s: cut to %d bytes: %v", s.Name(), n, err)
			}
		}
		// A key that promises a table it does not hold takes no memory for it.
		huge := binary.LittleEndian.AppendUint32(slices.Clone(file[:len(file)-32-4*len(m.tables[0])-32-8]), 0)
		sum := sha256.Sum256(huge)
		huge = append(huge, sum[:]...)
		if _, err := whirfile.DecodeKey(huge); !errors.Is(err, whirfile.ErrFormat) {
			t.Errorf("%s: a key without its table: %v", s.Name(), err)
		}
	}
}
