package whir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

func choices(t testing.TB) map[string]*Params {
	out := map[string]*Params{}
	for name, o := range map[string]Options{
		"default":  {},
		"size":     {Goal: GoalSize, FoldWork: 16, Bound: DKT26},
		"unique":   {UniqueOnly: true, Arity: 8, Claims: 7},
		"batch":    {Batch: 5, Arity: 4},
		"no work":  {FoldWork: NoWork, QueryWork: NoWork},
		"Johnson":  {JohnsonStart: true, FoldWork: 20, QueryWork: 20},
		"96 bits":  {Lambda: 96},
		"110 bits": {Lambda: 110, FoldWork: 16},
	} {
		p, err := Choose(qm31, 16, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = p
	}
	return out
}

func TestParamsEncoding(t *testing.T) {
	for name, p := range choices(t) {
		enc := p.AppendBinary([]byte{9})[1:]
		q, err := DecodeParams(qm31, enc)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(p, q) {
			t.Errorf("%s: %v decoded as %v", name, p, q)
		}
		if !reflect.DeepEqual(CM31().CommitmentWords(p, [8]m31.Element{1}), CM31().CommitmentWords(q, [8]m31.Element{1})) {
			t.Errorf("%s: other words", name)
		}
		for k := range enc {
			if _, err := DecodeParams(qm31, enc[:k]); err == nil {
				t.Errorf("%s: %d of %d bytes decoded", name, k, len(enc))
			}
		}
		if _, err := DecodeParams(qm31, append(enc, 0, 0, 0, 0)); err == nil {
			t.Errorf("%s: a word too many decoded", name)
		}
	}
}

// Every number is absorbed: changing one changes the words, or is refused.
func TestParamsWords(t *testing.T) {
	for name, p := range choices(t) {
		enc := p.AppendBinary(nil)
		words := CM31().CommitmentWords(p, [8]m31.Element{})
		for i := 0; i < len(enc); i += 4 {
			for _, v := range []uint32{1<<32 - 1, 1 << 31, binary.LittleEndian.Uint32(enc[i:]) + 1} {
				m := bytes.Clone(enc)
				binary.LittleEndian.PutUint32(m[i:], v)
				q, err := DecodeParams(qm31, m)
				if err == nil && reflect.DeepEqual(words, CM31().CommitmentWords(q, [8]m31.Element{})) {
					t.Errorf("%s: number %d is not absorbed", name, i/4)
				}
				if err == nil && v >= 1<<31 {
					t.Errorf("%s: number %d = %#x accepted", name, i/4, v)
				}
			}
		}
		other := qm31
		other.Name += "'"
		q, err := DecodeParams(other, enc)
		if err != nil {
			t.Fatal(err)
		}
		if reflect.DeepEqual(words, CM31().CommitmentWords(q, [8]m31.Element{})) {
			t.Errorf("%s: the field is not absorbed", name)
		}
	}
}

func TestParamsVersion(t *testing.T) {
	enc := choices(t)["default"].AppendBinary(nil)
	enc[0]++
	if _, err := DecodeParams(qm31, enc); !errors.Is(err, ErrEncoding) {
		t.Errorf("foreign version: %v", err)
	}
}

// The report has a line for every step, and prints all of them.
func TestReportLines(t *testing.T) {
	for name, p := range choices(t) {
		r := p.Security()
		want := p.Rounds() - 1 + 1 + p.RoundVars(p.Rounds()) // shifts, final queries and folds
		for i := range p.Rounds() {
			want += p.Round(i).Fold
			if p.Round(i).Multiplicity != Unique {
				want++
			}
		}
		if p.Batch() > 1 {
			want++
		}
		if p.Config().Claims+p.Round(0).Samples > 1 {
			want++
		}
		if len(r.Lines) != want {
			t.Errorf("%s: %d lines, want %d", name, len(r.Lines), want)
		}
		text := r.String()
		for _, l := range r.Lines {
			if !strings.Contains(text, l.Name) {
				t.Errorf("%s: %q is not printed", name, l.Name)
			}
		}
		if r.Sum >= r.Min || strings.Count(text, "\n") != want+2 {
			t.Errorf("%s: min %v sum %v in\n%s", name, r.Min, r.Sum, text)
		}
	}
}

func TestM31Params(t *testing.T) {
	for vars := 1; vars <= 24; vars += 1 + vars/6 {
		p, err := ChooseM31(vars, Options{UniqueOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		q, err := DecodeM31Params(p.AppendBinary(nil))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, q) {
			t.Errorf("2^%d: %v decoded as %v", vars, p, q)
		}
	}
	if _, err := ChooseM31(0, Options{}); err == nil {
		t.Error("a table of one value was accepted")
	}
	inner := func(change func(*Options)) *Params {
		o := Options{Claims: 2}
		change(&o)
		p, err := Choose(SpecCM31(), 9, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	foreign, err := Choose(babyBear4, 9, Options{Claims: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		vars int
		p    *Params
	}{
		"nil":                {10, nil},
		"other field":        {10, foreign},
		"other size":         {9, inner(func(*Options) {})},
		"Johnson in round 0": {10, inner(func(o *Options) { o.JohnsonStart, o.Goal, o.FoldWork = true, GoalSize, 24 })},
		"odd claims":         {10, inner(func(o *Options) { o.Claims = 3 })},
		"batch":              {10, inner(func(o *Options) { o.Batch = 2 })},
	} {
		if _, err := NewM31Params(tc.vars, tc.p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for k := range 5 {
		if _, err := DecodeM31Params(make([]byte, k)); !errors.Is(err, ErrEncoding) {
			t.Errorf("%d bytes: %v", k, err)
		}
	}
}

// FuzzDecodeParams: what decodes encodes to the same bytes.
func FuzzDecodeParams(f *testing.F) {
	for _, p := range choices(f) {
		f.Add(p.AppendBinary(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodeParams(qm31, data)
		if err != nil {
			return
		}
		if again := p.AppendBinary(nil); !bytes.Equal(again, data) {
			t.Fatalf("%x decoded and encoded is %x", data, again)
		}
		if r := p.Security(); r.Min < float64(p.Config().Lambda) {
			t.Fatalf("%v accepted with %v bits", p, r.Min)
		}
	})
}
