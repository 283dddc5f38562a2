package prover

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

// tally counts rejections by the check that made them, and fails the test for
// anything accepted or rejected by an error of no known kind.
type tally map[whir.Check]int

func (n tally) reject(t *testing.T, what string, err error) {
	t.Helper()
	var e *whir.Error
	switch {
	case errors.As(err, &e):
		n[e.Check]++
	case errors.Is(err, whir.ErrEncoding):
		n["decoder"]++
	case err == nil:
		t.Errorf("%s: accepted", what)
	default:
		t.Errorf("%s: error of no known kind: %v", what, err)
	}
}

func (n tally) log(t *testing.T) {
	total, s := 0, ""
	for _, k := range slices.Sorted(maps.Keys(n)) {
		total += n[k]
		s += fmt.Sprintf(", %s %d", k, n[k])
	}
	t.Logf("%d mutants rejected%s", total, s)
}

// mutated are the shapes whose proofs are mutated word by word.
func mutated() map[string]whir.Config {
	all := shapes()
	out := map[string]whir.Config{}
	for _, name := range []string{"three rounds", "samples", "work", "batch", "final length 1", "arity 4"} {
		out[name] = all[name]
	}
	return out
}

// Every word of the encoding, changed to another canonical word and to words
// that are not canonical.
func TestEveryWord(t *testing.T) {
	q := queue(t)
	n := tally{}
	for name, c := range mutated() {
		sc := newScenario(t, 5, c)
		root, pf := sc.prove(t, q, cheat{}, newRecorder())
		enc, err := whir.CM31().AppendProof(nil, sc.p, pf)
		if err != nil {
			t.Fatal(err)
		}
		st := sc.statement()
		for i := 0; i < len(enc); i += 4 {
			w := binary.LittleEndian.Uint32(enc[i:])
			for _, v := range []uint32{(w + 1) % m31.P, m31.P, m31.P + 1, 1<<32 - 1} {
				binary.LittleEndian.PutUint32(enc[i:], v)
				what := fmt.Sprintf("%s: word %d: %#x for %#x", name, i/4, v, w)
				n.reject(t, what, verifyBytes(sc.p, root, st, enc))
				if _, err := whir.CM31().DecodeProof(sc.p, enc); v >= m31.P && err == nil {
					t.Errorf("%s: decoded", what)
				}
			}
			binary.LittleEndian.PutUint32(enc[i:], w)
		}
		if err := verifyBytes(sc.p, root, st, enc); err != nil {
			t.Fatal(err)
		}
	}
	n.log(t)
}

// Truncated and prolonged encodings.
func TestLength(t *testing.T) {
	q := queue(t)
	n := tally{}
	sc := newScenario(t, 5, shapes()["work"])
	root, pf := sc.prove(t, q, cheat{}, newRecorder())
	enc, err := whir.CM31().AppendProof(nil, sc.p, pf)
	if err != nil {
		t.Fatal(err)
	}
	for k := range enc {
		n.reject(t, fmt.Sprintf("%d of %d bytes", k, len(enc)), verifyBytes(sc.p, root, sc.statement(), enc[:k]))
	}
	for _, tail := range [][]byte{{0}, {0, 0, 0, 0}, enc} {
		n.reject(t, fmt.Sprintf("%d more bytes", len(tail)), verifyBytes(sc.p, root, sc.statement(), append(enc[:len(enc):len(enc)], tail...)))
	}
	n.log(t)
}

// Every field of the decoded proof, found by reflection: words changed and not
// canonical, slices shortened, prolonged, emptied and with elements swapped.
func TestEveryField(t *testing.T) {
	q := queue(t)
	n := tally{}
	for name, c := range mutated() {
		sc := newScenario(t, 6, c)
		root, pf := sc.prove(t, q, cheat{}, newRecorder())
		st := sc.statement()
		check := func(what string, by ...whir.Check) {
			t.Helper()
			o, err := whir.CM31().Receive(transcript.New(transcript.TagTest), sc.p, root)
			if err != nil {
				t.Fatal(err)
			}
			err = o.Verify(st, pf)
			n.reject(t, name+": "+what, err)
			var e *whir.Error
			if errors.As(err, &e) && len(by) > 0 && !slices.Contains(by, e.Check) {
				t.Errorf("%s: %s: rejected by %q, want one of %q", name, what, e.Check, by)
			}
		}
		var walk func(v reflect.Value, path string)
		walk = func(v reflect.Value, path string) {
			switch v.Kind() {
			case reflect.Struct:
				for i := range v.NumField() {
					walk(v.Field(i), path+"."+v.Type().Field(i).Name)
				}
			case reflect.Array, reflect.Slice:
				for i := range v.Len() {
					walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
				}
				if v.Kind() == reflect.Array {
					return
				}
				old := reflect.ValueOf(v.Interface())
				set := func(what string, s reflect.Value) {
					by := []whir.Check{whir.CheckShape, whir.CheckOpening}
					if s.Len() == old.Len() {
						by = nil
					}
					v.Set(s)
					check(path+" "+what, by...)
					v.Set(old)
				}
				longer := reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1)
				reflect.Copy(longer, old)
				set("with a zero more", longer)
				if v.Len() == 0 {
					return
				}
				longer.Index(v.Len()).Set(v.Index(v.Len() - 1))
				set("with the last repeated", longer)
				set("without the last", old.Slice(0, v.Len()-1))
				set("emptied", reflect.Zero(v.Type()))
				if v.Len() > 1 && !reflect.DeepEqual(v.Index(0).Interface(), v.Index(1).Interface()) {
					swapped := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
					reflect.Copy(swapped, old)
					swapped.Index(0).Set(old.Index(1))
					swapped.Index(1).Set(old.Index(0))
					set("with the first two swapped", swapped)
				}
			case reflect.Uint32:
				old := v.Uint()
				for _, w := range []uint64{(old + 1) % m31.P, m31.P, 1<<32 - 1} {
					var by []whir.Check
					if w >= m31.P {
						by = []whir.Check{whir.CheckEncoding, whir.CheckShape}
					}
					v.SetUint(w)
					check(fmt.Sprintf("%s = %#x", path, w), by...)
				}
				v.SetUint(old)
			default:
				t.Fatalf("%s is a %v", path, v.Kind())
			}
		}
		walk(reflect.ValueOf(pf).Elem(), "proof")
		if err := sc.verify(root, pf); err != nil {
			t.Fatal(err)
		}
	}
	n.log(t)
}

// Whole rows and parts of the proof moved to where they do not belong.
func TestTransplants(t *testing.T) {
	q := queue(t)
	n := tally{}
	sc := newScenario(t, 7, shapes()["work"])
	root, pf := sc.prove(t, q, cheat{}, newRecorder())
	width := sc.p.RowWords(0)
	other := newScenario(t, 8, shapes()["work"])
	otherRoot, otherProof := other.prove(t, q, cheat{}, newRecorder())
	clone := func() *whir.ProofCM31 {
		enc, err := whir.CM31().AppendProof(nil, sc.p, pf)
		if err != nil {
			t.Fatal(err)
		}
		out, err := whir.CM31().DecodeProof(sc.p, enc)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, change := range map[string]func(pf *whir.ProofCM31){
		"rows swapped": func(pf *whir.ProofCM31) {
			r := pf.Openings[0].Rows
			r0 := slices.Clone(r[:width])
			copy(r, r[width:2*width])
			copy(r[width:], r0)
		},
		"row missing":        func(pf *whir.ProofCM31) { pf.Openings[0].Rows = pf.Openings[0].Rows[width:] },
		"row twice":          func(pf *whir.ProofCM31) { o := &pf.Openings[0]; o.Rows = append(o.Rows[:width:width], o.Rows...) },
		"row of another":     func(pf *whir.ProofCM31) { copy(pf.Openings[0].Rows, otherProof.Openings[0].Rows[:width]) },
		"nonce of a round":   func(pf *whir.ProofCM31) { pf.Openings[0].Nonce = pf.Openings[1].Nonce },
		"nonce of a fold":    func(pf *whir.ProofCM31) { pf.Rounds[0].Folds[0].Nonce = pf.Rounds[1].Folds[0].Nonce },
		"opening of a round": func(pf *whir.ProofCM31) { pf.Openings[1] = pf.Openings[2] },
		"opening of another": func(pf *whir.ProofCM31) { pf.Openings = otherProof.Openings },
		"root of another":    func(pf *whir.ProofCM31) { pf.Rounds[1].Root = otherProof.Rounds[1].Root },
		"round of another":   func(pf *whir.ProofCM31) { pf.Rounds[1] = otherProof.Rounds[1] },
		"rounds swapped":     func(pf *whir.ProofCM31) { pf.Rounds[1], pf.Rounds[2] = pf.Rounds[2], pf.Rounds[1] },
		"folds of another":   func(pf *whir.ProofCM31) { pf.Rounds[2].Folds = otherProof.Rounds[2].Folds },
		"final of another":   func(pf *whir.ProofCM31) { pf.Final = otherProof.Final },
		"final zero":         func(pf *whir.ProofCM31) { clear(pf.Final) },
		"all of another":     func(pf *whir.ProofCM31) { *pf = *otherProof },
		"round 0 root":       func(pf *whir.ProofCM31) { pf.Rounds[0].Root = root },
		"nonce, no work":     func(pf *whir.ProofCM31) { pf.FinalFolds[0].Nonce[1] = 1 },
	} {
		m := clone()
		change(m)
		o, err := whir.CM31().Receive(transcript.New(transcript.TagTest), sc.p, root)
		if err != nil {
			t.Fatal(err)
		}
		n.reject(t, name, o.Verify(sc.statement(), m))
	}
	n.reject(t, "another root", sc.verify(otherRoot, pf))
	n.reject(t, "another statement", verify(sc.p, root, other.statement(), pf))
	tr := transcript.New(transcript.TagTest + 1)
	o, err := whir.CM31().Receive(tr, sc.p, root)
	if err != nil {
		t.Fatal(err)
	}
	n.reject(t, "another protocol", o.Verify(sc.statement(), clone()))
	tr = transcript.New(transcript.TagTest)
	if o, err = whir.CM31().Receive(tr, sc.p, root); err != nil {
		t.Fatal(err)
	}
	tr.Absorb(nil)
	n.reject(t, "something absorbed before", o.Verify(sc.statement(), clone()))
	n.log(t)
}

// Statements that differ from the proved one.
func TestStatements(t *testing.T) {
	q := queue(t)
	n := tally{}
	for _, name := range []string{"three rounds", "samples", "batch", "one round"} {
		sc := newScenario(t, 9, shapes()[name])
		root, pf := sc.prove(t, q, cheat{}, newRecorder())
		try := func(what string, claims []batchClaim) {
			t.Helper()
			n.reject(t, name+": "+what, verify(sc.p, root, whir.NewBatchStatement[m31.Element](claims), pf))
		}
		unfit := func(what string, claims []batchClaim) {
			t.Helper()
			err := verify(sc.p, root, whir.NewBatchStatement[m31.Element](claims), pf)
			n.reject(t, name+": "+what, err)
			expect(t, name+": "+what, err, whir.CheckStatement)
		}
		one := m31.OneQM31()
		edit := func(i int, f func(*batchClaim)) []batchClaim {
			out := slices.Clone(sc.claims)
			out[i].Values = slices.Clone(out[i].Values)
			f(&out[i])
			return out
		}
		for i, c := range sc.claims {
			for a := range c.Values {
				try("value", edit(i, func(c *batchClaim) { c.Values[a] = c.Values[a].Add(one) }))
			}
			unfit("value missing", edit(i, func(c *batchClaim) { c.Values = c.Values[1:] }))
			unfit("value more", edit(i, func(c *batchClaim) { c.Values = append(c.Values, one) }))
			try("claim missing", slices.Delete(slices.Clone(sc.claims), i, i+1))
			try("claim twice", slices.Insert(slices.Clone(sc.claims), i, c))
			moved := func(point []m31.QM31, j int) []m31.QM31 {
				out := slices.Clone(point)
				out[j] = out[j].Add(one)
				return out
			}
			switch w := c.Weight.(type) {
			case eq:
				for j := range w.Point {
					try("coordinate", edit(i, func(c *batchClaim) { c.Weight = eqAt(moved(w.Point, j)) }))
				}
				try("kind", edit(i, func(c *batchClaim) { c.Weight = selAt(w.Point) }))
				unfit("variable less", edit(i, func(c *batchClaim) { c.Weight = eqAt(w.Point[1:]) }))
				unfit("variable more", edit(i, func(c *batchClaim) { c.Weight = eqAt(append(w.Point[:len(w.Point):len(w.Point)], one)) }))
			case sel:
				for j := range w.Point {
					try("coordinate", edit(i, func(c *batchClaim) { c.Weight = selAt(moved(w.Point, j)) }))
				}
			case linear:
				try("own weight", edit(i, func(c *batchClaim) { c.Weight = linear{w.vars, w.a, w.c.Add(one)} }))
			}
			if i > 0 {
				out := slices.Clone(sc.claims)
				out[0], out[i] = out[i], out[0]
				try("order", out)
			}
			if len(c.Values) > 1 {
				try("tables swapped", edit(i, func(c *batchClaim) { c.Values[0], c.Values[1] = c.Values[1], c.Values[0] }))
			}
		}
		large := m31.OneQM31()
		large.B.Im = m31.P
		unfit("value not canonical", edit(0, func(c *batchClaim) { c.Values[0] = large }))
		unfit("own weight not canonical", edit(5, func(c *batchClaim) { c.Weight = linear{sc.p.Vars(), large, one} }))
		unfit("too many claims", slices.Repeat(sc.claims, 2))
		try("no claims", nil)
	}
	n.log(t)
	o, err := whir.CM31().Receive(transcript.New(transcript.TagTest), params(t, shapes()["one round"]), [8]m31.Element{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "no proof", o.Verify(whir.NewStatement[m31.Element, m31.QM31](nil), nil), whir.CheckShape)
}

// Parameters that differ from the prover's. Only Lambda and Claims leave the
// run of the protocol as it is, so only the absorbed numbers tell them apart.
func TestOtherParameters(t *testing.T) {
	q := queue(t)
	n := tally{}
	base := with(shapes()["work"], func(c *whir.Config) { c.Rounds[1].Samples = 1 })
	sc := newScenario(t, 10, base)
	root, pf := sc.prove(t, q, cheat{}, newRecorder())
	enc, err := whir.CM31().AppendProof(nil, sc.p, pf)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(c *whir.Config){
		"lambda":       func(c *whir.Config) { c.Lambda++ },
		"claims":       func(c *whir.Config) { c.Claims++ },
		"bound":        func(c *whir.Config) { c.Bound = whir.DKT26 },
		"rate":         func(c *whir.Config) { c.LogInvRate++ },
		"arity":        func(c *whir.Config) { c.Arity = 4 },
		"multiplicity": func(c *whir.Config) { c.Rounds[1].Multiplicity = 3 },
		"variables":    func(c *whir.Config) { c.Vars++ },
		"batch":        func(c *whir.Config) { c.Batch++ },
		"round less":   func(c *whir.Config) { c.Rounds = c.Rounds[:2]; c.Rounds[1].Shrink = 0 },
		"shrink":       func(c *whir.Config) { c.Rounds[0].Shrink++ },
	}
	for i := range base.Rounds {
		changes[fmt.Sprint("fold ", i)] = func(c *whir.Config) { c.Rounds[i].Fold++ }
		changes[fmt.Sprint("samples ", i)] = func(c *whir.Config) { c.Rounds[i].Samples++ }
		changes[fmt.Sprint("queries ", i)] = func(c *whir.Config) { c.Rounds[i].Queries++ }
		changes[fmt.Sprint("fold work more ", i)] = func(c *whir.Config) { c.Rounds[i].FoldWork++ }
		changes[fmt.Sprint("fold work less ", i)] = func(c *whir.Config) { c.Rounds[i].FoldWork-- }
		changes[fmt.Sprint("query work ", i)] = func(c *whir.Config) { c.Rounds[i].QueryWork-- }
	}
	for name, change := range changes {
		c := with(base, change)
		n.reject(t, name, verifyBytes(params(t, c), root, sc.statement(), enc))
	}
	n.log(t)
}

// Numbers of rows and siblings that the data cannot hold allocate nothing.
func TestHugeCounts(t *testing.T) {
	q := queue(t)
	sc := newScenario(t, 11, config(6, 1, whir.Round{Fold: 4, Queries: 6}))
	_, pf := sc.prove(t, q, cheat{}, newRecorder())
	enc, err := whir.CM31().AppendProof(nil, sc.p, pf)
	if err != nil {
		t.Fatal(err)
	}
	rows := 4*(4*8) + 4*16 // folds and the final table come first
	siblings := rows + 4 + 4*len(pf.Openings[0].Rows)
	for name, at := range map[string]int{"rows": rows, "siblings": siblings} {
		want := len(pf.Openings[0].Rows) / sc.p.RowWords(0)
		if name == "siblings" {
			want = len(pf.Openings[0].Siblings)
		}
		if got := binary.LittleEndian.Uint32(enc[at:]); int(got) != want {
			t.Fatalf("no number of %s at byte %d", name, at)
		}
		for _, v := range []uint32{uint32(want) + 1, 1 << 20, 1 << 30, 1<<32 - 1} {
			m := slices.Clone(enc)
			binary.LittleEndian.PutUint32(m[at:], v)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := whir.CM31().DecodeProof(sc.p, m)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, whir.ErrEncoding) {
				t.Errorf("%d %s: error %v", v, name, err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%d %s: %d bytes allocated", v, name, n)
			}
		}
	}
}

// Packed proofs: every word, and wrong lengths.
func TestEveryWordM31(t *testing.T) {
	q := queue(t)
	n := tally{}
	k := newPacked(t, q, newSource(12), 6, whir.Options{Lambda: 20, FoldWork: 3, QueryWork: 3})
	p, c, claims := k.p, k.c, k.claims
	pf := k.open(t, q, transcript.New(transcript.TagTest))
	enc, err := p.AppendProof(nil, pf)
	if err != nil {
		t.Fatal(err)
	}
	check := func(claims []whir.M31Claim, enc []byte) error {
		pf, err := p.DecodeProof(2, enc)
		if err != nil {
			return err
		}
		o, err := whir.ReceiveM31(transcript.New(transcript.TagTest), p, c.Root())
		if err != nil {
			t.Fatal(err)
		}
		return o.Verify(claims, pf)
	}
	if err := check(claims, enc); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(enc); i += 4 {
		w := binary.LittleEndian.Uint32(enc[i:])
		for _, v := range []uint32{(w + 1) % m31.P, m31.P, 1<<32 - 1} {
			binary.LittleEndian.PutUint32(enc[i:], v)
			n.reject(t, fmt.Sprintf("word %d: %#x for %#x", i/4, v, w), check(claims, enc))
		}
		binary.LittleEndian.PutUint32(enc[i:], w)
	}
	for k := range len(enc) {
		n.reject(t, fmt.Sprintf("%d bytes", k), check(claims, enc[:k]))
	}
	n.reject(t, "a byte more", check(claims, append(slices.Clone(enc), 0)))
	n.reject(t, "claims swapped", check([]whir.M31Claim{claims[1], claims[0]}, enc))
	n.reject(t, "a claim less", check(claims[:1], enc))
	expect(t, "a claim less", check(claims[:1], enc), whir.CheckShape)
	n.reject(t, "too many claims", check(slices.Repeat(claims, 2), enc))
	for j := range claims[0].Point {
		m := slices.Clone(claims)
		m[0].Point = slices.Clone(m[0].Point)
		m[0].Point[j] = m[0].Point[j].Add(m31.OneQM31())
		n.reject(t, fmt.Sprintf("coordinate %d", j), check(m, enc))
	}
	n.log(t)
	root := c.Root()
	root[3] = m31.P
	if _, err := whir.ReceiveM31(transcript.New(transcript.TagTest), p, root); err == nil {
		t.Error("a root that is not canonical was received")
	}
	if _, err := whir.CM31().Receive(transcript.New(transcript.TagTest), p.Inner(), root); err == nil {
		t.Error("a root that is not canonical was received")
	}
}
