package bench

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/transcript"
	transprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
)

// opened is a table of random elements and a claim about its value at a random
// point, to be committed to and opened on any queue. Proofs of different sessions
// have other challenges, and so other searches for work.
type opened struct {
	params *whir.Params // of the symbols
	bytes  int64        // of the table
	// load gives what proves on the queue of a device that holds the table.
	load func(q *device.Queue) (*proving, error)
	// verify decodes and verifies a session's proof.
	verify func(session int, proof *proof) error
	// works searches for all the work of one proof, on q, from a random start. It
	// waits for the last search.
	works func(q *device.Queue, session int) error
}

// proving is an opened table on one queue.
type proving struct {
	prove func(session int, mode transprover.Mode) (*proof, error)
	free  func()
}

// proof is a proof's bytes and the root that it is about, which is of type [8]W.
type proof struct {
	root  any
	bytes []byte
}

// wrongByte changes one byte of the proof.
func (p *proof) wrong(at int) *proof {
	b := slices.Clone(p.bytes)
	b[at] ^= 1
	return &proof{p.root, b}
}

// newOpened draws a table for the parameters and computes the value.
func newOpened[W field.Base[W], F field.Element[F], E field.Element[E]](r *rand.Rand, p *whirprover.Prover[W, F, E], v *transcript.Variant[W, E], params *whir.Params) *opened {
	s := p.Scheme()
	table := make([]F, 1<<params.Vars())
	fill(r, table, s.Spec.SymbolWords)
	point := make([]E, params.Vars())
	fill(r, point, v.Degree())
	st := whir.NewStatement[W]([]whir.Claim[E]{{Weight: whir.Eq[E]{Point: point}, Value: evaluate(s.Embed, s.Scale, table, point)}})
	start := func(session int) *transcript.Of[W, E] {
		tr := v.New(transcript.TagWHIR)
		var w W
		tr.Absorb([]W{w.FromUint64(uint64(session))})
		return tr
	}
	o := &opened{params: params, bytes: int64(len(table)) * 4 * int64(s.Spec.SymbolWords)}
	o.load = func(q *device.Queue) (*proving, error) {
		b, err := device.Upload(q, table)
		if err != nil {
			return nil, err
		}
		prove := func(session int, mode transprover.Mode) (*proof, error) {
			tr, err := transprover.FromHost(q, start(session))
			if err != nil {
				return nil, err
			}
			defer tr.Free()
			tr.SetMode(mode)
			c, err := p.Commit(q, params, b)
			if err != nil {
				return nil, err
			}
			defer c.Free()
			words, err := c.Words()
			if err != nil {
				return nil, err
			}
			if err := tr.AbsorbHost(words); err != nil {
				return nil, err
			}
			pf, err := c.Open(q, tr, st)
			if err != nil {
				return nil, err
			}
			root, err := c.Root()
			if err != nil {
				return nil, err
			}
			data, err := s.AppendProof(nil, params, pf)
			return &proof{root, data}, err
		}
		return &proving{prove, b.Free}, nil
	}
	o.verify = func(session int, pf *proof) error {
		oracle, err := s.Receive(start(session), params, pf.root.([8]W))
		if err != nil {
			return err
		}
		decoded, err := s.DecodeProof(params, pf.bytes)
		if err != nil {
			return err
		}
		return oracle.Verify(st, decoded)
	}
	o.works = func(q *device.Queue, session int) error { return searches(q, start(session), params) }
	return o
}

// newOpenedM31 is one of Mersenne-31 values, two a symbol.
func newOpenedM31(r *rand.Rand, params *whir.M31Params) *opened {
	table := make([]m31.Element, 1<<params.Vars())
	fill(r, table, 1)
	point := make([]m31.QM31, params.Vars())
	fill(r, point, 4)
	claims := []whir.M31Claim{{Point: point, Value: mle.EvaluateBase(table, point)}}
	start := func(session int) *transcript.Transcript {
		tr := transcript.New(transcript.TagWHIR)
		tr.Absorb([]m31.Element{m31.New(uint64(session))})
		return tr
	}
	o := &opened{params: params.Inner(), bytes: int64(len(table)) * 4}
	o.load = func(q *device.Queue) (*proving, error) {
		b, err := device.Upload(q, table)
		if err != nil {
			return nil, err
		}
		prove := func(session int, mode transprover.Mode) (*proof, error) {
			tr, err := transprover.FromHost(q, start(session))
			if err != nil {
				return nil, err
			}
			defer tr.Free()
			tr.SetMode(mode)
			c, err := whirprover.CommitTableM31(q, params, b)
			if err != nil {
				return nil, err
			}
			defer c.Free()
			words, err := c.Words()
			if err != nil {
				return nil, err
			}
			if err := tr.AbsorbHost(words); err != nil {
				return nil, err
			}
			pf, err := c.Open(q, tr, claims)
			if err != nil {
				return nil, err
			}
			root, err := c.Root()
			if err != nil {
				return nil, err
			}
			data, err := params.AppendProof(nil, pf)
			return &proof{root, data}, err
		}
		return &proving{prove, b.Free}, nil
	}
	o.verify = func(session int, pf *proof) error {
		oracle, err := whir.ReceiveM31(start(session), params, pf.root.([8]m31.Element))
		if err != nil {
			return err
		}
		decoded, err := params.DecodeProof(len(claims), pf.bytes)
		if err != nil {
			return err
		}
		return oracle.Verify(claims, decoded)
	}
	o.works = func(q *device.Queue, session int) error { return searches(q, start(session), params.Inner()) }
	return o
}

// fill draws elements of so many words each, none of them zero.
func fill[E field.Element[E]](r *rand.Rand, dst []E, words int) {
	var zero E
	seed := r.Uint64()
	const grain = 1 << 14
	parallel.For((len(dst)+grain-1)/grain, 1, func(lo, hi int) {
		for part := lo; part < hi; part++ {
			r := rand.New(rand.NewPCG(seed, uint64(part)))
			w := make([]uint32, words)
			for i := part * grain; i < min((part+1)*grain, len(dst)); i++ {
				for k := range w {
					w[k] = 1 + r.Uint32N(leastModulus-1)
				}
				var err error
				if dst[i], err = zero.SetWords(w); err != nil {
					panic(err) // the words are below every modulus
				}
			}
		}
	})
}

// leastModulus is that of BabyBear, the smallest of the fields.
const leastModulus = 15<<27 + 1

// evaluate is the table's multilinear extension at the point: sums over blocks by
// the second half of the coordinates, then over their values by the first.
func evaluate[F any, E field.Element[E]](embed func(F) E, scale func(E, F) E, table []F, point []E) E {
	half := len(point) / 2
	first, last := eqTable(point[:half]), eqTable(point[half:])
	parts := make([]E, len(first))
	parallel.For(len(first), 1, func(lo, hi int) {
		for u := lo; u < hi; u++ {
			var sum E
			for b, f := range table[u*len(last) : (u+1)*len(last)] {
				sum = sum.Add(scale(last[b], f))
			}
			parts[u] = sum.Mul(first[u])
		}
	})
	var sum E
	for _, p := range parts {
		sum = sum.Add(p)
	}
	return sum
}

func eqTable[E field.Element[E]](point []E) []E {
	var zero E
	out := []E{zero.One()}
	for _, z := range point {
		next := make([]E, 0, 2*len(out))
		for _, v := range out {
			one := v.Mul(z)
			next = append(next, v.Sub(one), one)
		}
		out = next
	}
	return out
}

// workOf lists the bits of work of a proof, search by search.
func workOf(p *whir.Params) []int {
	var out []int
	add := func(bits, times int) {
		for range times {
			if bits > 0 {
				out = append(out, bits)
			}
		}
	}
	add(p.BatchWork(), 1)
	for i := range p.Rounds() {
		add(p.Round(i).FoldWork, p.Round(i).Fold)
		add(p.Round(i).QueryWork, 1)
	}
	return out
}

// searches does the work of a proof one after the other, each with a message of two
// challenges before and a challenge after it, as in a sum-check.
func searches[W field.Base[W], E field.Element[E]](q *device.Queue, host *transcript.Of[W, E], params *whir.Params) error {
	tr, err := transprover.FromHost(q, host)
	if err != nil {
		return err
	}
	defer tr.Free()
	message, err := device.Alloc[E](q, 2)
	if err != nil {
		return err
	}
	defer message.Free()
	nonce, err := device.Alloc[W](q, 2)
	if err != nil {
		return err
	}
	defer nonce.Free()
	if err := tr.Challenge(message); err != nil {
		return err
	}
	for _, bits := range workOf(params) {
		if err := tr.AbsorbGrindChallenge(device.View[W](message), bits, nonce, message.Slice(0, 1)); err != nil {
			return err
		}
	}
	_, err = tr.Host() // a search that has failed is seen here
	return err
}

// oneCore runs op with one core, and says how many objects it allocated.
func oneCore(op func() error) (allocs uint64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = op()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, err
}

// schedule is the parameters in short: rate, folds with their shrinks, queries and
// work.
func schedule(p *whir.Params) string {
	c := p.Config()
	text := fmt.Sprintf("rate 1/%d, folds", 1<<c.LogInvRate)
	for i, r := range c.Rounds {
		regime := "unique"
		if r.Multiplicity != whir.Unique {
			regime = fmt.Sprintf("Johnson %d", r.Multiplicity)
		}
		text += fmt.Sprintf(" %d(%s, %d queries, work %d+%d", r.Fold, regime, r.Queries, r.FoldWork, r.QueryWork)
		if i < len(c.Rounds)-1 {
			text += fmt.Sprintf(", shrink %d", r.Shrink)
		}
		text += ")"
	}
	return text
}
