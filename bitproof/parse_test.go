package bitproof

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// chi is the step chi of Keccak-f on rows of five lanes.
const chi = `
# Keccak-f, step chi
rows 2^10
columns a0 a1 a2 a3 a4
columns b0 b1 b2 b3 b4
b0 = a0 ^ ~a1 & a2
b1 = ~a2 & a3 ^ a1
b2 ^ ~a3 & a4 = a2
(~a4) & a0 = b3 ^ a3
b4 = a4 ^ ((a0 ^ 1) & a1)	# the same, spelt out
`

func TestParse(t *testing.T) {
	s, err := Parse(chi)
	if err != nil {
		t.Fatal(err)
	}
	if s.Vars != 10 || len(s.Names) != 10 || len(s.Ands) != 5 || len(s.Zeros) != 0 {
		t.Fatalf("got %+v", s)
	}
	for i, g := range s.Ands {
		want := And{Left: Combination{1 << ((i + 1) % 5), true}, Right: Combination{1 << ((i + 2) % 5), false}, Out: Combination{1<<i | 1<<(5+i), false}}
		if i == 3 || g == want {
			want.Left, want.Right = g.Left, g.Right
		}
		if g != want {
			t.Errorf("gate %d is %+v, want %+v", i, g, want)
		}
	}
	if s.GateVars() != 3 || s.ColumnVars() != 4 || s.ColumnWords() != 32 {
		t.Errorf("%d gate variables, %d column variables, %d words", s.GateVars(), s.ColumnVars(), s.ColumnWords())
	}
}

// Every gate's meaning, on all values of three columns.
func TestParseMeaning(t *testing.T) {
	for gate, holds := range map[string]func(a, b, c bool) bool{
		"a = b":                    func(a, b, _ bool) bool { return a == b },
		"a ^ b ^ c = 1":            func(a, b, c bool) bool { return a != b != c },
		"~a ^ b = ~c":              func(a, b, c bool) bool { return !a != b == !c },
		"c = a & b":                func(a, b, c bool) bool { return c == (a && b) },
		"c = ~a & ~b":              func(a, b, c bool) bool { return c == (!a && !b) },
		"c = ~(a & b)":             func(a, b, c bool) bool { return c != (a && b) },
		"c = a ^ a & b":            func(a, b, c bool) bool { return c == (a != (a && b)) },
		"a & 1 & b = c ^ 0":        func(a, b, c bool) bool { return c == (a && b) },
		"(a ^ b) & ~(b ^ c) = 0":   func(a, b, c bool) bool { return !((a != b) && b == c) },
		"a & 0 = c":                func(_, _, c bool) bool { return !c },
		"~~a = b & (0 ^ 1)":        func(a, b, _ bool) bool { return a == b },
		"1 ^ (a ^ (b & c) ^ 1)= 0": func(a, b, c bool) bool { return a == (b && c) },
	} {
		s, err := Parse("rows 2^5\ncolumns a b c\n" + gate)
		if err != nil {
			t.Errorf("%s: %v", gate, err)
			continue
		}
		for v := range 8 {
			a, b, c := v&1 == 1, v>>1&1 == 1, v>>2&1 == 1
			column := func(j int) uint32 { return -uint32(v >> j & 1) }
			var broken uint32
			for _, g := range s.Ands {
				broken |= g.Left.Word(column)&g.Right.Word(column) ^ g.Out.Word(column)
			}
			for _, z := range s.Zeros {
				broken |= z.Word(column)
			}
			if got := broken == 0; got != holds(a, b, c) || !got && broken != ^uint32(0) {
				t.Errorf("%s at a, b, c = %t, %t, %t: %x broken", gate, a, b, c, broken)
			}
		}
		again, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(again, s) || again.Digest() != s.Digest() {
			t.Errorf("%s: as text %q, which gives %+v, %v", gate, s, again, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const head = "rows 2^5\ncolumns a b c\n"
	deep := strings.Repeat("(", 65)
	for text, want := range map[string]string{
		"":                            "line 1, column 1: found the end of the text, want rows 2^N",
		"# nothing\n":                 "line 2, column 1: found the end of the text, want rows 2^N",
		"rows 2^5":                    "line 1, column 1: found the end of the text, want columns",
		"rows 2^5\ncolumns a":         "line 2, column 1: found the end of the text, want a gate",
		"rows 32":                     `line 1, column 6: found "32", want 2^N`,
		"rows 2^4":                    `line 1, column 8: found "4", want a number from 5 to 30`,
		"rows 2^05":                   `line 1, column 8: found "05", want a number from 5 to 30`,
		"rows 2^31":                   `line 1, column 8: found "31", want a number from 5 to 30`,
		"rows 2^99999999999999999999": `line 1, column 8: found "99999999999999999999", want a number from 5 to 30`,
		"rows 2^":                     "line 1, column 8: found the end of the line, want a number from 5 to 30",
		"rows 2^5 6":                  `line 1, column 10: found "6", want the end of the line`,
		"rows 2^5\nrows 2^5":          `line 2, column 1: found "rows", want one line of rows`,
		"columns a":                   `line 1, column 1: found "columns", want rows 2^N before columns`,
		"rows 2^5\ncolumns":           "line 2, column 8: found the end of the line, want a name",
		"rows 2^5\ncolumns a a":       `line 2, column 11: found "a", want another name: a column has this one`,
		"rows 2^5\ncolumns 7a":        `line 2, column 9: found "7a", want a column's name`,
		"rows 2^5\ncolumns rows":      `line 2, column 9: found "rows", want a column's name`,
		"rows 2^5\na = b":             `line 2, column 1: found "a", want columns before gates`,
		"a = b":                       `line 1, column 1: found "a", want rows 2^N`,
		head + "a = b\ncolumns d":     `line 4, column 1: found "columns", want all columns before the first gate`,
		head + "a":                    "line 3, column 2: found the end of the line, want =, ^ or &",
		head + "a = ä":                "line 3, column 5: found \"ä\", want a column, 0, 1, ~ or (",
		head + "a = \xc3":             "line 3, column 5: found \"\\xc3\", want a column, 0, 1, ~ or (",
		"\ufeffrows 2^5":              "line 1, column 1: found \"\\ufeff\", want rows 2^N",
		head + "a =":                  "line 3, column 4: found the end of the line, want a column, 0, 1, ~ or (",
		head + "a = d":                `line 3, column 5: found "d", want a column, 0 or 1`,
		head + "a = 2":                `line 3, column 5: found "2", want a column, 0 or 1`,
		head + "a = b c":              `line 3, column 7: found "c", want ^, & or the end of the line`,
		head + "a == b":               `line 3, column 4: found "=", want a column, 0, 1, ~ or (`,
		head + "a = (b ^ c":           "line 3, column 11: found the end of the line, want ), ^ or &",
		head + "a = b | c":            `line 3, column 7: found "|", want ^, & or the end of the line`,
		head + "a = a & b & c":        `line 3, column 11: found "&", want one & in a gate`,
		head + "a & b = b & c":        `line 3, column 11: found "&", want one & in a gate`,
		head + "a = (a ^ b & c) & b":  `line 3, column 17: found "&", want one & in a gate`,
		head + "a ^ b = b ^ a":        `line 3, column 1: found "a", want a gate that can fail`,
		head + "a ^ b = b ^ ~a":       `line 3, column 1: found "a", want a gate that can hold`,
		head + "a = " + deep + "b":    `line 3, column 69: found "(", want at most 64 of ~ and ( within each other`,
		head + "a = \xff":             `line 3, column 5: found "\xff", want a column, 0, 1, ~ or (`,
		head + strings.Repeat("a=b\n", MaxGates+1):     `line 4099, column 1: found "a", want at most 4096 gates`,
		"rows 2^5\ncolumns " + strings.Repeat("x", 65): "at most 64, and no word of the language",
		"rows 2^5\ncolumns" + names(65):                `found "x64", want at most 64 columns`,
		strings.Repeat(" ", MaxText+1):                 "a text of 1048577 bytes, at most 1048576",
	} {
		_, err := Parse(text)
		if err == nil || !errors.Is(err, ErrStatement) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" x")
		if i >= 10 {
			b.WriteByte(byte('0' + i/10))
		}
		b.WriteByte(byte('0' + i%10))
	}
	return b.String()
}

func TestStatementErrors(t *testing.T) {
	good := func() *Statement {
		s, err := Parse("rows 2^5\ncolumns a b c\nc = a & b\na ^ b ^ c = 1")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for want, spoil := range map[string]func(s *Statement){
		"2^4 rows, want 2^5 to 2^30":       func(s *Statement) { s.Vars = 4 },
		"2^31 rows, want 2^5 to 2^30":      func(s *Statement) { s.Vars = 31 },
		"0 columns, want 1 to 64":          func(s *Statement) { s.Names = nil },
		"65 columns, want 1 to 64":         func(s *Statement) { s.Names = make([]string, 65) },
		`column "a b", want a letter`:      func(s *Statement) { s.Names[1] = "a b" },
		"column a is named twice":          func(s *Statement) { s.Names[1] = "a" },
		"0 gates, want 1 to 4096":          func(s *Statement) { s.Ands, s.Zeros = nil, nil },
		"4097 gates, want 1 to 4096":       func(s *Statement) { s.Zeros = make([]Combination, 4096) },
		"AND gate 0 names column 3 of 3":   func(s *Statement) { s.Ands[0].Out.Columns |= 8 },
		"AND gate 0 has a constant factor": func(s *Statement) { s.Ands[0].Right = Combination{One: true} },
		"XOR gate 0 names column 63 of 3":  func(s *Statement) { s.Zeros[0].Columns |= 1 << 63 },
		"XOR gate 0 names no column":       func(s *Statement) { s.Zeros[0].Columns = 0 },
	} {
		s := good()
		spoil(s)
		if err := s.Check(); !errors.Is(err, ErrStatement) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The digest tells statements apart, whichever part differs.
func TestDigest(t *testing.T) {
	seen := map[[32]byte]string{}
	for _, text := range []string{
		"rows 2^5\ncolumns a b c\nc = a & b\na ^ b = 1",
		"rows 2^6\ncolumns a b c\nc = a & b\na ^ b = 1",
		"rows 2^5\ncolumns a b d\nd = a & b\na ^ b = 1",
		"rows 2^5\ncolumns a c b\nc = a & b\na ^ b = 1",
		"rows 2^5\ncolumns a b c\nc = a & ~b\na ^ b = 1",
		"rows 2^5\ncolumns a b c\nc = b & a\na ^ b = 1",
		"rows 2^5\ncolumns a b c\n~c = a & b\na ^ b = 1",
		"rows 2^5\ncolumns a b c\nc = a & b\na ^ b = 0",
		"rows 2^5\ncolumns a b c\nc = a & b\na ^ b = c",
		"rows 2^5\ncolumns a b c\nc = a & b",
		"rows 2^5\ncolumns a b c\nc = a & b\nc = a & b\na ^ b = 1",
		"rows 2^5\ncolumns a b c d\nc = a & b\na ^ b = 1",
		// The same letters as names, and three combinations as a gate or as three.
		"rows 2^5\ncolumns ab c d\nab = c",
		"rows 2^5\ncolumns a bc d\na = bc",
		"rows 2^5\ncolumns a b c\na = 0\nb = 0\nc = 0",
	} {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		d := s.Digest()
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q have one digest", text, other)
		}
		seen[d] = text
	}
}

func FuzzParse(f *testing.F) {
	f.Add(chi)
	f.Add("rows 2^5\ncolumns a b\na & (b ^ 1) = ~(0)")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrStatement) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%q: its text %q gives %+v, %v", text, s, again, err)
		}
	})
}
