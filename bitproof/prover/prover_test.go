package prover

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/bitproof"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

// chi is Keccak-f's step chi on rows of five lanes.
const chi = `rows 2^%d
columns a0 a1 a2 a3 a4 b0 b1 b2 b3 b4
b0 = a0 ^ ~a1 & a2
b1 = a1 ^ ~a2 & a3
b2 = a2 ^ ~a3 & a4
b3 = a3 ^ ~a4 & a0
b4 = a4 ^ ~a0 & a1
`

// Statements of every kind: with and without AND gates, one and many of either, with
// constants, columns that no gate names, and as many columns as there may be.
var statements = map[string]string{
	"chi-5":   fmt.Sprintf(chi, 5),
	"chi-9":   fmt.Sprintf(chi, 9),
	"xor":     "rows 2^6\ncolumns a b c unused\na ^ b ^ c = 1\n",
	"one-xor": "rows 2^8\ncolumns a\na = 0\n",
	"one-and": "rows 2^7\ncolumns a b c\nc = a & b\n",
	"square":  "rows 2^5\ncolumns a\na = a & a\n",
	"mixed":   "rows 2^6\ncolumns a b c d e\n~c = (a ^ b) & ~(b ^ d)\nd ^ e = 1\ne ^ a = b & a ^ c\nd = 1 ^ e\n",
	"wide":    wide(64),
}

// wide is a chain of ANDs and XORs through m columns.
func wide(m int) string {
	var b strings.Builder
	b.WriteString("rows 2^5\ncolumns")
	for j := range m {
		fmt.Fprintf(&b, " x%d", j)
	}
	b.WriteByte('\n')
	for j := 2; j < m; j++ {
		if j%3 == 2 {
			fmt.Fprintf(&b, "x%d = x%d ^ ~x%d\n", j, j-1, j-2)
		} else {
			fmt.Fprintf(&b, "x%d = x%d & ~x%d ^ x0\n", j, j-1, j-2)
		}
	}
	return b.String()
}

func parse(t testing.TB, name string) *bitproof.Params {
	t.Helper()
	s, err := bitproof.Parse(statements[name])
	if err != nil {
		t.Fatal(err)
	}
	p, err := bitproof.NewParams(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// witness draws columns that obey a statement, row by row, by trying: 2^k values at the
// most for the k columns that the statement binds.
func witness(t testing.TB, s *bitproof.Statement, seed uint64) [][]uint32 {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	columns := make([][]uint32, len(s.Names))
	for j := range columns {
		columns[j] = make([]uint32, s.ColumnWords())
	}
	for x := range 1 << s.Vars {
		var row uint64
		for tries := 0; ; tries++ {
			row = r.Uint64()
			if settle(s, &row) {
				break
			}
			if tries == 1000 {
				t.Fatal("found no row that obeys the statement")
			}
		}
		for j := range columns {
			columns[j][x/32] |= uint32(row>>j&1) << (x % 32)
		}
	}
	return columns
}

// settle sets the last column of each gate so that it holds, gate by gate, and says
// whether all do in the end.
func settle(s *bitproof.Statement, row *uint64) bool {
	at := func(c bitproof.Combination) bool {
		return c.Word(func(j int) uint32 { return -uint32(*row >> j & 1) }) != 0
	}
	fix := func(wrong bool, c bitproof.Combination) {
		for j := len(s.Names) - 1; wrong && j >= 0; j-- {
			if c.Columns>>j&1 == 1 {
				*row ^= 1 << j
				return
			}
		}
	}
	type gate struct {
		last int
		and  *bitproof.And
		zero *bitproof.Combination
	}
	var gates []gate
	last := func(c bitproof.Combination) (at int) {
		for j := range s.Names {
			if c.Columns>>j&1 == 1 {
				at = j
			}
		}
		return at
	}
	for i := range s.Ands {
		gates = append(gates, gate{last(s.Ands[i].Out), &s.Ands[i], nil})
	}
	for i := range s.Zeros {
		gates = append(gates, gate{last(s.Zeros[i]), nil, &s.Zeros[i]})
	}
	slices.SortStableFunc(gates, func(a, b gate) int { return a.last - b.last })
	for _, check := range []bool{false, true} {
		for _, g := range gates {
			var wrong bool
			var out bitproof.Combination
			if g.and != nil {
				wrong, out = (at(g.and.Left) && at(g.and.Right)) != at(g.and.Out), g.and.Out
			} else {
				wrong, out = at(*g.zero), *g.zero
			}
			if check && wrong {
				return false
			}
			fix(wrong, out)
		}
	}
	return true
}

func prove(t testing.TB, q *device.Queue, p *bitproof.Params, columns [][]uint32) (*bitproof.Proof, error) {
	t.Helper()
	c, err := Upload(q, p, columns)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Free()
	return Prove(t.Context(), q, c, Options{})
}

func unchecked(t testing.TB, q *device.Queue, p *bitproof.Params, columns [][]uint32) (*bitproof.Proof, error) {
	t.Helper()
	c, err := Upload(q, p, columns)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Free()
	return Prove(t.Context(), q, c, Options{Unchecked: true})
}

// Every kind of statement: the same proof on all devices, which the verifier accepts, and
// still does after it went through a file.
func TestProve(t *testing.T) {
	for name := range statements {
		t.Run(name, func(t *testing.T) {
			p := parse(t, name)
			columns := witness(t, p.Statement(), 7)
			devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
				pf, err := prove(t, q, p, columns)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Verify(pf); err != nil {
					t.Fatal(err)
				}
				data, err := p.AppendProof(nil, pf)
				if err != nil {
					t.Fatal(err)
				}
				again, err := p.DecodeProof(data)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Verify(again); err != nil {
					t.Fatal(err)
				}
				return data
			})
		})
	}
}

// One bit changed: the first gate and row that it breaks.
func TestGateErrors(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, name := range []string{"chi-9", "mixed", "xor"} {
			p := parse(t, name)
			s := p.Statement()
			for _, x := range []int{0, 31, 32, 1<<s.Vars - 1} {
				columns := witness(t, s, 9)
				column := len(s.Names) - 1
				if name == "xor" {
					column = 1
				}
				columns[column][x/32] ^= 1 << (x % 32)
				if x != 0 && x != 1<<s.Vars-1 { // a later row too, which is not to be told of
					columns[column][s.ColumnWords()-1] ^= 1 << 31
				}
				_, err := prove(t, q, p, columns)
				var gate *GateError
				if !errors.As(err, &gate) || gate.Row != x {
					t.Errorf("%s, row %d: %v", name, x, err)
					continue
				}
				if pf, err := unchecked(t, q, p, columns); err != nil || p.Verify(pf) == nil {
					t.Errorf("%s, row %d, unchecked: %v, and accepted", name, x, err)
				}
				if gate.Text != s.Gate(gate.Gate) || name == "chi-9" && (gate.Gate != 4 || !strings.Contains(err.Error(), "b4")) {
					t.Errorf("%s, row %d: %v", name, x, err)
				}
			}
		}
	})
}

func TestColumnErrors(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		p := parse(t, "chi-9")
		good := witness(t, p.Statement(), 3)
		for want, columns := range map[string][][]uint32{
			"columns: got 9, want 10":             good[:9],
			"columns: got 11, want 10":            append(slices.Clone(good), good[0]),
			"words of column a0: got 15, want 16": append([][]uint32{good[0][:15]}, good[1:]...),
			"words of column b4: got 32, want 16": append(slices.Clone(good[:9]), append(slices.Clone(good[0]), good[1]...)),
			"words of column a0: got 0, want 16":  append([][]uint32{nil}, good[1:]...),
		} {
			if _, err := Upload(q, p, columns); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
}

func TestCanceled(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		p := parse(t, "chi-5")
		c, err := Upload(q, p, witness(t, p.Statement(), 3))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Free()
		for _, at := range Stages() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var seen []string
			_, err := Prove(ctx, q, c, Options{Stage: func(name string) {
				if seen = append(seen, name); name == at {
					cancel()
				}
			}})
			if at == "open" { // the last stage may still end well
				continue
			}
			if !errors.Is(err, context.Canceled) || seen[len(seen)-1] != at {
				t.Errorf("canceled in %s: %v after %v", at, err, seen)
			}
		}
	})
}
