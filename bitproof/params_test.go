package bitproof

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/fribinius"
)

// sized is a statement of that many rows, columns and AND gates.
func sized(vars, columns, gates int) *Statement {
	s := &Statement{Vars: vars}
	for j := range columns {
		s.Names = append(s.Names, fmt.Sprintf("x%d", j))
	}
	for range gates {
		s.Ands = append(s.Ands, And{Combination{Columns: 1}, Combination{Columns: 1}, Combination{Columns: 1}})
	}
	return s
}

// What NewParams accepts can be proved: its sum-checks and its commitment are within
// the limits of those packages, at their edges too.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		vars, columns, gates int
		want                 string
	}{
		{MaxVars, 16, 1024, ""},
		{28, MaxColumns, MaxGates, ""},
		{MinVars, 1, 1, ""},
		{MaxVars, 17, 1, "17 columns of 2^30 bits are a table of 2^35, want at most 2^34"},
		{29, MaxColumns, 1, "64 columns of 2^29 bits are a table of 2^35, want at most 2^34"},
		{MaxVars, 16, 1025, "1025 AND gates in 2^30 rows are a zero-check of 41 variables, want at most 40"},
		{29, 32, MaxGates, "4096 AND gates in 2^29 rows are a zero-check of 41 variables, want at most 40"},
	} {
		p, err := NewParams(sized(c.vars, c.columns, c.gates))
		if c.want != "" {
			if !errors.Is(err, ErrStatement) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d columns, %d gates, 2^%d rows: got error %v, want %q", c.columns, c.gates, c.vars, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%d columns, %d gates, 2^%d rows: %v", c.columns, c.gates, c.vars, err)
			continue
		}
		for _, shape := range []interface{ Check() error }{p.gateShape(), p.joinShape()} {
			if err := shape.Check(); err != nil {
				t.Errorf("%d columns, %d gates, 2^%d rows: %v: %v", c.columns, c.gates, c.vars, shape, err)
			}
		}
		if r := p.Report(); r.Sum < MinBits {
			t.Errorf("%d columns, %d gates, 2^%d rows: %.2f bits, want %d", c.columns, c.gates, c.vars, r.Sum, MinBits)
		}
	}
}

// The report lists every error term of docs/bitproof.md, with its size, and no other one.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		vars, columns, gates, zeros int
		want                        string // numerators over 2^128, in the protocol's order
	}{
		{20, 10, 5, 0, "gates: zero-check 23, gates: sum-check 69, columns: batching 4, points: batching 1, points: sum-check 40"},
		{20, 10, 5, 9, "gates: zero-check 23, gates: sum-check 69, columns: batching 4, points: batching 1, points: sum-check 40"},
		{9, 1, 1, 0, "gates: zero-check 9, gates: sum-check 27, points: batching 1, points: sum-check 18"},
		{5, 1, 2, 1, "gates: zero-check 6, gates: sum-check 18, columns: batching 2, points: batching 1, points: sum-check 10"},
		{12, 33, 0, 3, "gates: zero-check 12, columns: batching 6"},
		{7, 1, 0, 1, "gates: zero-check 7"},
	} {
		s := sized(c.vars, c.columns, c.gates)
		for range c.zeros {
			s.Zeros = append(s.Zeros, Combination{Columns: 1})
		}
		p, err := NewParams(s)
		if err != nil {
			t.Fatal(err)
		}
		r := p.Report()
		opening := p.Commitment().Report()
		own := len(r.Lines) - len(opening.Lines)
		var got []string
		sum, least := 0.0, math.Inf(1)
		for i, l := range r.Lines {
			sum += math.Exp2(-l.Bits)
			least = min(least, l.Bits)
			if i < own {
				got = append(got, fmt.Sprintf("%s %.0f", l.Name, math.Exp2(128-l.Bits)))
			} else if o := opening.Lines[i-own]; l.Name != "opening: "+o.Name || l.Bits != o.Bits {
				t.Errorf("%+v: line %d is %+v, want that of the opening, %+v", c, i, l, o)
			}
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%d columns, %d gates, 2^%d rows:\n got %s\nwant %s", c.columns, c.gates, c.vars, all, c.want)
		}
		if math.Abs(r.Sum+math.Log2(sum)) > 1e-9 || r.Min != least || r.Sum < MinBits {
			t.Errorf("%d columns, %d gates, 2^%d rows: minimum %f and sum %f, want %f and %f", c.columns, c.gates, c.vars, r.Min, r.Sum, least, -math.Log2(sum))
		}
	}
}

// Parameters that nobody made accept nothing.
func TestZeroParams(t *testing.T) {
	p := &Params{}
	if err := p.Verify(&Proof{Opening: &fribinius.Proof{}}); !errors.Is(err, ErrRejected) {
		t.Errorf("verification: %v", err)
	}
	if _, err := p.AppendProof(nil, &Proof{Opening: &fribinius.Proof{}}); !errors.Is(err, fribinius.ErrEncoding) {
		t.Errorf("encoding: %v", err)
	}
	if _, err := p.DecodeProof(append(append([]byte(Magic), 1, 0, 0, 0), make([]byte, 32+32)...)); !errors.Is(err, ErrRejected) {
		t.Errorf("decoding: %v", err)
	}
}
