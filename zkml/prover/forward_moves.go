package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// rearranged gathers every entry from its place.
func (s *session) rearranged(o *opLayout, op graph.Rearrange) error {
	x, out := s.polys[op.X], s.polys[op.Out]
	r := &o.rearrange
	a, to := x.Host(), out.Host()
	// Entries of a run differ in one thing: the axis that stays, or the index of
	// one group.
	run, step := runOf(r.stay)
	run, last := min(run, len(to)), -1
	for g := range r.groups {
		if n, st := runOf(r.groups[g].segs); st == 1 {
			last, run = g, min(run, n)
		} else {
			run = min(run, n)
		}
	}
	return s.q.Parallel(len(to)/run, max(1, 1<<13/run), func(lo, hi int) {
		for i := lo * run; i < hi*run; i += run {
			part := to[i : i+run]
			at, zero := gather(i, r.stay), false
			for g := range r.groups {
				if g != last {
					v := int(r.groups[g].from[gather(i, r.groups[g].segs)])
					zero = zero || v < 0
					at += v
				}
			}
			switch {
			case zero:
				clear(part)
			case last >= 0:
				first := gather(i, r.groups[last].segs)
				for k, v := range r.groups[last].from[first : first+run] {
					if part[k] = 0; v >= 0 {
						part[k] = a[at+int(v)]
					}
				}
			case step == 1:
				copy(part, a[at:at+run])
			default:
				for k := range part {
					part[k] = a[at]
				}
			}
		}
	})
}

// reshape copies where the padded layouts agree, else moves every element to
// its place in a zeroed tensor.
func (s *session) reshape(op graph.Reshape) error {
	from, to := &s.plan.Polys[op.X], &s.plan.Polys[op.Out]
	x, out := s.polys[op.X], s.polys[op.Out]
	if graph.ReshapeIsFree(from.Shape, to.Shape) {
		return device.Copy(s.q, out, x)
	}
	if err := out.Zero(s.q); err != nil {
		return err
	}
	n := graph.Elements(from.Shape)
	a, b := x.Host(), out.Host()
	return s.q.Parallel(n, 1<<12, func(lo, hi int) {
		for e := lo; e < hi; e++ {
			b[graph.PaddedIndex(to.Shape, e)] = a[graph.PaddedIndex(from.Shape, e)]
		}
	})
}
