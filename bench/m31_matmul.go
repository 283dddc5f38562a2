package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/matmul"
	matmulprover "github.com/zkwarp/zkwarp/matmul/prover"
	"github.com/zkwarp/zkwarp/mle"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/transcript"
	transprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// matmulSide is the number of rows and columns of a matmul claim's product.
const matmulSide = 64

// decoder is the products of a decoder's skeleton, a token at a time: a row
// times each of these matrices, in every layer.
var decoder = []matmul.Shape{{M: 1, K: 5120, N: 7168}, {M: 1, K: 5120, N: 5120}, {M: 1, K: 5120, N: 34816}, {M: 1, K: 17408, N: 5120}}

func matmulCases() []Case {
	var cases []Case
	for _, vars := range []int{10, 14} {
		cases = append(cases, Case{Suite: "m31", Name: fmt.Sprintf("matmul-claim-2^%d", vars),
			About: "a claim about a product of matrices reduced to its factors, inner dimension as named",
			Run: func(e *Env) ([]Measurement, error) {
				return matmulCase[m31.Element](e, []matmul.Shape{{M: matmulSide, K: 1 << vars, N: matmulSide}}, 1)
			}})
	}
	small := make([]matmul.Shape, len(decoder))
	for i, s := range decoder {
		small[i] = matmul.Shape{M: 1, K: s.K / 64, N: s.N / 64}
	}
	return append(cases,
		Case{Suite: "m31", Name: "matmul-claims-small", About: "8 claims about rows times matrices of bytes, one batch",
			Run: func(e *Env) ([]Measurement, error) { return matmulCase[int8](e, small, 2) }},
		Case{Suite: "m31", Name: "matmul-claims-qwen3-14b", About: "160 claims about rows times resident matrices of bytes, one batch", Large: true, GPU: true,
			Kernels: []string{"mle_restrict_cols_bytes"},
			Run:     func(e *Env) ([]Measurement, error) { return matmulCase[int8](e, decoder, 40) }},
		Case{Suite: "m31", Name: "matmul-claims-qwen3-14b-words", About: "the same with matrices of M31 words", Large: true, GPU: true,
			Kernels: []string{"mle_restrict_cols_words"},
			Run:     func(e *Env) ([]Measurement, error) { return matmulCase[m31.Element](e, decoder, 40) }})
}

// weights is what matmulCase keeps on the device: the left factors, in words,
// and the right ones in T, made from seed.
type weights[T int8 | m31.Element] struct {
	left    []m31.Element
	leftOn  device.Buffer[m31.Element]
	right   device.Buffer[T]
	seed    uint64
	claims  []matmul.Claim
	factors []matmulprover.Factors
	starts  []int // of each claim's right factor
}

// matmulCase proves claims about products of the given shapes, each `layers`
// times, as one batch. The matrices stay on the device.
func matmulCase[T int8 | m31.Element](e *Env, shapes []matmul.Shape, layers int) ([]Measurement, error) {
	q := e.Queue
	w, err := newWeights[T](e, shapes, layers)
	if err != nil {
		return nil, err
	}
	defer w.leftOn.Free()
	defer w.right.Free()
	if err := w.evaluate(q); err != nil {
		return nil, fmt.Errorf("values of the claims: %w", err)
	}
	var proof *matmul.Proof
	var launches, waits int64
	m, err := e.Time("ms", 1, nil, func() error {
		before := q.Stats()
		tr, err := transprover.New(q, transcript.TagTest)
		if err != nil {
			return err
		}
		defer tr.Free()
		proof, _, err = matmulprover.Prove(q, tr, w.claims, w.factors)
		launches, waits = q.Stats().Launches-before.Launches, q.Stats().Syncs-before.Syncs
		return err
	})
	if err != nil {
		return nil, err
	}
	r, err := matmul.Verify(transcript.New(transcript.TagTest), w.claims, proof)
	if err != nil {
		return nil, err
	}
	if err := w.check(r, len(shapes)); err != nil {
		return nil, err
	}
	data, err := proof.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(data)
	m.Proof = hex.EncodeToString(digest[:])
	kind := "bytes"
	if isWords[T]() {
		kind = "words"
	}
	m.Note = fmt.Sprintf("%d claims, right factors %.1f MB of %s; points and values go in, the proof of %d bytes comes out; %d right factors evaluated anew", len(w.claims),
		float64(w.right.Len())*float64(entrySize[T]())/1e6, kind, len(data), len(shapes))
	constant := func(metric, unit string, v int64) Measurement {
		c := Measurement{Metric: metric, Unit: unit}
		for range m.Samples {
			c.Samples = append(c.Samples, float64(v))
		}
		return c
	}
	out := []Measurement{m}
	if !q.OnHost() {
		out = append(out, constant("launches", "launches", launches), constant("waits", "waits", waits))
	}
	return out, nil
}

func entrySize[T int8 | m31.Element]() int {
	if isWords[T]() {
		return 4
	}
	return 1
}

func newWeights[T int8 | m31.Element](e *Env, shapes []matmul.Shape, layers int) (*weights[T], error) {
	q := e.Queue
	w := &weights[T]{seed: e.Rand.Uint64()}
	left, right := 0, 0
	for range layers {
		for _, s := range shapes {
			w.claims = append(w.claims, matmul.Claim{Shape: s, Row: e.extensions(mle.Log(s.M)), Col: e.extensions(mle.Log(s.N))})
			w.starts = append(w.starts, right)
			left, right = left+s.M*s.K, right+s.K*s.N
		}
	}
	var err error
	w.left = e.elements(left)
	if w.leftOn, err = device.Upload(q, w.left); err != nil {
		return nil, err
	}
	if w.right, err = device.Alloc[T](q, right); err != nil {
		return nil, err
	}
	if err := fillSequence(q, w.right, w.seed); err != nil {
		return nil, err
	}
	at := 0
	for j, c := range w.claims {
		f := matmulprover.Factors{A: matmulprover.Matrix{Words: w.leftOn.Slice(at, at+c.M*c.K)}}
		at += c.M * c.K
		switch b := any(w.right.Slice(w.starts[j], w.starts[j]+c.K*c.N)).(type) {
		case device.Buffer[int8]:
			f.B.Bytes = b
		case device.Buffer[m31.Element]:
			f.B.Words = b
		}
		w.factors = append(w.factors, f)
	}
	return w, nil
}

func (e *Env) extensions(n int) []m31.QM31 {
	v := make([]m31.QM31, n)
	for i := range v {
		v[i] = e.extension()
	}
	return v
}

// evaluate gives the claims their values: both factors restricted to the point,
// and the inner product of what is left.
func (w *weights[T]) evaluate(q *device.Queue) error {
	for j := range w.claims {
		c, f := &w.claims[j], w.factors[j]
		buf, err := device.Upload(q, append(append(make([]m31.QM31, 2*c.K+1), c.Row...), c.Col...))
		if err != nil {
			return err
		}
		a, b, sum, points := buf.Slice(0, c.K), buf.Slice(c.K, 2*c.K), buf.Slice(2*c.K, 2*c.K+1), buf.Slice(2*c.K+1, buf.Len())
		err = mleprover.Restrict(q, []mleprover.Restriction{
			{Words: f.A.Words, Rows: c.M, Cols: c.K, Point: points.Slice(0, len(c.Row)), Out: a},
			{Words: f.B.Words, Bytes: f.B.Bytes, Rows: c.K, Cols: c.N, Side: mleprover.Columns, Point: points.Slice(len(c.Row), points.Len()), Out: b},
		})
		if err != nil {
			return err
		}
		if err := mleprover.Dot(q, sum, a, b); err != nil {
			return err
		}
		v, err := sum.Read(q)
		buf.Free()
		if err != nil {
			return err
		}
		c.Value = v[0]
	}
	return nil
}

// check evaluates all left factors and the right ones of the first and of the
// last `few` claims' kinds on the host, and compares.
func (w *weights[T]) check(r []matmul.Reduced, few int) error {
	at := 0
	for j, c := range w.claims {
		var v m31.QM31
		for i := range c.M {
			row := w.left[at+i*c.K : at+(i+1)*c.K]
			v = v.Add(mle.EqIndex(r[j].A.Point[:len(c.Row)], uint64(i)).Mul(mle.EvaluateBase(row, r[j].A.Point[len(c.Row):])))
		}
		if at += c.M * c.K; v != r[j].A.Value {
			return fmt.Errorf("claim %d: the left factor evaluates to %v, the proof says %v", j, v, r[j].A.Value)
		}
	}
	for i := range few {
		j := i // one of every kind, in different layers
		if i%2 == 1 {
			j = len(w.claims) - few + i
		}
		if v := w.rightAt(j, r[j].B.Point); v != r[j].B.Value {
			return fmt.Errorf("claim %d: the right factor evaluates to %v, the proof says %v", j, v, r[j].B.Value)
		}
	}
	return nil
}

// rightAt evaluates claim j's right factor, made anew from the seed.
func (w *weights[T]) rightAt(j int, point []m31.QM31) (sum m31.QM31) {
	c := w.claims[j]
	rows, cols := point[:len(point)-len(c.Col)], mle.EqTable(point[len(point)-len(c.Col):])
	var mu sync.Mutex
	parallel.For(c.K, max(1, 4096/c.N), func(lo, hi int) {
		var s m31.QM31
		row := make([]m31.Element, c.N)
		for k := lo; k < hi; k++ {
			sequence[T](row, w.seed, w.starts[j]+k*c.N)
			s = s.Add(mle.EqIndex(rows, uint64(k)).Mul(m31.DotBase(row, cols[:c.N])))
		}
		mu.Lock()
		sum = sum.Add(s)
		mu.Unlock()
	})
	return sum
}
