package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
)

// add sums pairs of the layer below: p[x] = p0 q1 + p1 q0, d[x] = q0 q1.
func add(q *device.Queue, p, d device.Buffer[m31.QM31], below layer) error {
	n := p.Len()
	num, den := below.num, below.den.Ext
	ones := num.Stride == 1
	po, do, y := p.Host(), d.Host(), den.Host()
	base, ext := num.Base.Host(), num.Ext.Host()
	return q.Parallel(n, 1024, func(lo, hi int) {
		// Stretches of the pairs' halves, brought together.
		var q0, q1, e0, e1 [addSpan]m31.QM31
		var b0, b1 [addSpan]m31.Element
		for ; lo < hi; lo += addSpan {
			k := min(addSpan, hi-lo)
			p, d, q0, q1 := po[lo:lo+k], do[lo:lo+k], q0[:k], q1[:k]
			for i := range q0 {
				q0[i], q1[i] = y[2*(lo+i)], y[2*(lo+i)+1]
			}
			m31.MulVecQM31(d, q0, q1)
			switch {
			case ones:
				m31.AddVecQM31(p, q0, q1)
				continue
			case base != nil:
				for i := range q0 {
					b0[i], b1[i] = base[2*(lo+i)], base[2*(lo+i)+1]
				}
				m31.MulVecBase(q1, b0[:k], q1)
				m31.MulVecBase(q0, b1[:k], q0)
			default:
				for i := range q0 {
					e0[i], e1[i] = ext[2*(lo+i)], ext[2*(lo+i)+1]
				}
				m31.MulVecQM31(q1, e0[:k], q1)
				m31.MulVecQM31(q0, e1[:k], q0)
			}
			m31.AddVecQM31(p, q0, q1)
		}
	})
}

// addSpan fractions are added at a time.
const addSpan = 128

// copyRoot writes a one-node layer's numerator and denominator.
func copyRoot(q *device.Queue, out device.Buffer[m31.QM31], root layer) error {
	if err := device.Copy(q, out.Slice(1, 2), root.den.Ext); err != nil {
		return err
	}
	if root.num.Ext.Len() == 1 {
		return device.Copy(q, out.Slice(0, 1), root.num.Ext)
	}
	// A word of the prime field, followed by three zeros.
	words := device.View[m31.Element](out.Slice(0, 1))
	if err := words.Zero(q); err != nil {
		return err
	}
	return device.Copy(q, words.Slice(0, 1), root.num.Base)
}

// claim writes p + lambda*q, where (p, q) is the root or the four evaluations
// merged at tau. drawn holds lambda, after tau unless at the root; they go to
// the point and to the coefficients, where the proof looks for them.
func claim(value device.Buffer[m31.QM31], c claimed, drawn, lambda device.Buffer[m31.QM31]) {
	var tau device.Buffer[m31.QM31]
	if k := c.point.Len(); k > 0 {
		tau = c.point.Slice(k-1, k)
	}
	e, d := c.evals.Host(), drawn.Host()
	p, den := e[0], e[1]
	if tau.Len() == 1 {
		tau.Host()[0] = d[0]
		p, den = merge(e, d[0])
	}
	lambda.Host()[0] = d[len(d)-1]
	value.Host()[0] = p.Add(d[len(d)-1].Mul(den))
}
