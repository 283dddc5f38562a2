package prover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// TestParts proves a chain, of which the proofs of parts are kept as files, and goes on with those: nothing is proved twice, and what is put
// together is the same proof. Parts of another chain, missing ones and repeated ones are refused.
func TestParts(t *testing.T) {
	p := made(t)
	want := p.result.Proof.Encode()
	var mu sync.Mutex
	files := map[int][]byte{}
	stages := 0
	o := &Options{
		Context: []byte("a"),
		Stage:   func(_ int, _ *device.Device, _ prover.Stage, _ bool) { mu.Lock(); stages++; mu.Unlock() },
		Proved: func(part *chunks.PartProof, openings []*zkml.Opening) error {
			mu.Lock()
			defer mu.Unlock()
			files[part.Part] = part.Encode()
			if len(openings) > 0 {
				t.Errorf("part %d: %d openings, nothing is committed", part.Part, len(openings))
			}
			return nil
		},
	}
	// The second part's file is there already.
	kept := &chunks.PartProof{Chain: p.chain.Digest(), Part: 1, Y: p.result.Proof.Y[1], Proof: p.result.Proof.Proofs[1]}
	o.Kept = func(k int) (*chunks.PartProof, []*zkml.Opening) {
		if k == kept.Part {
			return kept, nil
		}
		return nil, nil
	}
	o.Stale = func(k int, err error) { t.Errorf("part %d is not kept: %v", k, err) }
	r, err := Prove(t.Context(), simulated(t, 2), p.chain, p.keys, p.c.X, o)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.Proof.Encode(), want) || len(files) != 2 || files[1] != nil || stages != 2*2*len(prover.Stages()) {
		t.Errorf("%d files, %d calls for stages, the proof is the same: %t", len(files), stages, bytes.Equal(r.Proof.Encode(), want))
	}
	for k, part := range r.Parts {
		if part.Kept != (k == 1) || part.Kept != (len(part.Timings) == 0) || part.Device != "cpu" {
			t.Errorf("part %d: %+v", k, part)
		}
	}
	files[1] = kept.Encode()

	var parts []*chunks.PartProof
	for k := range len(files) {
		part, err := chunks.DecodePart(files[k])
		if err != nil || !bytes.Equal(part.Encode(), files[k]) {
			t.Fatalf("part %d: %v", k, err)
		}
		parts = append(parts, part)
	}
	joined, err := chunks.Join(p.chain, []*chunks.PartProof{parts[2], parts[0], parts[1]})
	if err != nil || !bytes.Equal(joined.Encode(), want) {
		t.Errorf("joined: %v", err)
	}
	foreign := *parts[1]
	foreign.Chain[0] ^= 1
	beyond := *parts[1]
	beyond.Part = 3
	stale(t, p, parts)
	for _, c := range []struct {
		parts []*chunks.PartProof
		want  string
	}{
		{parts[:2], "part 3 of 3 is missing"},
		{nil, "part 1 of 3 is missing"},
		{[]*chunks.PartProof{parts[0], parts[1], parts[1]}, "two proofs of part 2"},
		{[]*chunks.PartProof{parts[0], &foreign, parts[2]}, zkml.CheckKeyDigest},
		{[]*chunks.PartProof{parts[0], &beyond, parts[2]}, "a proof of part 4, the chain has 3"},
	} {
		if _, err := chunks.Join(p.chain, c.parts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %q", err, c.want)
		}
	}
	// A part under another number joins, and fails where its proof is verified.
	moved := *parts[0]
	moved.Part, beyond.Part = 1, 0
	swapped, err := chunks.Join(p.chain, []*chunks.PartProof{&beyond, &moved, parts[2]})
	if err != nil {
		t.Fatal(err)
	}
	if err := chunks.Verify(p.chain, p.c.X, p.result.Y, swapped, &chunks.Options{Context: []byte("a")}); !errors.Is(err, zkml.ErrRejected) {
		t.Errorf("parts under each other's numbers: %v", err)
	}
	for n := range len(files[0]) {
		if n%97 == 0 || n < 60 {
			if _, err := chunks.DecodePart(files[0][:n]); err == nil {
				t.Errorf("%d bytes of a part", n)
			}
		}
	}
	// What cannot be written is an error of the part.
	full := errors.New("the disk is full")
	o = &Options{Context: []byte("a"), Proved: func(part *chunks.PartProof, _ []*zkml.Opening) error {
		if part.Part == 1 {
			return full
		}
		return nil
	}}
	if _, err := Prove(context.Background(), simulated(t, 1), p.chain, p.keys, p.c.X, o); !errors.Is(err, full) || !strings.Contains(err.Error(), "part 2 of 3") {
		t.Errorf("a part that cannot be written: %v", err)
	}
}

// stale goes on with what is left of something else: it is not kept, the reason is told, and the proof is the same.
func stale(t *testing.T, p *proved, parts []*chunks.PartProof) {
	t.Helper()
	changed := func(f func(c *chunks.PartProof)) *chunks.PartProof {
		c := *parts[1]
		f(&c)
		return &c
	}
	for want, left := range map[string]*chunks.PartProof{
		"of the chain":         changed(func(c *chunks.PartProof) { c.Chain[0] ^= 1 }),
		"of part 3, want 2":    changed(func(c *chunks.PartProof) { c.Part = 2 }),
		"public output values": changed(func(c *chunks.PartProof) { c.Y = c.Y[1:] }),
		"1 roots":              changed(func(c *chunks.PartProof) { c.Roots = make([]merkle.Digest, 1) }),
		"for another output":   changed(func(c *chunks.PartProof) { c.Y = make([]int32, len(c.Y)) }),
		"for another key":      changed(func(c *chunks.PartProof) { c.Proof = parts[0].Proof }),
		"truncated":            changed(func(c *chunks.PartProof) { c.Proof = c.Proof[:len(c.Proof)-1] }),
	} {
		told := ""
		r, err := Prove(t.Context(), simulated(t, 1), p.chain, p.keys, p.c.X, &Options{
			Context: []byte("a"),
			Stale:   func(k int, err error) { told += fmt.Sprintf("part %d: %v", k+1, err) },
			Kept: func(k int) (*chunks.PartProof, []*zkml.Opening) {
				if k == 1 {
					return left, nil
				}
				return parts[k], nil
			},
		})
		if err != nil || !bytes.Equal(r.Proof.Encode(), p.result.Proof.Encode()) || !r.Parts[0].Kept || r.Parts[1].Kept || !r.Parts[2].Kept {
			t.Fatalf("%s: %v", want, err)
		}
		if !strings.Contains(told, want) || !strings.HasPrefix(told, "part 2: ") {
			t.Errorf("%q is told, expected %q in it", told, want)
		}
	}
}

// TestLink makes the chain of keys whose names tell how they belong together: it is the one that a cut makes.
func TestLink(t *testing.T) {
	p := made(t)
	keys := p.chain.Keys()
	linked, err := chunks.Link(keys)
	if err != nil {
		t.Fatal(err)
	}
	if linked.Digest() != p.chain.Digest() {
		t.Error("another chain than Cut's")
	}
	if _, err := chunks.Link(nil); err == nil {
		t.Error("a chain of nothing")
	}
	// A piece linked twice would give two outputs of one name, which nobody could tell apart.
	if _, err := chunks.Link([]*zkml.VerifyingKey{keys[0], keys[0]}); err == nil || !strings.Contains(err.Error(), "given again by part 2") {
		t.Errorf("a piece twice: %v", err)
	}
	// In another order the last piece's input comes from nowhere: it is one of the chain's, whose proofs are others.
	other, err := chunks.Link([]*zkml.VerifyingKey{keys[1], keys[0], keys[2]})
	if err == nil && (other.Digest() == linked.Digest() || other.InputLen() == linked.InputLen()) {
		t.Error("the order does not matter")
	}
	if name := linked.PartName(1); !strings.HasPrefix(name, "part 2 of 3 (") {
		t.Error(name)
	}
}
