package bitproof

import (
	"errors"
	"fmt"
	"strings"
	"testing"
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
