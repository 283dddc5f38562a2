package weierstrass

import "slices"

// adder adds the points of a block, bucket by bucket, in affine coordinates.
type adder[E any, F Field[E]] struct {
	c      *Curve[E, F]
	points []Affine[E]

	work   []Affine[E]
	start  []int // of each run in work
	length []int
	first  []int // bucket of each run
	den    []E
	before []E
}

func (p *pippenger[E, F]) adder() *adder[E, F] {
	return &adder[E, F]{c: p.c, points: p.points}
}

// reduce adds the entries [a, b) of a list, at least one. It returns the buckets met
// and their sums, valid until the next call.
func (r *adder[E, F]) reduce(s sorted, a, b int) ([]int, []Affine[E]) {
	r.work, r.start, r.length, r.first = r.work[:0], r.start[:0], r.length[:0], r.first[:0]
	// The first bucket that ends after a.
	bucket, _ := slices.BinarySearchFunc(s.ends, uint32(a), func(end, at uint32) int {
		if end <= at {
			return -1
		}
		return 1
	})
	for at := a; at < b; bucket++ {
		end := min(int(s.ends[bucket]), b)
		if end <= at {
			continue
		}
		from := len(r.work)
		for _, e := range s.entries[at:end] {
			q := r.points[e&^sign]
			if r.c.IsInfinity(&q) {
				continue
			}
			if e&sign != 0 {
				q = r.c.Neg(q)
			}
			r.work = append(r.work, q)
		}
		if n := len(r.work) - from; n > 0 {
			r.start, r.length, r.first = append(r.start, from), append(r.length, n), append(r.first, bucket)
		}
		at = end
	}
	for r.level() {
	}
	for k, from := range r.start {
		r.work[k] = r.work[from]
	}
	return r.first, r.work[:len(r.start)]
}

// level adds neighbours of every run and says whether a run is longer than one still.
func (r *adder[E, F]) level() bool {
	r.den = r.den[:0]
	for k, from := range r.start {
		for i := 0; i+1 < r.length[k]; i += 2 {
			r.den = append(r.den, r.denominator(&r.work[from+i], &r.work[from+i+1]))
		}
	}
	if len(r.den) == 0 {
		return false
	}
	if len(r.before) < len(r.den) {
		r.before = make([]E, len(r.den))
	}
	batchInvert[E, F](r.den, r.before)
	at := 0
	for k, from := range r.start {
		n := r.length[k]
		for i := 0; i+1 < n; i += 2 {
			r.work[from+i/2] = r.sum(&r.work[from+i], &r.work[from+i+1], &r.den[at])
			at++
		}
		if n%2 == 1 {
			r.work[from+n/2] = r.work[from+n-1]
		}
		r.length[k] = (n + 1) / 2
	}
	return true
}

// denominator of the slope through two points: 0 if their sum needs no slope.
func (r *adder[E, F]) denominator(p, q *Affine[E]) E {
	var d E
	if r.c.IsInfinity(p) || r.c.IsInfinity(q) {
		return d
	}
	F(&d).Sub(&q.X, &p.X)
	if F(&d).IsZero() && F(&p.Y).Equal(&q.Y) {
		F(&d).Double(&p.Y)
	}
	return d
}

// sum of two points, with the inverse of their slope's denominator.
func (r *adder[E, F]) sum(p, q *Affine[E], inv *E) Affine[E] {
	if r.c.IsInfinity(p) {
		return *q
	}
	if r.c.IsInfinity(q) {
		return *p
	}
	var l, t E
	var out Affine[E]
	if F(inv).IsZero() {
		return out // opposite points, or one of order two twice
	}
	if F(&p.X).Equal(&q.X) {
		F(&t).Square(&p.X)
		F(&l).Double(&t)
		F(&l).Add(&l, &t)
		F(&l).Add(&l, &r.c.A)
	} else {
		F(&l).Sub(&q.Y, &p.Y)
	}
	F(&l).Mul(&l, inv)
	F(&out.X).Square(&l)
	F(&out.X).Sub(&out.X, &p.X)
	F(&out.X).Sub(&out.X, &q.X)
	F(&t).Sub(&p.X, &out.X)
	F(&t).Mul(&t, &l)
	F(&out.Y).Sub(&t, &p.Y)
	return out
}

// AddToAll sets to[i] to from[i] + q, with one inversion for all. room is for at least
// twice as many elements.
func (c *Curve[E, F]) AddToAll(to, from []Affine[E], q *Affine[E], room []E) {
	r := adder[E, F]{c: c}
	den, before := room[:len(to)], room[len(to):2*len(to)]
	for i := range from {
		den[i] = r.denominator(&from[i], q)
	}
	batchInvert[E, F](den, before)
	for i := range from {
		to[i] = r.sum(&from[i], q, &den[i])
	}
}

// AddEach adds with[i] to to[i], with one inversion for all. room is for at least twice as
// many elements.
func (c *Curve[E, F]) AddEach(to, with []Affine[E], room []E, r *Room[E]) {
	den, before := room[:len(to)], room[len(to):2*len(to)]
	var none E
	for i := range to {
		p, q := &to[i], &with[i]
		if c.IsInfinity(p) || c.IsInfinity(q) {
			den[i] = none
			continue
		}
		d := F(&den[i])
		if d.Sub(&q.X, &p.X); d.IsZero() && F(&p.Y).Equal(&q.Y) {
			d.Double(&p.Y)
		}
	}
	batchInvert[E, F](den, before)
	for i := range to {
		p, q, inv := &to[i], &with[i], F(&den[i])
		switch {
		case c.IsInfinity(q):
			continue
		case c.IsInfinity(p):
			*p = *q
			continue
		case inv.IsZero():
			*p = Affine[E]{} // opposite points, or one of order two twice
			continue
		}
		l, t := F(&r.a), F(&r.b)
		if F(&p.X).Equal(&q.X) {
			t.Square(&p.X)
			l.Double(t)
			l.Add(l, t)
			l.Add(l, &c.A)
		} else {
			l.Sub(&q.Y, &p.Y)
		}
		l.Mul(l, &den[i])
		t.Square(l)
		t.Sub(t, &p.X)
		t.Sub(t, &q.X) // the sum's x
		F(&p.X).Sub(&p.X, t)
		l.Mul(l, &p.X)
		F(&p.Y).Sub(l, &p.Y)
		p.X = r.b
	}
}
