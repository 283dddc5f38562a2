package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/mle"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// TranscriptM31 is what opening on the host needs of a transcript; package
// transcript's is one.
type TranscriptM31 = Transcript[m31.Element, m31.QM31]

// CommittedM31 is a table of Mersenne-31 values with its tree. It keeps the
// table.
type CommittedM31 struct {
	params *whir.M31Params
	inner  *CommittedCM31
	padded device.Buffer[m31.CM31]    // in place of the table, if that is one symbol
	owned  device.Buffer[m31.Element] // the table, if it came from a slice
}

// CommitM31 commits on the host to a copy of a table of 2^p.Vars() values. q may be
// of any device: it says when to stop.
func CommitM31(q *device.Queue, p *whir.M31Params, table []m31.Element) (*CommittedM31, error) {
	return commitM31(q, p, table, tamper[m31.Element, m31.QM31]{})
}

func commitM31(q *device.Queue, p *whir.M31Params, table []m31.Element, t tamper[m31.Element, m31.QM31]) (*CommittedM31, error) {
	q, err := hostQueue(q)
	if err != nil {
		return nil, err
	}
	b, err := device.Upload(q, table)
	if err != nil {
		return nil, fmt.Errorf("whir: commit: %w", err)
	}
	c, err := commitTableM31(q, p, b, t)
	if err != nil {
		b.Free()
		return nil, err
	}
	c.owned = b
	_, err = c.Root()
	return c, err
}

// hostQueue is q, or one on the host's memory with its context.
func hostQueue(q *device.Queue) (*device.Queue, error) {
	if q.OnHost() {
		return q, nil
	}
	cpu, err := device.Open("cpu")
	if err != nil {
		return nil, err
	}
	return cpu.NewQueue(q.Context())
}

// CommitTableM31 enqueues the commitment to a table of 2^p.Vars() values where it
// lies; it must not change while the commitment is in use.
func CommitTableM31(q *device.Queue, p *whir.M31Params, table device.Buffer[m31.Element]) (*CommittedM31, error) {
	return commitTableM31(q, p, table, tamper[m31.Element, m31.QM31]{})
}

func commitTableM31(q *device.Queue, p *whir.M31Params, table device.Buffer[m31.Element], t tamper[m31.Element, m31.QM31]) (*CommittedM31, error) {
	if p == nil || table.Len() != 1<<p.Vars() {
		return nil, fmt.Errorf("whir: commit: table of %d values does not fit the parameters", table.Len())
	}
	c := &CommittedM31{params: p}
	symbols := device.View[m31.CM31](table)
	if p.Vars() == 1 {
		var err error
		if c.padded, err = device.Alloc[m31.CM31](q, 2); err == nil {
			err = c.padded.Zero(q)
		}
		if err == nil {
			err = device.Copy(q, c.padded.Slice(0, 1), symbols)
		}
		if err != nil {
			return nil, fmt.Errorf("whir: commit: %w", err)
		}
		symbols = c.padded
	}
	var err error
	if c.inner, err = commit(q, CM31(whir.Poseidon2).v, p.Inner(), []device.Buffer[m31.CM31]{symbols}, t); err != nil {
		return nil, err
	}
	return c, nil
}

// Params of the commitment.
func (c *CommittedM31) Params() *whir.M31Params { return c.params }

// Root waits for the root of the tree.
func (c *CommittedM31) Root() ([8]m31.Element, error) { return c.inner.Root() }

// Words waits for the list that stands for the commitment in the transcript: what
// whir.ReceiveM31 absorbs.
func (c *CommittedM31) Words() ([]m31.Element, error) {
	root, err := c.Root()
	if err != nil {
		return nil, err
	}
	return c.params.CommitmentWords(root), nil
}

// Shed gives the memory of the codewords back and keeps the tree. An opening then makes them again, once it knows which rows it needs, and
// gives them back. No opening may be going on.
func (c *CommittedM31) Shed() { c.inner.shed() }

// Over is the commitment with its table at another place of the same device, where the same values must lie; c's own may then be given back. It has
// c's tree, which must live as long, and no codewords, as after [CommittedM31.Shed]. It waits for c's root.
func (c *CommittedM31) Over(table device.Buffer[m31.Element]) (*CommittedM31, error) {
	if table.Len() != 1<<c.params.Vars() {
		return nil, fmt.Errorf("whir: table of %d values does not fit the commitment", table.Len())
	}
	symbols := device.View[m31.CM31](table)
	if c.params.Vars() == 1 {
		symbols = c.padded
	}
	inner, err := c.inner.over([]device.Buffer[m31.CM31]{symbols})
	if err != nil {
		return nil, err
	}
	return &CommittedM31{params: c.params, inner: inner, padded: c.padded}, nil
}

// Free gives the memory of the codewords and the tree back.
func (c *CommittedM31) Free() {
	if c.inner.lent {
		return
	}
	c.inner.Free()
	c.padded.Free()
	c.owned.Free()
}

// OpenM31 proves the claims about a table that was committed on the host. The
// transcript must have absorbed the commitment's Words. A false claim is an error.
func OpenM31(q *device.Queue, tr TranscriptM31, c *CommittedM31, claims []whir.M31Claim) (*whir.M31Proof, error) {
	if !c.inner.q.OnHost() {
		return nil, fmt.Errorf("whir: open: %w: a transcript of the host cannot follow a commitment on a device", device.ErrUsage)
	}
	q, err := hostQueue(q)
	if err != nil {
		return nil, err
	}
	return c.open(q, &hostSponge[m31.Element, m31.CM31, m31.QM31]{q, tr, c.inner.v.scheme}, claims)
}

// Open proves the claims where the table lies, with a transcript on the same
// device that has absorbed the commitment's Words. A false claim is an error.
func (c *CommittedM31) Open(q *device.Queue, tr *transcriptprover.Transcript, claims []whir.M31Claim) (*whir.M31Proof, error) {
	if err := tr.Use(q); err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	return c.open(q, tr, claims)
}

func (c *CommittedM31) open(q *device.Queue, tr sponge[m31.Element, m31.QM31], claims []whir.M31Claim) (*whir.M31Proof, error) {
	proofs, err := openAllM31(q, tr, []OpeningM31{{Committed: c, Claims: claims}})
	if err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	return proofs[0], nil
}

// OpeningM31 is a commitment with claims about its table, and what to call it in errors.
type OpeningM31 struct {
	Name      string
	Committed *CommittedM31
	Claims    []whir.M31Claim
}

// OpenAllM31 is Open of several commitments on q's device, one after the other on one transcript. The proofs are those that Open gives; but all openings are
// enqueued before the host waits for the first of them, and rows of all are read at once. Their messages and the trees of their later rounds are there
// together ([MemoryOpeningsM31]).
func OpenAllM31(q *device.Queue, tr *transcriptprover.Transcript, openings []OpeningM31) ([]*whir.M31Proof, error) {
	if err := tr.Use(q); err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	proofs, err := openAllM31(q, tr, openings)
	if err != nil {
		return nil, fmt.Errorf("whir: open: %w", err)
	}
	return proofs, nil
}

func openAllM31(q *device.Queue, tr sponge[m31.Element, m31.QM31], openings []OpeningM31) ([]*whir.M31Proof, error) {
	named := func(i int, err error) error {
		if err == nil || openings[i].Name == "" {
			return err
		}
		return fmt.Errorf("%s: %w", openings[i].Name, err)
	}
	for k, o := range openings {
		for i, claim := range o.Claims {
			if len(claim.Point) != o.Committed.params.Vars() {
				return nil, named(k, fmt.Errorf("claim %d has %d variables, want %d", i, len(claim.Point), o.Committed.params.Vars()))
			}
		}
	}
	halves := make([]*halvesM31, len(openings))
	defer func() {
		for _, h := range halves {
			h.free()
		}
	}()
	for k, o := range openings {
		var err error
		if halves[k], err = o.Committed.halves(q, o.Claims); err != nil {
			return nil, named(k, err)
		}
	}
	proofs := make([]*whir.M31Proof, len(openings))
	begun := make([]*opener[m31.Element, m31.CM31, m31.QM31], 0, len(openings))
	defer func() {
		for _, b := range begun {
			b.free()
		}
	}()
	for k := range openings {
		values, err := halves[k].read(q)
		if err != nil {
			return nil, named(k, err)
		}
		proofs[k] = &whir.M31Proof{Halves: values}
	}
	for k, o := range openings {
		st, err := o.Committed.params.Statement(o.Claims, proofs[k].Halves)
		if err != nil {
			return nil, named(k, err)
		}
		b, err := o.Committed.inner.begin(q, tr, st, halves[k].sums)
		if err != nil {
			return nil, named(k, err)
		}
		begun = append(begun, b)
	}
	inner, err := collect(begun)
	if err != nil {
		return nil, err
	}
	for k, p := range inner {
		proofs[k].Proof = *p
	}
	return proofs, nil
}

// packer is the operations for tables of Mersenne-31 values. halves sums up the
// blocks of a table for both claims about symbols that
// [whir.M31Params.Statement] makes of a claim, to columns `column` and the next of
// sums, and writes the values of the even and of the odd entries; factors are
// those of the claim's point without its last coordinate.
type packer interface {
	halves(sums device.Buffer[m31.QM31], stride, column int, words device.Buffer[m31.Element], factors device.Buffer[m31.QM31], fold int, halves device.Buffer[m31.QM31]) error
}

// halvesM31 is, of each claim, the values of the even and of the odd entries at its point, and the block sums of the claims about symbols, with columns
// for the samples too. Without symbols to spare (a padded table) there are no sums.
type halvesM31 struct {
	sums, values device.Buffer[m31.QM31] // two values a claim
	symbol       device.Buffer[m31.CM31] // of a padded table, instead
	claims       int
}

func (h *halvesM31) free() {
	if h != nil {
		h.sums.Free()
		h.values.Free()
	}
}

// read waits for the values.
func (h *halvesM31) read(q *device.Queue) ([][2]m31.QM31, error) {
	out := make([][2]m31.QM31, h.claims)
	if h.claims == 0 {
		return out, nil
	}
	if h.symbol.Len() > 0 {
		symbol, err := h.symbol.Read(q)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i] = [2]m31.QM31{m31.Lift(symbol[0].Re), m31.Lift(symbol[0].Im)}
		}
		return out, nil
	}
	values, err := h.values.Read(q)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = [2]m31.QM31{values[2*i], values[2*i+1]}
	}
	return out, nil
}

// halves enqueues the sums of halvesM31.
func (c *CommittedM31) halves(q *device.Queue, claims []whir.M31Claim) (*halvesM31, error) {
	m := c.params.Vars() - 1
	h := &halvesM31{claims: len(claims)}
	if len(claims) == 0 {
		return h, nil
	}
	if m == 0 {
		h.symbol = c.padded
		return h, nil
	}
	p := c.params.Inner()
	fold, stride := p.Round(0).Fold, 2*len(claims)+p.Round(0).Samples
	var factors []m31.QM31
	for _, claim := range claims {
		f, _ := factorsOf[m31.QM31](whir.Eq[m31.QM31]{Point: claim.Point[:m]})
		factors = append(factors, f...)
	}
	do, err := c.inner.v.ops(q)
	if err != nil {
		return nil, err
	}
	defer do.free()
	at, err := device.Upload(q, factors)
	if err != nil {
		return nil, err
	}
	defer at.Free()
	if h.values, err = device.Alloc[m31.QM31](q, 2*len(claims)); err != nil {
		return nil, err
	}
	if h.sums, err = device.Alloc[m31.QM31](q, stride<<fold); err != nil {
		h.free()
		return nil, err
	}
	pack, ok := do.(packer)
	if !ok {
		pack = hostPacker{}
	}
	words := device.View[m31.Element](c.inner.tables[0])
	for i := range claims {
		if err := pack.halves(h.sums, stride, 2*i, words, at.Slice(2*m*i, 2*m*(i+1)), fold, h.values.Slice(2*i, 2*i+2)); err != nil {
			h.free()
			return nil, err
		}
	}
	return h, nil
}

// hostPacker is the operations in Go.
type hostPacker struct{}

// With the sums E and O of a block's even and odd entries, those of the two claims
// are E + iO at the point itself, and at the point whose coordinates have the
// Frobenius map undone that map's inverse of E - iO.
func (hostPacker) halves(sums device.Buffer[m31.QM31], stride, column int, words device.Buffer[m31.Element], factors device.Buffer[m31.QM31], fold int, halves device.Buffer[m31.QM31]) error {
	point := make([]m31.QM31, factors.Len()/2)
	for j := range point {
		point[j] = factors.Host()[2*j+1]
	}
	even, odd := blockHalves(words.Host(), fold, point[fold:])
	var y [2]m31.QM31
	out := sums.Host()
	for u, e := range mle.EqTable(point[:fold]) {
		y[0], y[1] = y[0].Add(e.Mul(even[u])), y[1].Add(e.Mul(odd[u]))
		io := odd[u].MulI()
		out[u*stride+column], out[u*stride+column+1] = even[u].Add(io), even[u].Sub(io).FrobeniusInverse()
	}
	copy(halves.Host(), y[:])
	return nil
}

// blockHalves are, for each of the 2^fold blocks of a table, the sums of its
// even and of its odd words, weighted with eq(point, .).
//
// A block is taken as a matrix: eq of the first coordinates combines its rows
// into one, word by word, and eq of the last ones adds that up.
func blockHalves(words []m31.Element, fold int, point []m31.QM31) (even, odd []m31.QM31) {
	high, low := mle.EqTable(point[:len(point)/2]), mle.EqTable(point[len(point)/2:])
	width, blocks := 2*len(low), 1<<fold
	// Blocks are cut into parts where there are few.
	parts := 1
	for parts*blocks < 32 && 2*parts <= len(high) {
		parts *= 2
	}
	rows := len(high) / parts
	out := make([][2]m31.QM31, blocks*parts)
	parallel.For(len(out), max(1, grain/(rows*width)), func(lo, hi int) {
		acc := make([]m31.QM31, width)
		for k := lo; k < hi; k++ {
			clear(acc)
			w := high[k%parts*rows:][:rows]
			for h, e := range w {
				m31.MulAddBase(acc, words[(k*rows+h)*width:(k*rows+h+1)*width], e)
			}
			var even, odd m31.ProductSum
			for l, e := range low {
				even.Add(e, acc[2*l])
				odd.Add(e, acc[2*l+1])
			}
			out[k] = [2]m31.QM31{even.Value(), odd.Value()}
		}
	})
	even, odd = make([]m31.QM31, blocks), make([]m31.QM31, blocks)
	for k, v := range out {
		even[k/parts], odd[k/parts] = even[k/parts].Add(v[0]), odd[k/parts].Add(v[1])
	}
	return even, odd
}
