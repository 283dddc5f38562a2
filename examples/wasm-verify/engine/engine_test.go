package engine

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/whir/whirfile"
)

func TestProveAndVerify(t *testing.T) {
	for _, s := range Schemes() {
		var stages []string
		m, err := Prove(context.Background(), Options{Scheme: s[0], Vars: 7, Seed: "1", Bits: 80}, nil, func(stage string) { stages = append(stages, stage) })
		if err != nil {
			t.Fatal(err)
		}
		if m.Report.Verdict != "accepted" || m.Elements != 128 || m.CommitMS <= 0 || m.OpenMS <= 0 || !slices.Contains(stages, "committing") {
			t.Errorf("%s: %+v (%v)", s[0], m.Report, stages)
		}
		b, err := whirfile.DecodeBundle(m.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		parts := [][]byte{b.Proof.Encode(), whirfile.EncodeClaims(b.Claims), b.Commitment.Encode()}
		if r := Verify(parts...); r.Verdict != "accepted" || r.Parameters.Scheme != s[0] || r.ClaimCount != 1 || len(r.Claims) != 1 {
			t.Errorf("%s: the parts: %+v", s[0], r)
		}
		parts[0][len(parts[0])-1] ^= 1
		if r := Verify(parts...); r.Verdict == "accepted" || r.Verdict == "rejected" && r.Check == "" {
			t.Errorf("%s: a changed proof: %+v", s[0], r)
		}
		for want, files := range map[string][][]byte{
			"commitment (.whir) is missing":      parts[:2],
			"claims (.claims.json) are missing":  {parts[0], parts[2]},
			"proof (.proof) is missing":          parts[1:],
			"two of a kind":                      {parts[0], parts[0]},
			"a bundle comes alone":               {m.Bundle, parts[0]},
			"neither a bundle nor a commitment,": {[]byte("text")},
			"which is for its owner only":        {[]byte(whirfile.MagicKey + "...")},
		} {
			if r := Verify(files...); r.Verdict != "malformed" || !strings.Contains(r.Reason, want) {
				t.Errorf("%s: %+v, want %q", s[0], r, want)
			}
		}
	}
}

func TestProveTable(t *testing.T) {
	var table []byte
	for i := range uint32(64) {
		table = binary.LittleEndian.AppendUint32(table, i*i)
	}
	none := func(string) {}
	m, err := Prove(context.Background(), Options{Scheme: "m31-poseidon2", Seed: "1", Bits: 90}, table, none)
	if err != nil {
		t.Fatal(err)
	}
	if m.Report.Verdict != "accepted" || m.Elements != 64 {
		t.Errorf("%+v", m.Report)
	}
	for want, o := range map[string]Options{
		"no such scheme":       {Scheme: "m31-md5", Vars: 4, Bits: 90},
		"2^19 elements":        {Scheme: "m31-poseidon2", Vars: 19, Bits: 90},
		"2^0 elements":         {Scheme: "m31-poseidon2", Bits: 90},
		"0 bits of security":   {Scheme: "m31-poseidon2", Vars: 4},
		"no parameters reach ": {Scheme: "m31-poseidon2", Vars: 18, Bits: 125},
	} {
		if _, err := Prove(context.Background(), o, nil, none); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	if _, err := Prove(context.Background(), Options{Scheme: "m31-poseidon2", Bits: 90}, table[:5], none); err == nil {
		t.Error("a table of 5 bytes was committed to")
	}
}
