package resident

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
)

// Queries are a proving key's points: P of the first group and Q of the second. They must
// not change before Close.
type Queries[P, Q, S any] struct {
	G1 *msm.Curve[P, S]
	G2 *msm.Curve[Q, S]

	A, B []P
	B2   []Q
	K, Z []P

	// Wires that are not in A, and not in B.
	InfinityA, InfinityB []bool
	// K's wires, where the key tells; else proofs do.
	KnownK *List

	// The domain, with the generator of its coset.
	N                 uint64
	Generator, Coset  *big.Int
	WithoutTransforms bool // for tests
}

// query is one of the lists of points.
type query int

const (
	queryA query = iota
	queryB
	queryB2
	queryK
	queryZ
	queries
)

var (
	stages = [queries]string{"msm-a", "msm-b1", "msm-b2", "msm-k", "msm-z"}
	names  = [queries]string{"A", "B in G1", "B in G2", "K", "Z"}
)

// member is points of one query on one device.
type member[S any] interface {
	fromHost(ctx context.Context, scalars []S) (any, error)
	fromBuffer(ctx context.Context, scalars device.Buffer[S]) (any, error)
	prepare(ctx context.Context, scalars device.Buffer[S]) (*msm.Prepared[S], error)
	fromPrepared(ctx context.Context, x *msm.Prepared[S]) (any, error)
	memory(digits *msm.Digits) (msm.Memory, error)
	digits() *msm.Digits
	resident() bool
	length() int
	Close()
}

// bundle is queries whose points on a device are of the same wires, and share digits.
type bundle[S any] struct {
	list    List // of wires
	unknown bool // the list is the proof's to tell: of K, from its point number first on
	first   int
	index   device.Buffer[uint32] // the list on the device, counted from the share's first wire; empty for one without gaps
	members []member[S]
	queries []query
	digits  *msm.Digits // of all members, nil where each has its own
	need    int64       // bytes of all sums at a time
	lists   bool        // its scalars are sorted once

	mu    sync.Mutex
	known *List // the proofs' list that index is of
}

// share is what one device does.
type share[S any] struct {
	dev     *device.Device
	at      int
	lo, hi  int // wires
	zlo     int // coefficients of h
	zhi     int
	bundles []*bundle[S]
	z       member[S]
	zNeed   int64

	gate *semaphore.Weighted // bytes for sums
	room int64               // its capacity
}

// Key is a proving key's queries on the devices of a place. It is safe for concurrent
// proofs. Proofs take P of the first group and Q of the second, and scalars S.
type Key[P, Q, S any] struct {
	place    *Place
	q        Queries[P, Q, S]
	g1       group[P, S]
	g2       group[Q, S]
	shares   []*share[S]
	quotient *quotient[S] // nil: on the CPU
	proofs   chan struct{}
	fromHost bool // scalars do not fit the devices
	// Sums over A, B and K and the transforms' values do not fit the devices together: the
	// ones come after the others, which is faster than sums of few windows at a time.
	inTurn bool

	mu    sync.Mutex
	rings []ring // not in use
}

// Load puts a proving key's queries to a place.
func Load[A affine[P], B affine[Q], P, Q, S any](place *Place, q Queries[P, Q, S]) (*Key[P, Q, S], error) {
	k := &Key[P, Q, S]{place: place, q: q, g1: group[P, S]{q.G1, adder[A]()}, g2: group[Q, S]{q.G2, adder[B]()}}
	if err := k.load(); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// weights of the parts of a proof, in additions of a point of the first group for every
// point (bench/NOTES.md): sorting of digits, transforms and the last of them.
const (
	sortWeight      = 0.11
	transformWeight = 0.1
)

// second is what an addition in the second group takes.
func (k *Key[P, Q, S]) second() float64 {
	if k.q.G2.Group.Degree > k.q.G1.Group.Degree {
		return 3
	}
	return 1
}

func (k *Key[P, Q, S]) load() error {
	wires := len(k.q.InfinityA)
	from := wires
	if k.q.KnownK != nil {
		from = k.q.KnownK.From
	}
	m := members(k.q.InfinityA, k.q.InfinityB, from)
	devices := len(k.place.devices)
	if !k.place.OnCPU() && !k.q.WithoutTransforms {
		if err := k.newQuotient(); err != nil {
			return fmt.Errorf("transforms: %w", err)
		}
	}
	cost := [sets]float64{}
	for s := range cost {
		if set(s)&inA != 0 {
			cost[s] += 1 + sortWeight
		}
		if set(s)&inB != 0 {
			cost[s] += 1 + sortWeight + k.second()
		}
		if set(s)&inK != 0 {
			cost[s] += 1 + sortWeight
		}
	}
	counts := m.counts(0, wires)
	total := float64(len(k.q.Z)) * (1 + sortWeight)
	for s, n := range counts {
		total += cost[s] * float64(n)
	}
	weights := k.weights(total)
	ends := m.cut(cost, weights)
	sum, all := 0.0, 0.0
	for _, w := range weights {
		all += w
	}
	zlo, klo := 0, 0
	at := make([][queries]int, devices+1) // the first point of each query
	for i := range devices {
		sum += weights[i]
		s := &share[S]{dev: k.place.devices[i], at: i, lo: ends[i], hi: ends[i+1], zlo: zlo, zhi: int(float64(len(k.q.Z)) * sum / all)}
		if i == devices-1 {
			s.zhi = len(k.q.Z)
		}
		zlo = s.zhi
		c := m.counts(s.lo, s.hi)
		at[i+1] = at[i]
		at[i+1][queryA] += union(c, inA)
		at[i+1][queryB] += union(c, inB)
		at[i+1][queryK] += union(c, inK)
		if k.q.KnownK == nil {
			at[i][queryK] = klo
			if klo = int(float64(len(k.q.K)) * sum / all); i == devices-1 {
				klo = len(k.q.K)
			}
			at[i+1][queryK] = klo
		}
		k.shares = append(k.shares, s)
	}
	proofs := 8
	for i, s := range k.shares {
		n, err := k.fill(s, m, at[i], at[i+1])
		if err != nil {
			return err
		}
		proofs = min(proofs, n)
	}
	k.proofs = make(chan struct{}, proofs)
	return nil
}

// weights are how much of the points each device gets: such that all end together,
// transforms included, if every device gets some.
func (k *Key[P, Q, S]) weights(total float64) []float64 {
	out := make([]float64, len(k.place.devices))
	n := float64(k.q.N)
	all := total
	if k.quotient != nil {
		all += 6.3 * transformWeight * n
	}
	each := all / float64(len(out))
	for i := range out {
		out[i] = each
		if k.quotient != nil {
			out[i] -= k.quotient.load(i) * transformWeight * n
		}
		out[i] = max(out[i], 0)
	}
	sum := 0.0
	for _, w := range out {
		sum += w
	}
	if sum == 0 {
		for i := range out {
			out[i] = 1
		}
	}
	return out
}

// ways are how queries A, B and K may share lists of wires: each for itself, and so on.
var ways = [][]set{
	{inB, inA, inK},
	{inA | inB, inK},
	{inB, inA | inK},
	{inB | inK, inA},
	{inA | inB | inK},
}

// bestWay takes the way with the least work, for how many wires are in just the queries of
// each set: a list is sorted once, and all its members add up all its wires, at infinity
// where a wire is not in them.
func (k *Key[P, Q, S]) bestWay(counts [sets]int) []set {
	best, least := ways[0], 0.0
	for i, way := range ways {
		work := 0.0
		for _, of := range way {
			if k.q.KnownK == nil && of&inK != 0 && of != inK {
				work = -1
				break
			}
			each := sortWeight
			if of&inA != 0 {
				each++
			}
			if of&inB != 0 {
				each += 1 + k.second()
			}
			if of&inK != 0 {
				each++
			}
			work += each * float64(union(counts, of))
		}
		if work >= 0 && (i == 0 || work < least) {
			best, least = way, work
		}
	}
	return best
}

// fill loads a share: the points from numbers from to numbers to of A, B and K. It returns
// how many proofs the device has the memory for at a time.
func (k *Key[P, Q, S]) fill(s *share[S], m membership, from, to [queries]int) (int, error) {
	counts := m.counts(s.lo, s.hi)
	way := ways[0]
	if !edwards(k.q.G1.Group) && s.hi-s.lo >= k.place.share && !k.place.OnCPU() {
		way = k.bestWay(counts)
	}
	plan, err := k.plan(s, counts, way, to[queryK]-from[queryK])
	if err != nil {
		return 0, err
	}
	if !plan.whole && len(way) < len(ways[0]) {
		way = ways[0]
		if plan, err = k.plan(s, counts, way, to[queryK]-from[queryK]); err != nil {
			return 0, err
		}
	}
	if plan.fromHost {
		k.fromHost = true
	}
	if err := k.place.keep(s.at, plan.keep); err != nil {
		return 0, err
	}
	before := *k.place
	before.rooms = slices.Clone(before.rooms)
	whole, err := k.put(s, m, way, from, to)
	if err == nil && !whole && len(way) < len(ways[0]) {
		s.close()
		k.place.rooms, k.place.taken, k.place.short = before.rooms, before.taken, before.short
		_, err = k.put(s, m, ways[0], from, to)
	}
	if err != nil {
		return 0, err
	}
	return k.gate(s, plan)
}

// planned is what a share takes of its device's memory.
type planned struct {
	points   int64 // resident ones, with lists of wires
	each     int64 // of a proof: wires, scalars, values
	most     int64 // of the sum that takes the most
	keep     int64 // that points must leave
	whole    bool  // all points have room
	fromHost bool  // there is no room for wires and values
}

// plan works out a share's memory: the points of each bundle, a proof's scalars, and what
// sums take, all windows at once where there is room for that, and else one by one.
func (k *Key[P, Q, S]) plan(s *share[S], counts [sets]int, way []set, nK int) (p planned, err error) {
	size := int64(k.q.G1.Group.Scalar.Bytes())
	var least int64
	add := func(m msm.Memory, err2 error, lists int64) {
		if err == nil {
			err = err2
		}
		p.points += m.Points
		p.most = max(p.most, m.Sum+lists)
		least = max(least, m.Least)
	}
	o := msm.Options{Subgroup: msm.Asserted}
	p.each = int64(s.hi-s.lo) * size
	for _, of := range way {
		n := union(counts, of)
		if of == inK && k.q.KnownK == nil {
			n = nK
		}
		p.each += int64(n) * size
		p.points += int64(n) * 4
		if of&inA != 0 {
			m, err := k.q.G1.Memory(s.dev, n, o)
			add(m, err, 0)
		}
		if of&inB != 0 {
			m, err := k.q.G1.Memory(s.dev, n, o)
			add(m, err, 0)
			m, err = k.q.G2.Memory(s.dev, n, o)
			add(m, err, 0)
		}
		if of&inK != 0 {
			m, err := k.q.G1.Memory(s.dev, n, o)
			add(m, err, 0)
		}
	}
	m, err2 := k.q.G1.Memory(s.dev, s.zhi-s.zlo, o)
	add(m, err2, 0)
	if err != nil {
		return p, err
	}
	if k.quotient != nil {
		p.each += k.quotient.bytes(s.at)
		if s.at > 0 {
			p.each += int64(s.zhi-s.zlo) * size
		}
	}
	left, limited, err := free(s.dev)
	if err != nil || !limited {
		p.whole = true
		return p, err
	}
	switch {
	case p.points+p.each+p.most <= left:
		p.keep = p.each + p.most
	case p.each+least <= left:
		p.keep = p.each + least
	default:
		// Sums take scalars from the host, in chunks.
		p.fromHost, p.keep = true, left/5*2
	}
	p.whole = p.points <= left-p.keep && (!k.place.rooms[s.at].limited || p.points <= k.place.rooms[s.at].left)
	return p, nil
}

// put uploads a share's points, those first that cost the most upload for their work. It
// says whether all have found room.
func (k *Key[P, Q, S]) put(s *share[S], m membership, way []set, from, to [queries]int) (bool, error) {
	g1 := func(what query, all []P, from, to int, pad *padding, digits *msm.Digits) (member[S], error) {
		p, err := put(k.place, s.at, k.g1, all[from:to], pad, digits)
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", names[what], err)
		}
		return p, nil
	}
	var err error
	if s.z, err = g1(queryZ, k.q.Z, s.zlo, s.zhi, nil, nil); err != nil {
		return false, err
	}
	whole := s.z.resident()
	// K first, then A, then B.
	for _, first := range []set{inK, inA, inB} {
		for _, of := range way {
			if of&first == 0 || first != inK && of&inK != 0 || first == inB && of&inA != 0 {
				continue
			}
			b := &bundle[S]{unknown: of == inK && k.q.KnownK == nil, first: from[queryK]}
			s.bundles = append(s.bundles, b)
			n := to[queryK] - from[queryK]
			if !b.unknown {
				b.list = m.list(of, s.lo, s.hi)
				n = b.list.N
			}
			if err := k.indices(s, b); err != nil {
				return false, err
			}
			var digits *msm.Digits
			for _, x := range []struct {
				what query
				in   set
			}{{queryK, inK}, {queryA, inA}, {queryB, inB}, {queryB2, inB}} {
				if of&x.in == 0 {
					continue
				}
				var pad *padding
				if of != x.in {
					own := m.list(x.in, s.lo, s.hi)
					if own.N != n {
						pad = &padding{places(&own, &b.list), n}
					}
				}
				var p member[S]
				switch x.what {
				case queryK:
					p, err = g1(x.what, k.q.K, from[queryK], to[queryK], pad, digits)
				case queryA:
					p, err = g1(x.what, k.q.A, from[queryA], to[queryA], pad, digits)
				case queryB:
					p, err = g1(x.what, k.q.B, from[queryB], to[queryB], pad, digits)
				default:
					var p2 *points[Q, S]
					if p2, err = put(k.place, s.at, k.g2, k.q.B2[from[queryB]:to[queryB]], pad, digits); err != nil {
						err = fmt.Errorf("query %s: %w", names[x.what], err)
					}
					p = p2
				}
				if err != nil {
					return false, err
				}
				b.members, b.queries = append(b.members, p), append(b.queries, x.what)
				whole = whole && p.resident()
				if digits == nil && n >= k.place.share {
					digits = p.digits()
					b.digits = digits
				}
			}
		}
	}
	return whole, nil
}

// indices puts a bundle's list to the device.
func (k *Key[P, Q, S]) indices(s *share[S], b *bundle[S]) error {
	if b.unknown || b.list.Index == nil || k.place.OnCPU() || k.fromHost {
		return nil
	}
	var err error
	b.index, err = upload(s, &b.list)
	if errors.Is(err, device.ErrNoMemory) {
		k.fromHost = true
		return nil
	}
	return err
}

// upload puts a list to a share's device, counted from the share's first wire.
func upload[S any](s *share[S], l *List) (device.Buffer[uint32], error) {
	q, err := s.dev.NewQueue(context.Background())
	if err != nil {
		return device.Buffer[uint32]{}, err
	}
	defer q.Close()
	index := make([]uint32, l.N)
	for i, w := range l.Index {
		index[i] = w - uint32(s.lo)
	}
	out, err := device.Upload(q, index)
	if err == nil {
		err = q.Sync()
	}
	if err != nil {
		out.Free()
		return device.Buffer[uint32]{}, err
	}
	return out, nil
}

// gate works out which sums go on at a time, from the memory that is left.
func (k *Key[P, Q, S]) gate(s *share[S], p planned) (proofs int, err error) {
	left, limited, err := free(s.dev)
	if err != nil {
		return 0, err
	}
	if !limited {
		left = 1 << 62
	}
	// A proof more pays if its sums need not wait for those of others.
	proofs = 8
	if p.each > 0 {
		proofs = int(max(1, min(8, (left-2*p.most)/p.each)))
	}
	s.room = max(1, left-int64(proofs)*p.each)
	s.gate = semaphore.NewWeighted(s.room)
	for _, b := range s.bundles {
		resident := 0
		var lists, one int64 // one sum, with what all share
		for _, x := range b.members {
			m, err := x.memory(b.digits)
			if err != nil {
				return 0, err
			}
			b.need += m.Sum
			lists, one = m.Lists, max(one, m.Sum)
			if x.resident() {
				resident++
			} else {
				b.need += m.Points
			}
		}
		b.lists = resident == len(b.members) && resident > 1 && !k.place.OnCPU() && b.members[0].length() >= k.place.share
		if b.lists {
			b.need -= lists * int64(resident-1)
		}
		k.inTurn = k.inTurn || b.lists && one > s.room
		b.need = max(1, min(b.need, s.room))
	}
	m, err := s.z.memory(nil)
	if err != nil {
		return 0, err
	}
	s.zNeed = m.Sum
	if !s.z.resident() {
		s.zNeed += m.Points
	}
	s.zNeed = max(1, min(s.zNeed, s.room))
	return proofs, nil
}

func (s *share[S]) close() {
	for _, b := range s.bundles {
		for _, m := range b.members {
			m.Close()
		}
		b.index.Free()
	}
	s.bundles = nil
	if s.z != nil {
		s.z.Close()
		s.z = nil
	}
}

// Close gives the devices' memory back. No proof may be under way.
func (k *Key[P, Q, S]) Close() {
	if k == nil {
		return
	}
	for _, s := range k.shares {
		s.close()
	}
	k.quotient.close()
	for _, r := range k.rings {
		_ = r.Free() // a device that failed keeps it
	}
	k.rings = nil
}

// Are says whether the key's points are those of other queries, their very memory.
func (k *Key[P, Q, S]) Are(a, b, kk, z []P, b2 []Q) bool {
	return same(k.q.A, a) && same(k.q.B, b) && same(k.q.K, kk) && same(k.q.Z, z) && same(k.q.B2, b2)
}

func lengths(scalars, points int) error {
	return fmt.Errorf("%w: %d scalars for %d points", ErrInput, scalars, points)
}

func queryError(q query, err error) error {
	return fmt.Errorf("sum over query %s: %w", names[q], err)
}
