package whirfile

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/whir"
)

func TestClaimsFile(t *testing.T) {
	claims := []Claim{
		{Kind: Eval, Point: []Words{{1, 0, 0, 0}, {2, 3, 4, 5}}, Values: []Words{{0, 0, 0, 7}}},
		{Kind: Univariate, Point: []Words{{9}}},
	}
	file := EncodeClaims(claims)
	for _, want := range []string{`"point": [1, [2,3,4,5]]`, `"values": [[0,0,0,7]]`, `"kind": "univariate"`} {
		if !strings.Contains(string(file), want) {
			t.Errorf("the file lacks %s:\n%s", want, file)
		}
	}
	got, err := DecodeClaims(file)
	if err != nil {
		t.Fatal(err)
	}
	claims[0].Point[0] = Words{1} // the plain number
	if !reflect.DeepEqual(got, claims) {
		t.Errorf("read %v, wrote %v", got, claims)
	}
	if got, err := DecodeClaims(EncodeClaims(nil)); err != nil || len(got) != 0 {
		t.Errorf("no claims: %v, %v", got, err)
	}
}

func TestBadClaimsFiles(t *testing.T) {
	claim := func(text string) string {
		return `{"format": "zkwarp whir claims 1", "claims": [` + text + `]}`
	}
	for text, want := range map[string]string{
		"":                              "unexpected EOF",
		"[]":                            "want {",
		"{}":                            "field format is missing",
		`{"format": "x", "claims": []}`: `format is "x"`,
		claim("") + "{}":                "more after the end",
		claim("")[:20]:                  "unexpected EOF",
		claim(`{"point": [1]}`):         "field kind is missing",
		claim(`{"kind": "eval"}`):       "field point is missing",
		claim(`{"Kind": "eval"}`):       `unknown field "Kind"`,
		claim(`{"kind": "eval", "kind": "eval"}`):        "occurs twice",
		claim(`{"kind": "eval", "point": [-1]}`):         `"-1" is not a number`,
		claim(`{"kind": "eval", "point": [1.5]}`):        `"1.5" is not a number`,
		claim(`{"kind": "eval", "point": [1e3]}`):        `"1e3" is not a number`,
		claim(`{"kind": "eval", "point": ["1"]}`):        "is not a number",
		claim(`{"kind": "eval", "point": [["1"]]}`):      "is not a number",
		claim(`{"kind": "eval", "point": [[[1]]]}`):      "is no list of numbers",
		claim(`{"kind": "eval", "point": [null]}`):       `"null" is not a number`,
		claim(`{"kind": "eval", "point": null}`):         "want [",
		claim(`{"kind": "eval", "point": [4294967296]}`): "is not a number",
	} {
		_, err := DecodeClaims([]byte(text))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestCheckClaims(t *testing.T) {
	for _, s := range Schemes() {
		p, err := s.Choose(2, whir.Options{Lambda: 80, Claims: 1})
		if err != nil {
			t.Fatal(err)
		}
		one, two := []Words{{1}}, []Words{{1}, {2}}
		for want, c := range map[string][]Claim{
			"2 claims, the commitment allows 1":   {{Kind: Eval, Point: two, Values: one}, {Kind: Eval, Point: two, Values: one}},
			"point has 1 elements, want 2":        {{Kind: Eval, Point: one, Values: one}},
			"values has 0 elements, want 1":       {{Kind: Eval, Point: two}},
			"values has 2 elements, want 1":       {{Kind: Eval, Point: two, Values: two}},
			`kind is "sum"`:                       {{Kind: "sum", Point: two, Values: one}},
			"element 1: word 0 is":                {{Kind: Eval, Point: []Words{{1}, {uint32(p.Inner().Spec().Modulus)}}, Values: one}},
			"element 0 has 0 coefficients":        {{Kind: Eval, Point: []Words{{}, {1}}, Values: one}},
			"element 0 has 6 coefficients, want ": {{Kind: Eval, Point: []Words{make(Words, 6), {1}}, Values: one}},
		} {
			if err := p.CheckClaims(c, false); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", s.Name(), err, want)
			}
		}
	}
}
