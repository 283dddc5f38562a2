package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/zkwarp/zkwarp/bitproof"
	bitprover "github.com/zkwarp/zkwarp/bitproof/prover"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/examples/chi"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	friprover "github.com/zkwarp/zkwarp/fribinius/prover"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	binaryprover "github.com/zkwarp/zkwarp/sumcheck/binary/prover"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

const binarySuite = "binary"

// binaryCases are sum-checks over towers of binary fields, p_1 over GF(2^128) and the
// others of bits, by every algorithm; the commitment that goes with them; and a complete
// proof.
func binaryCases() []Case {
	var cases []Case
	last := &binaryInputs{}
	for _, n := range []int{12, 20, 24, 28} {
		for d := 2; d <= 4; d++ {
			for _, a := range binaryprover.Algorithms() {
				name := fmt.Sprintf("n%d-d%d", n, d)
				if a != binaryprover.Window {
					name += "-" + a.String()
				}
				cases = append(cases, Case{Suite: binarySuite, Name: name, Kernels: binaryKernels[a], Large: n > 20 || n > 12 && a != binaryprover.Window,
					About: fmt.Sprintf("sum-check of p_1 over GF(2^128) and %d of bits, algorithm %s", d-1, a),
					Run:   func(e *Env) ([]Measurement, error) { return binarySkips(binaryRounds(e, last, n, d, a)) }})
			}
		}
	}
	for _, n := range []int{12, 20, 24, 28} {
		cases = append(cases, Case{Suite: binarySuite, Name: fmt.Sprintf("commit-n%d", n), Large: n > 24,
			Kernels: []string{"fribinius_partial", "merkle_leaves_blake3"}, About: "FRI-Binius commitment to 2^n bits, and its opening at a point",
			Run: func(e *Env) ([]Measurement, error) { return binarySkips(binaryCommit(e, n)) }})
	}
	for _, n := range []int{10, 20, 24} {
		cases = append(cases, Case{Suite: binarySuite, Name: fmt.Sprintf("chi-n%d", n), Large: n > 20,
			Kernels: []string{"bits_gates", "bits_join", "binary_points_last", "fribinius_partial"},
			About:   "complete proof that 2^n rows of ten bits are Keccak's step chi, from resident columns",
			Run:     func(e *Env) ([]Measurement, error) { return binarySkips(binaryChi(e, n)) }})
	}
	return cases
}

// binaryKernels are what an algorithm cannot do without.
var binaryKernels = map[binaryprover.Algorithm][]string{
	binaryprover.Window:   {"binary_window_pass", "binary_window_finish", "binary_points_last"},
	binaryprover.BDT1:     {"binary_compose", "binary_scale"},
	binaryprover.BDT2:     {"binary_terms_round", "binary_scale"},
	binaryprover.SumCATS1: {"binary_terms_round", "binary_scale"},
	binaryprover.SumCATS2: {"binary_terms_round", "binary_get_batches"},
}

// binarySkips leaves out what the machine is too small for, or has no kernels for.
func binarySkips(m []Measurement, err error) ([]Measurement, error) {
	if errors.Is(err, device.ErrNoMemory) || errors.Is(err, binaryprover.ErrNotOnDevice) {
		return nil, fmt.Errorf("%w: %w", ErrSkip, err)
	}
	return m, err
}

// binaryInputs are tables of one size in the host's memory, as a caller has them: 16 bytes
// an entry, of bits too. They are kept from one case to the next.
type binaryInputs struct {
	seed uint64
	vars int
	p1   device.Pinned[gf2.Element]
	bits [][]gf2.Element
}

// seedOf is that of table j's random sequence.
func seedOf(seed uint64, j int) uint64 { return seed + uint64(j)<<48 }

// load makes the tables for degree d, or more of them.
func (b *binaryInputs) load(q *device.Queue, seed uint64, vars, d int) error {
	n := 1 << vars
	if b.vars != vars || b.seed != seed {
		if err := b.p1.Free(); err != nil {
			return err
		}
		*b = binaryInputs{}
		runtime.GC()
		p1, err := device.AllocPinned[gf2.Element](q.Device(), n)
		if err != nil {
			return err
		}
		*b = binaryInputs{seed: seed, vars: vars, p1: p1}
		table := p1.Host()
		parallel.For(n, 1<<14, func(lo, hi int) {
			for x := lo; x < hi; x++ {
				table[x] = gf2.Element{Lo: randomWord(seed, uint64(2*x), false), Hi: randomWord(seed, uint64(2*x+1), false)}
			}
		})
	}
	for j := len(b.bits) + 1; j < d; j++ {
		table := make([]gf2.Element, n)
		parallel.For(n/64, 1<<8, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				w := randomWord(seedOf(seed, j), uint64(i), false)
				for x := range 64 {
					table[64*i+x].Lo = w >> x & 1
				}
			}
		})
		b.bits = append(b.bits, table)
	}
	return nil
}

// binaryRounds measures all rounds of one sum-check: from tables that are resident and
// packed, and from the caller's.
func binaryRounds(e *Env, inputs *binaryInputs, n, d int, a binaryprover.Algorithm) ([]Measurement, error) {
	q := e.Queue
	in := binaryprover.Instance{Shape: binary.Shape{Vars: n, Degree: d, Kind: binary.ExtBits}}
	table, err := device.Alloc[gf2.Element](q, 1<<n)
	if err != nil {
		return nil, err
	}
	defer table.Free()
	in.Ext = []device.Buffer[gf2.Element]{table}
	if err := fillSequence(q, table, e.Seed); err != nil {
		return nil, err
	}
	for j := 1; j < d; j++ {
		column, err := device.Alloc[uint32](q, in.Words())
		if err != nil {
			return nil, err
		}
		defer column.Free()
		if err := fillSequence(q, column, seedOf(e.Seed, j)); err != nil {
			return nil, err
		}
		in.Bits = append(in.Bits, column)
	}
	value, err := binaryprover.Value(q, in)
	if err != nil {
		return nil, err
	}
	var proof *binary.Proof
	prove := func(in binaryprover.Instance) error {
		var err error
		proof, _, err = binaryprover.Prove(e.Ctx, q, tower.New(tower.LabelSumcheck), in, value, binaryprover.Options{Algorithm: a})
		return err
	}
	var out []Measurement
	again := func() error { return prove(in) }
	free := func() {}
	if a == binaryprover.Window && !q.OnHost() { // memory and launches are kept from proof to proof
		once, err := e.Time("once-ms", 1, nil, again)
		if err != nil {
			return nil, err
		}
		if once.Proof, err = binaryCheck(q, in, value, proof); err != nil {
			return nil, err
		}
		once.Note = "with the memory taken and the launches enqueued one by one"
		out = append(out, once)
		kept, err := binaryprover.Record(q, in)
		if err != nil {
			return nil, err
		}
		free = kept.Free
		defer free()
		again = func() (err error) {
			proof, _, err = kept.Prove(e.Ctx, tower.New(tower.LabelSumcheck), value)
			return err
		}
	}
	m, err := e.Time("ms", 1, nil, again)
	if err != nil {
		return nil, err
	}
	if m.Proof, err = binaryCheck(q, in, value, proof); err != nil {
		return nil, err
	}
	m.Note = fmt.Sprintf("algorithm %s, %d launches a proof", a, proofLaunches(q, again))
	free()

	// The same from the caller's tables, into memory of its own.
	if err := inputs.load(q, e.Seed, n, d); err != nil {
		return nil, err
	}
	if !q.OnHost() { // room for both is not needed
		table.Free()
	}
	whole, err := e.Time("whole-ms", 1, nil, func() error { return binaryWhole(q, inputs, in.Shape, prove) })
	if err != nil {
		return nil, err
	}
	digest, err := proofDigest(in.Shape, proof)
	if err != nil {
		return nil, err
	}
	if digest != m.Proof {
		return nil, fmt.Errorf("the proof from the caller's tables is another one than that from packed ones")
	}
	bytes := 16 * float64(d) * float64(uint64(1)<<n)
	whole.Proof, whole.Note = digest, fmt.Sprintf("from %d tables of 16 bytes an entry, %.3g GB, read at %.3g GB/s: bits packed by the host's cores, p_1 page-locked",
		d, bytes/1e9, bytes/1e6/Median(whole.Samples))
	for i := range out {
		out[i].Proof = digest
	}
	return append([]Measurement{m, whole}, out...), nil
}

// binaryWhole is the whole job: upload of p_1 while the host packs the bits, their upload,
// and the proof.
func binaryWhole(q *device.Queue, inputs *binaryInputs, s binary.Shape, prove func(binaryprover.Instance) error) error {
	table, err := device.Alloc[gf2.Element](q, 1<<s.Vars)
	if err != nil {
		return err
	}
	defer table.Free()
	if err := table.CopyFromPinned(q, inputs.p1); err != nil {
		return err
	}
	in := binaryprover.Instance{Shape: s, Ext: []device.Buffer[gf2.Element]{table}}
	words := make([]uint32, s.Words())
	for _, b := range inputs.bits[:s.Degree-1] {
		if err := binaryprover.PackHost(words, b); err != nil {
			return err
		}
		column, err := device.Upload(q, words)
		if err != nil {
			return err
		}
		defer column.Free()
		in.Bits = append(in.Bits, column)
	}
	return prove(in)
}

// binaryCheck verifies a proof, compares its final evaluations with the tables' values at
// the point, and returns the proof's digest.
func binaryCheck(q *device.Queue, in binaryprover.Instance, value gf2.Element, proof *binary.Proof) (string, error) {
	r, err := binary.Verify(tower.New(tower.LabelSumcheck), in.Claim(value), proof)
	if err != nil {
		return "", err
	}
	var values []gf2.Element
	for _, t := range in.Ext {
		v, err := binaryprover.Evaluate(q, t, r.Point)
		if err != nil {
			return "", err
		}
		values = append(values, v)
	}
	for _, c := range in.Bits {
		v, err := binaryprover.EvaluateBits(q, c, 1, r.Point)
		if err != nil {
			return "", err
		}
		values = append(values, v...)
	}
	for j, v := range values {
		if r.Evals[j] != v {
			return "", fmt.Errorf("the final evaluation of p_%d is %v, want %v", j+1, r.Evals[j], v)
		}
	}
	return proofDigest(in.Shape, proof)
}

func proofDigest(s binary.Shape, proof *binary.Proof) (string, error) {
	data, err := s.AppendProof(nil, proof)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:]), nil
}

// proofLaunches counts the launches of op.
func proofLaunches(q *device.Queue, op func() error) int64 {
	before := q.Stats().Launches
	if op() != nil {
		return 0
	}
	return q.Stats().Launches - before
}

// binaryCommit measures a commitment to random bits and one opening.
func binaryCommit(e *Env, n int) ([]Measurement, error) {
	q := e.Queue
	params, err := fribinius.New(n, 2, 100)
	if err != nil {
		return nil, err
	}
	bits, err := device.Alloc[uint32](q, 1<<(n-5))
	if err != nil {
		return nil, err
	}
	defer bits.Free()
	if err := fillSequence(q, bits, e.Seed); err != nil {
		return nil, err
	}
	point := make([]gf2.Element, n)
	for i := range point {
		point[i] = gf2.Element{Lo: e.Rand.Uint64(), Hi: e.Rand.Uint64()}
	}
	var c *friprover.Committed
	var root fribinius.Root
	free := func() {
		if c != nil {
			c.Free()
			c = nil
		}
	}
	defer free()
	commit, err := e.Time("commit-ms", 1, func() error { free(); return nil }, func() error {
		var err error
		c, root, err = friprover.Commit(e.Ctx, q, params, bits)
		return err
	})
	if err != nil {
		return nil, err
	}
	var proof *fribinius.Proof
	var value gf2.Element
	open, err := e.Time("open-ms", 1, nil, func() error {
		var err error
		proof, value, err = c.Open(e.Ctx, tower.New(tower.LabelFRIBinius), point)
		return err
	})
	if err != nil {
		return nil, err
	}
	want, err := binaryprover.EvaluateBits(q, bits, 1, point)
	if err != nil {
		return nil, err
	}
	if want[0] != value {
		return nil, fmt.Errorf("the commitment opens to %v, want %v", value, want[0])
	}
	data, err := params.AppendProof(nil, proof)
	if err != nil {
		return nil, err
	}
	decoded, err := params.DecodeProof(data)
	if err != nil {
		return nil, err
	}
	verify := Measurement{Metric: "verify-ms", Unit: "ms"}
	for range e.Samples {
		start := time.Now()
		if _, err := oneCore(func() error {
			return fribinius.Verify(tower.New(tower.LabelFRIBinius), params, root, point, value, decoded)
		}); err != nil {
			return nil, err
		}
		verify.Samples = append(verify.Samples, float64(time.Since(start))/1e6)
	}
	digest := sha256.Sum256(data)
	open.Proof = hex.EncodeToString(digest[:])
	r := params.Report()
	note := params.String()
	return []Measurement{commit, open, verify,
		Constant("proof-kib", "KiB", float64(len(data))/1024, note, open.Proof, e.Samples),
		Constant("bits", "bits", r.Min, note, "", e.Samples),
		Constant("bits-sum", "bits", r.Sum, note, "", e.Samples)}, nil
}

// binaryChi measures a complete proof about 2^n rows of ten columns.
func binaryChi(e *Env, n int) ([]Measurement, error) {
	q := e.Queue
	s, err := bitproof.Parse(chi.Statement(n))
	if err != nil {
		return nil, err
	}
	params, err := bitproof.NewParams(s)
	if err != nil {
		return nil, err
	}
	columns, err := bitprover.Upload(q, params, chi.Columns(e.Seed, s.ColumnWords()))
	if err != nil {
		return nil, err
	}
	defer columns.Free()
	var pf *bitproof.Proof
	prove := func() error {
		var err error
		pf, err = bitprover.Prove(e.Ctx, q, columns, bitprover.Options{})
		return err
	}
	m, err := e.Time("prove-ms", 1, nil, prove)
	if err != nil {
		return nil, err
	}
	data, err := params.AppendProof(nil, pf)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(data)
	m.Proof, m.Note = hex.EncodeToString(digest[:]), fmt.Sprintf("%d launches a proof", proofLaunches(q, prove))
	decoded, err := params.DecodeProof(data)
	if err != nil {
		return nil, err
	}
	verify := Measurement{Metric: "verify-ms", Unit: "ms"}
	for range e.Samples {
		start := time.Now()
		if _, err := oneCore(func() error { return params.Verify(decoded) }); err != nil {
			return nil, err
		}
		verify.Samples = append(verify.Samples, float64(time.Since(start))/1e6)
	}
	r := params.Report()
	return []Measurement{m, verify,
		Constant("proof-kib", "KiB", float64(len(data))/1024, "", m.Proof, e.Samples),
		Constant("bits", "bits", r.Min, "", "", e.Samples),
		Constant("bits-sum", "bits", r.Sum, "", "", e.Samples)}, nil
}
