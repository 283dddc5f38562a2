package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/whir/whirfile"
)

// inspectWHIR describes a file of zkwarp whir; ok is false for other files.
func inspectWHIR(path string, data []byte) (v *view, ok bool, err error) {
	magic := artefact(data)
	fail := func(what string, err error) (*view, bool, error) {
		return nil, true, inputError("%s %s: %w", what, path, err)
	}
	switch {
	case magic == whirfile.MagicCommitment:
		c, err := whirfile.DecodeCommitment(data)
		if err != nil {
			return fail("commitment", err)
		}
		v = &view{Kind: "commitment"}
		v.addCommitment(c)
	case magic == whirfile.MagicKey:
		k, err := whirfile.DecodeKey(data)
		if err != nil {
			return fail("key", err)
		}
		v = &view{Kind: "opening key"}
		for i, t := range k.Tables {
			where := map[whirfile.Source]string{whirfile.Embedded: "in the key", whirfile.File: "file " + t.Name, whirfile.Seed: randomPrefix + t.Name}[t.Source]
			v.fact(fmt.Sprintf("table %d", i), fmt.Sprintf("%s, SHA-256 of its words %s", where, hexText(t.Digest[:])))
		}
		v.addCommitment(k.Commitment)
	case magic == whirfile.MagicProof:
		p, err := whirfile.DecodeProof(data)
		if err != nil {
			return fail("proof", err)
		}
		v = &view{Kind: "opening proof"}
		v.addOpening(p)
		v.fact("complete", "cannot be told without the commitment; zkwarp whir verify takes both")
	case magic == whirfile.MagicBundle:
		b, err := whirfile.DecodeBundle(data)
		if err != nil {
			return fail("bundle", err)
		}
		v = &view{Kind: "bundle"}
		v.addOpening(b.Proof)
		whole := "yes; whether it proves anything, zkwarp whir verify tells"
		if err := b.Commitment.CheckProof(b.Proof, len(b.Claims)); err != nil {
			whole = "no: " + err.Error()
		}
		v.fact("complete", whole)
		v.addCommitment(b.Commitment)
		v.addClaims(b.Claims)
	case isClaims(data):
		claims, err := whirfile.DecodeClaims(data)
		if err != nil {
			return fail("claims", err)
		}
		v = &view{Kind: "claims"}
		v.fact("claims", len(claims))
		v.fact("to believe them", "zkwarp whir verify, with commitment and proof")
		v.addClaims(claims)
	default:
		return nil, false, nil
	}
	return v, true, nil
}

// isClaims says whether JSON looks like claims rather than another object.
func isClaims(data []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return false
	}
	var f struct {
		Claims json.RawMessage `json:"claims"`
	}
	return json.Unmarshal(data, &f) == nil && f.Claims != nil
}

func (v *view) addCommitment(c *whirfile.Commitment) {
	d, digest := c.Params.Describe(), c.Digest()
	v.fact("scheme", d.Scheme)
	v.fact("tables", fmt.Sprintf("%d of 2^%d elements", d.Tables, d.Vars))
	v.fact("claims at most", d.Claims)
	v.fact("tree arity", d.Arity)
	v.fact("root", hexText(c.Root[:]))
	v.fact("security", fmt.Sprintf("%.2f bits in sum, weakest step %.2f", d.Sum, d.Min))
	v.fact("parameters digest", d.Digest)
	v.fact("commitment digest", hexText(digest[:]))
	v.Tables = append(v.Tables, *scheduleTable(d))
	lines := table{Name: "security", Columns: []string{"step", "bits", "note"}}
	for _, l := range d.Lines {
		lines.Rows = append(lines.Rows, []any{l.Name, l.Bits, l.Note})
	}
	v.Tables = append(v.Tables, lines)
}

func (v *view) addOpening(p *whirfile.Proof) {
	v.fact("for parameters", hexText(p.Params[:]))
	v.fact("body", fmt.Sprintf("%d bytes", len(p.Body)))
}

func (v *view) addClaims(claims []whirfile.Claim) {
	t := table{Name: "claims", Columns: []string{"claim", "kind", "point", "values"}}
	list := func(words []whirfile.Words) string {
		var parts []string
		for _, w := range words {
			text, err := w.MarshalJSON()
			if err != nil {
				return err.Error()
			}
			parts = append(parts, string(text))
		}
		return strings.Join(parts, " ")
	}
	for i, c := range claims {
		t.Rows = append(t.Rows, []any{i, string(c.Kind), list(c.Point), list(c.Values)})
	}
	v.Tables = append(v.Tables, t)
}
