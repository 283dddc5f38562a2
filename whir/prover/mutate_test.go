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

	"github.com/zkwarp/zkwarp/field"
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
func (k *kind[W, F, E]) mutated() map[string]whir.Config {
	all := k.shapes()
	out := map[string]whir.Config{}
	for _, name := range []string{"three rounds", "samples", "work", "batch", "final length 1", "arity 4"} {
		out[name] = all[name]
	}
	return out
}

// Checks are made side by side and some of them late; what is reported of several
// faults is the first one in the protocol's order all the same.
func TestFirstFailure(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testFirstFailure(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testFirstFailure(t, kindBabyBear4()) })
}

func testFirstFailure[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	var one W
	one = one.FromUint64(1)
	sc := k.scenario(t, 8, k.shapes()["work"])
	root, pf := sc.prove(t, queue(t), tamper[W, E]{}, k.recorder())
	row := func(i int) func() {
		return func() { pf.Openings[i].Rows[0] = pf.Openings[i].Rows[0].Add(one) }
	}
	nonce := func() { // of the last queries: two bits of work, which the next nonce has not done
		pf.Openings[2].Nonce[0] = pf.Openings[2].Nonce[0].Add(one)
	}
	last := func() { pf.FinalFolds[0].Lead = pf.FinalFolds[0].Lead.Add(pf.FinalFolds[0].Lead.One()) }
	for _, c := range []struct {
		name  string
		cheat []func()
		round int
		check whir.Check
	}{
		{"two rows", []func(){row(2), row(0)}, 0, whir.CheckOpening},
		{"two later rows", []func(){row(2), row(1)}, 1, whir.CheckOpening},
		{"row and later work", []func(){nonce, row(1)}, 1, whir.CheckOpening},
		{"work alone", []func(){nonce}, 2, whir.CheckQueryWork},
		{"work and a row after it", []func(){nonce, row(2)}, 2, whir.CheckQueryWork},
		{"last fold", []func(){last}, -1, whir.CheckFinalClaim},
		{"last fold and a row", []func(){last, row(2)}, 2, whir.CheckOpening},
	} {
		enc, err := k.scheme.AppendProof(nil, sc.p, pf)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.cheat {
			f()
		}
		var e *whir.Error
		if err := k.verify(sc.p, root, sc.statement(), pf); !errors.As(err, &e) || e.Round != c.round || e.Check != c.check {
			t.Errorf("%s: %v, want round %d: %s", c.name, err, c.round, c.check)
		}
		if pf, err = k.scheme.DecodeProof(sc.p, enc); err != nil {
			t.Fatal(err)
		}
	}
}

// Every word of the encoding, changed to another canonical word and to words
// that are not canonical.
func TestEveryWord(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testEveryWord(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testEveryWord(t, kindBabyBear4()) })
}

func testEveryWord[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	n := tally{}
	for name, c := range k.mutated() {
		sc := k.scenario(t, 5, c)
		root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
		enc, err := k.scheme.AppendProof(nil, sc.p, pf)
		if err != nil {
			t.Fatal(err)
		}
		st := sc.statement()
		for i := 0; i < len(enc); i += 4 {
			w := binary.LittleEndian.Uint32(enc[i:])
			for _, v := range []uint32{(w + 1) % k.p, k.p, k.p + 1, 1<<32 - 1} {
				binary.LittleEndian.PutUint32(enc[i:], v)
				what := fmt.Sprintf("%s: word %d: %#x for %#x", name, i/4, v, w)
				n.reject(t, what, k.verifyBytes(sc.p, root, st, enc))
				if _, err := k.scheme.DecodeProof(sc.p, enc); v >= k.p && err == nil {
					t.Errorf("%s: decoded", what)
				}
			}
			binary.LittleEndian.PutUint32(enc[i:], w)
		}
		if err := k.verifyBytes(sc.p, root, st, enc); err != nil {
			t.Fatal(err)
		}
	}
	n.log(t)
}

// Truncated and prolonged encodings.
func TestLength(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testLength(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testLength(t, kindBabyBear4()) })
}

func testLength[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	n := tally{}
	sc := k.scenario(t, 5, k.shapes()["work"])
	root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
	enc, err := k.scheme.AppendProof(nil, sc.p, pf)
	if err != nil {
		t.Fatal(err)
	}
	for i := range enc {
		n.reject(t, fmt.Sprintf("%d of %d bytes", i, len(enc)), k.verifyBytes(sc.p, root, sc.statement(), enc[:i]))
	}
	for _, tail := range [][]byte{{0}, {0, 0, 0, 0}, enc} {
		n.reject(t, fmt.Sprintf("%d more bytes", len(tail)), k.verifyBytes(sc.p, root, sc.statement(), append(enc[:len(enc):len(enc)], tail...)))
	}
	n.log(t)
}

// Every field of the decoded proof, found by reflection: words changed and not
// canonical, slices shortened, prolonged, emptied and with elements swapped.
func TestEveryField(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testEveryField(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testEveryField(t, kindBabyBear4()) })
}

func testEveryField[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	n := tally{}
	for name, c := range k.mutated() {
		sc := k.scenario(t, 6, c)
		root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
		st := sc.statement()
		check := func(what string, by ...whir.Check) {
			t.Helper()
			o, err := k.scheme.Receive(k.transcript.New(transcript.TagTest), sc.p, root)
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
				for _, w := range []uint64{(old + 1) % uint64(k.p), uint64(k.p), 1<<32 - 1} {
					var by []whir.Check
					if w >= uint64(k.p) {
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
	t.Run("m31", func(t *testing.T) { testTransplants(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testTransplants(t, kindBabyBear4()) })
}

func testTransplants[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	n := tally{}
	sc := k.scenario(t, 7, k.shapes()["work"])
	root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
	width := sc.p.RowWords(0)
	other := k.scenario(t, 8, k.shapes()["work"])
	otherRoot, otherProof := other.prove(t, q, tamper[W, E]{}, k.recorder())
	clone := func() *whir.Proof[W, E] {
		enc, err := k.scheme.AppendProof(nil, sc.p, pf)
		if err != nil {
			t.Fatal(err)
		}
		out, err := k.scheme.DecodeProof(sc.p, enc)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, change := range map[string]func(pf *whir.Proof[W, E]){
		"rows swapped": func(pf *whir.Proof[W, E]) {
			r := pf.Openings[0].Rows
			r0 := slices.Clone(r[:width])
			copy(r, r[width:2*width])
			copy(r[width:], r0)
		},
		"row missing":        func(pf *whir.Proof[W, E]) { pf.Openings[0].Rows = pf.Openings[0].Rows[width:] },
		"row twice":          func(pf *whir.Proof[W, E]) { o := &pf.Openings[0]; o.Rows = append(o.Rows[:width:width], o.Rows...) },
		"row of another":     func(pf *whir.Proof[W, E]) { copy(pf.Openings[0].Rows, otherProof.Openings[0].Rows[:width]) },
		"nonce of a round":   func(pf *whir.Proof[W, E]) { pf.Openings[0].Nonce = pf.Openings[1].Nonce },
		"nonce of a fold":    func(pf *whir.Proof[W, E]) { pf.Rounds[0].Folds[0].Nonce = pf.Rounds[1].Folds[0].Nonce },
		"opening of a round": func(pf *whir.Proof[W, E]) { pf.Openings[1] = pf.Openings[2] },
		"opening of another": func(pf *whir.Proof[W, E]) { pf.Openings = otherProof.Openings },
		"root of another":    func(pf *whir.Proof[W, E]) { pf.Rounds[1].Root = otherProof.Rounds[1].Root },
		"round of another":   func(pf *whir.Proof[W, E]) { pf.Rounds[1] = otherProof.Rounds[1] },
		"rounds swapped":     func(pf *whir.Proof[W, E]) { pf.Rounds[1], pf.Rounds[2] = pf.Rounds[2], pf.Rounds[1] },
		"folds of another":   func(pf *whir.Proof[W, E]) { pf.Rounds[2].Folds = otherProof.Rounds[2].Folds },
		"final of another":   func(pf *whir.Proof[W, E]) { pf.Final = otherProof.Final },
		"final zero":         func(pf *whir.Proof[W, E]) { clear(pf.Final) },
		"all of another":     func(pf *whir.Proof[W, E]) { *pf = *otherProof },
		"round 0 root":       func(pf *whir.Proof[W, E]) { pf.Rounds[0].Root = root },
		"nonce, no work":     func(pf *whir.Proof[W, E]) { pf.FinalFolds[0].Nonce[1] = 1 },
	} {
		m := clone()
		change(m)
		o, err := k.scheme.Receive(k.transcript.New(transcript.TagTest), sc.p, root)
		if err != nil {
			t.Fatal(err)
		}
		n.reject(t, name, o.Verify(sc.statement(), m))
	}
	n.reject(t, "another root", sc.verify(otherRoot, pf))
	n.reject(t, "another statement", k.verify(sc.p, root, other.statement(), pf))
	tr := k.transcript.New(transcript.TagTest + 1)
	o, err := k.scheme.Receive(tr, sc.p, root)
	if err != nil {
		t.Fatal(err)
	}
	n.reject(t, "another protocol", o.Verify(sc.statement(), clone()))
	tr = k.transcript.New(transcript.TagTest)
	if o, err = k.scheme.Receive(tr, sc.p, root); err != nil {
		t.Fatal(err)
	}
	tr.Absorb(nil)
	n.reject(t, "something absorbed before", o.Verify(sc.statement(), clone()))
	n.log(t)
}

// wild is a weight with a word that is not canonical.
type wild[E field.Element[E]] struct {
	linear[E]
	word uint32
}

func (w wild[E]) Words() []uint32 { return append(w.linear.Words(), w.word) }

// Statements that differ from the proved one.
func TestStatements(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testStatements(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testStatements(t, kindBabyBear4()) })
}

func testStatements[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	n := tally{}
	for _, name := range []string{"three rounds", "samples", "batch", "one round"} {
		sc := k.scenario(t, 9, k.shapes()[name])
		root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
		try := func(what string, claims []whir.BatchClaim[E]) {
			t.Helper()
			n.reject(t, name+": "+what, k.verify(sc.p, root, whir.NewBatchStatement[W](claims), pf))
		}
		unfit := func(what string, claims []whir.BatchClaim[E]) {
			t.Helper()
			err := k.verify(sc.p, root, whir.NewBatchStatement[W](claims), pf)
			n.reject(t, name+": "+what, err)
			expect(t, name+": "+what, err, whir.CheckStatement)
		}
		one := one[E]()
		edit := func(i int, f func(*whir.BatchClaim[E])) []whir.BatchClaim[E] {
			out := slices.Clone(sc.claims)
			out[i].Values = slices.Clone(out[i].Values)
			f(&out[i])
			return out
		}
		for i, c := range sc.claims {
			for a := range c.Values {
				try("value", edit(i, func(c *whir.BatchClaim[E]) { c.Values[a] = c.Values[a].Add(one) }))
			}
			unfit("value missing", edit(i, func(c *whir.BatchClaim[E]) { c.Values = c.Values[1:] }))
			unfit("value more", edit(i, func(c *whir.BatchClaim[E]) { c.Values = append(c.Values, one) }))
			try("claim missing", slices.Delete(slices.Clone(sc.claims), i, i+1))
			try("claim twice", slices.Insert(slices.Clone(sc.claims), i, c))
			moved := func(point []E, j int) []E {
				out := slices.Clone(point)
				out[j] = out[j].Add(one)
				return out
			}
			switch w := c.Weight.(type) {
			case whir.Eq[E]:
				for j := range w.Point {
					try("coordinate", edit(i, func(c *whir.BatchClaim[E]) { c.Weight = eqAt(moved(w.Point, j)) }))
				}
				try("kind", edit(i, func(c *whir.BatchClaim[E]) { c.Weight = selAt(w.Point) }))
				unfit("variable less", edit(i, func(c *whir.BatchClaim[E]) { c.Weight = eqAt(w.Point[1:]) }))
				unfit("variable more", edit(i, func(c *whir.BatchClaim[E]) { c.Weight = eqAt(append(w.Point[:len(w.Point):len(w.Point)], one)) }))
			case whir.Sel[E]:
				for j := range w.Point {
					try("coordinate", edit(i, func(c *whir.BatchClaim[E]) { c.Weight = selAt(moved(w.Point, j)) }))
				}
			case linear[E]:
				try("own weight", edit(i, func(c *whir.BatchClaim[E]) { c.Weight = linear[E]{w.vars, w.a, w.c.Add(one)} }))
			}
			if i > 0 {
				out := slices.Clone(sc.claims)
				out[0], out[i] = out[i], out[0]
				try("order", out)
			}
			if len(c.Values) > 1 {
				try("tables swapped", edit(i, func(c *whir.BatchClaim[E]) { c.Values[0], c.Values[1] = c.Values[1], c.Values[0] }))
			}
		}
		if k.scheme.Spec.SymbolWords == 2 { // where memory holds canonical words
			p := []E{one}
			k.scheme.Words(p)[3] = W(k.p)
			unfit("value not canonical", edit(0, func(c *whir.BatchClaim[E]) { c.Values[0] = p[0] }))
		}
		unfit("own weight not canonical", edit(5, func(c *whir.BatchClaim[E]) { c.Weight = wild[E]{linear[E]{sc.p.Vars(), one, one}, k.p} }))
		unfit("too many claims", slices.Repeat(sc.claims, 2))
		try("no claims", nil)
	}
	n.log(t)
	o, err := k.scheme.Receive(k.transcript.New(transcript.TagTest), params(t, k.shapes()["one round"]), [8]W{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "no proof", o.Verify(whir.NewStatement[W, E](nil), nil), whir.CheckShape)
}

// Parameters that differ from the prover's. Only Lambda and Claims leave the
// run of the protocol as it is, so only the absorbed numbers tell them apart.
func TestOtherParameters(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testOtherParameters(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testOtherParameters(t, kindBabyBear4()) })
}

func testOtherParameters[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	n := tally{}
	base := with(k.shapes()["work"], func(c *whir.Config) { c.Rounds[1].Samples = 1 })
	sc := k.scenario(t, 10, base)
	root, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
	enc, err := k.scheme.AppendProof(nil, sc.p, pf)
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
		n.reject(t, name, k.verifyBytes(params(t, c), root, sc.statement(), enc))
	}
	n.log(t)
}

// Numbers of rows and siblings that the data cannot hold allocate nothing.
func TestHugeCounts(t *testing.T) {
	t.Run("m31", func(t *testing.T) { testHugeCounts(t, kindM31()) })
	t.Run("babybear4", func(t *testing.T) { testHugeCounts(t, kindBabyBear4()) })
}

func testHugeCounts[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k *kind[W, F, E]) {
	q := queue(t)
	sc := k.scenario(t, 11, k.config(6, 1, whir.Round{Fold: 4, Queries: 6}))
	_, pf := sc.prove(t, q, tamper[W, E]{}, k.recorder())
	enc, err := k.scheme.AppendProof(nil, sc.p, pf)
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
			_, err := k.scheme.DecodeProof(sc.p, m)
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
		o, err := whir.ReceiveM31(transcript.New(transcript.TagTest), p, rootOf(t, c))
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
	root := rootOf(t, c)
	root[3] = m31.P
	if _, err := whir.ReceiveM31(transcript.New(transcript.TagTest), p, root); err == nil {
		t.Error("a root that is not canonical was received")
	}
	if _, err := whir.CM31().Receive(transcript.New(transcript.TagTest), p.Inner(), root); err == nil {
		t.Error("a root that is not canonical was received")
	}
}
