package prover

import (
	"fmt"
	"math/bits"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
)

const (
	threads = 256
	// maxClaims is how many claims one pass over a table is for.
	sumClaims    = 2
	weightClaims = 4
	weightRows   = 32
	foldColumns  = 2
	pointRows    = 4
	// transformLog and transformColumns are TRANSFORM and TRANSFORM_COLUMNS.
	transformLog, transformColumns = 8, 8
	// maxPartial bounds the blocks of launches whose last block adds up what the
	// others have left.
	maxPartial = 4096
	// maxFoldBlocks bounds the blocks of a table.
	maxFoldBlocks = 1 << 10
	// tailThreads of the block that does the last rounds, and the number of
	// entries from which on it does them.
	tailThreads = 512
	tailEntries = 1 << 12
)

// stated is a transcript whose state lies on the device.
type stated[W any] interface {
	State() device.Buffer[W]
}

// onDevice enqueues the operations of openings on a GPU (or the emulator). Buffers
// that an operation writes share no memory with those that it reads, but for the
// tables of rounds and fold, which are bound in place.
//
// It has a little memory of its own, so that its operations must be enqueued by one
// goroutine, on its queue.
type onDevice[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	q        *device.Queue
	u        *unit
	partial  device.Buffer[E]      // of a launch's blocks
	counters device.Buffer[uint32] // zero between launches
}

func newOnDevice[W field.Base[W], F field.Element[F], E field.Element[E]](q *device.Queue, u *unit) (*onDevice[W, F, E], error) {
	d := &onDevice[W, F, E]{q: q, u: u}
	var err error
	if d.partial, err = device.Alloc[E](q, 2*maxPartial); err != nil {
		return nil, fmt.Errorf("whir: kernels: %w", err)
	}
	if d.counters, err = device.Alloc[uint32](q, maxFoldBlocks); err != nil {
		d.free()
		return nil, fmt.Errorf("whir: kernels: %w", err)
	}
	if err := d.counters.Zero(q); err != nil {
		d.free()
		return nil, fmt.Errorf("whir: kernels: %w", err)
	}
	return d, nil
}

func (d *onDevice[W, F, E]) free() {
	d.partial.Free()
	d.counters.Free()
}

func (d *onDevice[W, F, E]) launch(name string, grid device.Dim, args ...device.Arg) error {
	return d.q.Launch(device.Kernel{Source: d.u.source, Name: "whir_" + name + "_" + d.u.name}, grid, device.D1(threads), 0, args...)
}

// wrong is an error for buffers of lengths that do not fit.
func wrong(op, format string, args ...any) error {
	return fmt.Errorf("whir: %s: %w: %s", op, device.ErrUsage, fmt.Sprintf(format, args...))
}

// power says what power of two n is.
func power(n int) (log int, ok bool) {
	return bits.Len(uint(n)) - 1, n > 0 && n&(n-1) == 0
}

// claims is the number of claims whose factors over some variables a buffer holds.
func claims(factors, vars int) (int, bool) {
	if vars < 1 || factors%(2*vars) != 0 {
		return 0, false
	}
	return factors / (2 * vars), true
}

// eqPowers writes the factors of eq at the powers (z^(2^(m-1)), ..., z^2, z), two a
// variable: dst[2j] = 1 - p_j and dst[2j+1] = p_j.
func (d *onDevice[W, F, E]) eqPowers(dst, z device.Buffer[E]) error {
	if dst.Len()%2 != 0 || z.Len() != 1 {
		return wrong("factors", "%d of %d values", dst.Len(), z.Len())
	}
	if dst.Len() == 0 {
		return nil
	}
	return d.q.Launch(device.Kernel{Source: d.u.source, Name: "whir_eq_powers_" + d.u.name}, device.D1(1), device.D1(32), 0,
		dst.Arg(), z.Arg(), device.U32(dst.Len()/2))
}

// geometric writes dst[j] = x^(first+j).
func (d *onDevice[W, F, E]) geometric(dst, x device.Buffer[E], first int) error {
	if x.Len() != 1 || first < 0 {
		return wrong("powers", "%d values, from power %d on", x.Len(), first)
	}
	if dst.Len() == 0 {
		return nil
	}
	return d.launch("geometric", device.D1(device.Blocks(dst.Len(), threads)), dst.Arg(), x.Arg(), device.U32(first), device.U32(dst.Len()))
}

// blockSums writes, for claim c and each of a table's 2^fold blocks u,
//
//	sums[u*stride+column+c] = sum_b weight_c(b) f[u, b],
//
// where weight_c is the product of the claim's factors of all but the first fold
// variables. factors has 2 log2(len(f)) values a claim.
func (d *onDevice[W, F, E]) blockSums(sums device.Buffer[E], stride, column int, f device.Buffer[F], factors device.Buffer[E], fold int) error {
	var zero F
	return d.sums("block_sums", 10-zero.Degree(), sums, stride, column, f.Arg(), f.Len(), factors, fold)
}

// blockSumsExt is blockSums for a table of challenges.
func (d *onDevice[W, F, E]) blockSumsExt(sums device.Buffer[E], stride, column int, f, factors device.Buffer[E], fold int) error {
	return d.sums("block_sums_ext", 8, sums, stride, column, f.Arg(), f.Len(), factors, fold)
}

// sums goes over the table once for each sumClaims claims. columns is log2 of the
// entries that a block of the grid has of a row.
func (d *onDevice[W, F, E]) sums(kernel string, columns int, sums device.Buffer[E], stride, column int, f device.Arg, size int, factors device.Buffer[E], fold int) error {
	vars, ok := power(size)
	count, whole := claims(factors.Len(), vars)
	if !ok || !whole || fold < 0 || fold > vars || 1<<fold > maxFoldBlocks || stride < 0 || column < 0 || column+count > stride ||
		sums.Len() < (1<<fold-1)*stride+column+count {
		return wrong("block sums", "table of %d, %d factors, fold %d, %d sums with stride %d", size, factors.Len(), fold, sums.Len(), stride)
	}
	n := vars - fold
	low := min(n, columns)
	parts := d.parts(fold, n-low)
	for c := 0; c < count; c += sumClaims {
		k := min(sumClaims, count-c)
		at := sums.Slice(column+c, sums.Len())
		own := factors.Slice(2*vars*c, 2*vars*(c+k))
		rest := own.Slice(2*fold, own.Len())
		err := d.launch(fmt.Sprintf("%s%d", kernel, k), device.D2(parts, 1<<fold), at.Arg(), device.U64(stride), f, rest.Arg(),
			device.U32(2*vars), device.U32(n), device.U32(low), device.U32((1<<(n-low))/parts), d.partial.Arg(), d.counters.Arg())
		if err != nil {
			return err
		}
	}
	return nil
}

// parts is into how many parts each of 2^fold blocks of 2^rows rows is cut, so that
// all of a GPU has work: a power of two.
func (d *onDevice[W, F, E]) parts(fold, rows int) int {
	parts := 1
	for parts < 1<<rows && 2*parts<<fold <= min(4*d.q.Device().Info().Units, maxPartial) {
		parts *= 2
	}
	return parts
}

// blockWeights writes dst[u*stride+column+c] = coeffs[c] times the product of claim
// c's factors of the first fold of vars variables at u.
func (d *onDevice[W, F, E]) blockWeights(dst device.Buffer[E], stride, column int, factors, coeffs device.Buffer[E], fold, vars int) error {
	count, ok := claims(factors.Len(), vars)
	if !ok || count != coeffs.Len() || fold < 0 || fold > vars || fold > 30 || stride < 0 || column < 0 || column+count > stride ||
		dst.Len() < (1<<fold-1)*stride+column+count {
		return wrong("block weights", "%d factors of %d variables, %d coefficients, fold %d, %d weights with stride %d",
			factors.Len(), vars, coeffs.Len(), fold, dst.Len(), stride)
	}
	if count == 0 {
		return nil
	}
	return d.launch("block_weights", device.D1(device.Blocks(count<<fold, threads)), dst.Slice(column, dst.Len()).Arg(), device.U64(stride),
		factors.Arg(), device.U32(2*vars), coeffs.Arg(), device.U32(count), device.U32(fold))
}

// foldBlocks binds a table's first variables to challenges: dst[b] is the sum over
// the blocks u of eq(challenges, u) f[u, b].
func (d *onDevice[W, F, E]) foldBlocks(dst device.Buffer[E], f device.Buffer[F], challenges device.Buffer[E]) error {
	fold := challenges.Len()
	if 1<<min(fold, 30) > maxFoldBlocks || f.Len() != dst.Len()<<fold || dst.Len() == 0 {
		return wrong("fold blocks", "table of %d by %d challenges to %d", f.Len(), fold, dst.Len())
	}
	return d.launch("fold_blocks", columns(dst.Len()), dst.Arg(), f.Arg(), challenges.Arg(), device.U32(fold), device.U64(dst.Len()))
}

// columns is the grid for tables of n symbols, of which a thread has foldColumns.
func columns(n int) device.Dim { return device.D1(device.Blocks(n, foldColumns*threads)) }

// combine writes the sum of coeffs[a]*tables[a].
func (d *onDevice[W, F, E]) combine(dst device.Buffer[E], tables []device.Buffer[F], coeffs device.Buffer[E]) error {
	if len(tables) != coeffs.Len() || len(tables) == 0 || dst.Len() == 0 {
		return wrong("combine", "%d tables, %d coefficients", len(tables), coeffs.Len())
	}
	addresses := make([]uint64, len(tables))
	for a, t := range tables {
		if t.Len() != dst.Len() {
			return wrong("combine", "table of %d entries, want %d", t.Len(), dst.Len())
		}
		if err := t.Use(d.q); err != nil {
			return fmt.Errorf("whir: combine: %w", err)
		}
		addresses[a] = t.Address()
	}
	at, err := device.Upload(d.q, addresses)
	if err != nil {
		return fmt.Errorf("whir: combine: %w", err)
	}
	defer at.Free()
	for a := 0; a < len(tables); a += maxFoldBlocks {
		b, add := min(a+maxFoldBlocks, len(tables)), 0
		if a > 0 {
			add = 1
		}
		err := d.launch("combine", columns(dst.Len()), dst.Arg(), at.Slice(a, b).Arg(), coeffs.Slice(a, b).Arg(), device.U32(b-a), device.U64(dst.Len()), device.U32(add))
		if err != nil {
			return err
		}
	}
	return nil
}

// lift writes a table of symbols as challenges.
func (d *onDevice[W, F, E]) lift(dst device.Buffer[E], f device.Buffer[F]) error {
	if dst.Len() != f.Len() {
		return wrong("lift", "%d symbols to %d challenges", f.Len(), dst.Len())
	}
	if dst.Len() == 0 {
		return nil
	}
	return d.launch("lift", device.D1(device.Blocks(dst.Len(), threads)), dst.Arg(), f.Arg(), device.U64(dst.Len()))
}

// addWeights adds the sum of coeffs[c] weight_c(b) to w[b], or writes it there, where
// weight_c is the product of claim c's factors of the last log2(len(w)) of vars
// variables.
func (d *onDevice[W, F, E]) addWeights(w, factors device.Buffer[E], vars int, coeffs device.Buffer[E], set bool) error {
	n, ok := power(w.Len())
	count, whole := claims(factors.Len(), vars)
	if !ok || !whole || n > vars || count != coeffs.Len() {
		return wrong("weights", "%d factors of %d variables, %d coefficients, table of %d", factors.Len(), vars, coeffs.Len(), w.Len())
	}
	if count == 0 {
		if set {
			return w.Zero(d.q)
		}
		return nil
	}
	low := min(n, 8)
	rows := 1 // powers of two
	for rows < weightRows && 4*rows*d.q.Device().Info().Units <= 1<<(n-low) {
		rows *= 2
	}
	for c := 0; c < count; c += weightClaims {
		k, flag := min(weightClaims, count-c), 0
		if set && c == 0 {
			flag = 1
		}
		own := factors.Slice(2*vars*c, 2*vars*(c+k))
		rest := own.Slice(min(2*(vars-n), own.Len()), own.Len())
		err := d.launch("add_weights", device.D1(1<<(n-low)/rows), w.Arg(), rest.Arg(), device.U32(2*vars),
			coeffs.Slice(c, c+k).Arg(), device.U32(k), device.U32(n), device.U32(low), device.U32(rows), device.U32(flag))
		if err != nil {
			return err
		}
	}
	return nil
}

// addTable adds coeff*t to w.
func (d *onDevice[W, F, E]) addTable(w, t, coeff device.Buffer[E]) error {
	if w.Len() != t.Len() || coeff.Len() != 1 {
		return wrong("add a table", "%d entries to %d, %d coefficients", t.Len(), w.Len(), coeff.Len())
	}
	if w.Len() == 0 {
		return nil
	}
	return d.launch("add_table", device.D1(device.Blocks(w.Len(), threads)), w.Arg(), t.Arg(), coeff.Arg(), device.U64(w.Len()))
}

// addPoints adds the sum of gamma^(first+j) omega^(indices[j] b) to w[b], where omega
// is the generator of the 2^logLeaves-th roots of unity.
func (d *onDevice[W, F, E]) addPoints(w device.Buffer[E], logLeaves int, indices device.Buffer[uint32], gamma device.Buffer[E], first int) error {
	n, ok := power(w.Len())
	if !ok || logLeaves < 0 || logLeaves > 31 || gamma.Len() != 1 || first < 0 || indices.Len() > 65535 {
		return wrong("points", "table of %d, 2^%d leaves, %d indices, %d challenges", w.Len(), logLeaves, indices.Len(), gamma.Len())
	}
	t := indices.Len()
	if t == 0 {
		return nil
	}
	if transformed(n, logLeaves, t) {
		return d.transformPoints(w, n, logLeaves, indices, gamma, first)
	}
	return d.directPoints(w, n, logLeaves, indices, gamma, first)
}

// directPoints is addPoints term by term.
func (d *onDevice[W, F, E]) directPoints(w device.Buffer[E], n, leaves int, indices device.Buffer[uint32], gamma device.Buffer[E], first int) error {
	t := indices.Len()
	low := max(min(n, 8), (n+1)/2)
	high := n - low
	columns, rows, free, err := d.pointMemory(t<<low, t<<high)
	defer free()
	if err != nil {
		return err
	}
	root := d.u.root(leaves)
	err = d.launch("point_tables", device.D2(device.Blocks(1<<low+1<<high, threads), t), columns.Arg(), rows.Arg(), indices.Arg(), gamma.Arg(),
		device.U32(first), device.U32(root[0]), device.U32(root[1]), device.U32(leaves), device.U32(low), device.U32(high))
	if err != nil {
		return err
	}
	return d.launch("point_sums", device.D2(device.Blocks(1<<low, threads), device.Blocks(1<<high, pointRows)), w.Arg(), columns.Arg(), rows.Arg(),
		device.U32(t), device.U32(low), device.U32(high))
}

// pointMemory is room for symbols and for challenges.
func (d *onDevice[W, F, E]) pointMemory(symbols, challenges int) (s device.Buffer[F], c device.Buffer[E], free func(), err error) {
	if s, err = device.Alloc[F](d.q, symbols); err == nil {
		c, err = device.Alloc[E](d.q, challenges)
	}
	if err != nil {
		err = fmt.Errorf("whir: points: %w", err)
	}
	return s, c, func() { s.Free(); c.Free() }, err
}

// transformed says whether the sums at t of 2^leaves points are less work for 2^n
// entries as a transform, whose columns are 2^(leaves-transformLog) apart. The units
// are word products, a column's.
func transformed(n, leaves, t int) bool {
	const column, term, product = 16 << 10, 40, 6
	low := leaves - transformLog
	return low >= 3 && n > low && t*product<<(n-low) > column+term*t
}

// transformPoints is addPoints by a transform.
func (d *onDevice[W, F, E]) transformPoints(w device.Buffer[E], n, leaves int, indices device.Buffer[uint32], gamma device.Buffer[E], first int) error {
	t := indices.Len()
	powers, coeffs, free, err := d.pointMemory(t, t)
	defer free()
	if err != nil {
		return err
	}
	root, short := d.u.root(leaves), d.u.root(transformLog)
	err = d.launch("point_terms", device.D1(device.Blocks(t, threads)), coeffs.Arg(), powers.Arg(), indices.Arg(), gamma.Arg(),
		device.U32(first), device.U32(root[0]), device.U32(root[1]), device.U32(t))
	if err != nil {
		return err
	}
	low := leaves - transformLog
	return d.launch("point_transform", device.D1(1<<low/transformColumns), w.Arg(), coeffs.Arg(), powers.Arg(), indices.Arg(), device.U32(t),
		device.U32(short[0]), device.U32(short[1]), device.U32(low), device.U32(1<<(n-low)))
}

// rounds does len(msgs)/2 rounds of the sum-check on sum_b w[b] g[b], after both
// tables are bound to r, if it has an element. A round's message is the sum of the
// lower halves' products and that of the differences'. Without a transcript it is one
// round; with one each round absorbs its message as a list and draws its challenge.
// Tables are bound in place, the rest of them being left undefined, to all challenges
// but the last, which stays pending.
func (d *onDevice[W, F, E]) rounds(g, w, r, msgs device.Buffer[E], tr sponge[W, E], challenges device.Buffer[E]) error {
	count, bound := msgs.Len()/2, r.Len()
	if bound > 1 || msgs.Len()%2 != 0 || g.Len() != w.Len() || (tr == nil && count != 1) || (tr != nil && challenges.Len() != count) ||
		count > 32 || g.Len()%(1<<(bound+count)) != 0 || g.Len() == 0 {
		return wrong("rounds", "tables of %d and %d, %d values to bind, %d of messages, %d challenges", g.Len(), w.Len(), bound, msgs.Len(), challenges.Len())
	}
	var state device.Buffer[W]
	if tr != nil {
		on, ok := tr.(stated[W])
		if !ok {
			return wrong("rounds", "a transcript of the host")
		}
		state = on.State()
	}
	half := g.Len() >> (1 + bound)
	for j := range count {
		if tr != nil && 2*half <= tailEntries {
			return d.q.Launch(device.Kernel{Source: d.u.source, Name: "whir_rounds_" + d.u.name}, device.D1(1), device.D1(tailThreads), 0,
				g.Arg(), w.Arg(), r.Arg(), device.U64(half), device.U32(count-j), msgs.Slice(2*j, 2*count).Arg(), state.Arg(), challenges.Slice(j, count).Arg())
		}
		name, args := "round", []device.Arg{g.Arg(), w.Arg()}
		if r.Len() == 1 {
			name, args = "fold_round", append(args, r.Arg())
		}
		var drawn device.Buffer[E]
		if tr != nil {
			drawn = challenges.Slice(j, j+1)
		}
		blocks := min(device.Blocks(half, threads), 4*d.q.Device().Info().Units, maxPartial)
		args = append(args, device.U64(half), d.partial.Arg(), d.counters.Arg(), msgs.Slice(2*j, 2*j+2).Arg(), state.Arg(), drawn.Arg())
		if err := d.launch(name, device.D1(blocks), args...); err != nil {
			return err
		}
		r = drawn
		half /= 2
	}
	return nil
}

// fold binds both tables to r, in place; w may be empty.
func (d *onDevice[W, F, E]) fold(g, w, r device.Buffer[E]) error {
	if g.Len()%2 != 0 || g.Len() == 0 || (w.Len() != g.Len() && w.Len() != 0) || r.Len() != 1 {
		return wrong("fold", "tables of %d and %d to %d values", g.Len(), w.Len(), r.Len())
	}
	half := g.Len() / 2
	return d.launch("fold", device.D1(device.Blocks(half, threads)), g.Arg(), w.Arg(), r.Arg(), device.U64(half))
}

// dot writes the sum of a[u*stride+column]*b[u*stride+column] over all u for which
// there are entries.
func (d *onDevice[W, F, E]) dot(dst, a, b device.Buffer[E], stride, column int) error {
	if a.Len() != b.Len() || dst.Len() != 1 || column < 0 || column >= stride {
		return wrong("dot", "%d and %d entries with stride %d, column %d", a.Len(), b.Len(), stride, column)
	}
	size := (a.Len() - column + stride - 1) / stride
	if size <= 0 {
		return dst.Zero(d.q)
	}
	blocks := min(device.Blocks(size, threads), 4*d.q.Device().Info().Units, maxPartial)
	return d.launch("dot", device.D1(blocks), dst.Arg(), a.Slice(column, a.Len()).Arg(), b.Slice(column, b.Len()).Arg(), device.U64(stride), device.U64(size),
		d.partial.Arg(), d.counters.Arg())
}
