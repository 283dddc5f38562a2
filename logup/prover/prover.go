// Package prover makes the proofs that package logup verifies, on a device.
//
// The whole tree is built first, from the leaves up, and kept; then its layers
// are proved from the root down without waiting for the device. On the CPU that
// is package sumcheck's prover, layer by layer; on a device it has kernels of its
// own (device.go).
package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

// Leaves are 2^n fractions. Numerators are over the prime field (Base), over
// the extension (Ext), or all 1 (neither is set). Leaves are read, not written.
type Leaves struct {
	Base device.Buffer[m31.Element]
	Ext  device.Buffer[m31.QM31]
	Den  device.Buffer[m31.QM31]
}

func (l Leaves) check(n int) error {
	if n < 0 || n > logup.MaxVars {
		return fmt.Errorf("%w: %d, at most %d", logup.ErrDepth, n, logup.MaxVars)
	}
	b, e := l.Base.Len(), l.Ext.Len()
	if l.Den.Len() != 1<<n || b+e != 0 && (b+e != 1<<n || b != 0 && e != 0) {
		return fmt.Errorf("%w: %d base and %d extension numerators, %d denominators for depth %d", logup.ErrDepth, b, e, l.Den.Len(), n)
	}
	return nil
}

// layer is the 2^k fractions of one layer; num is as in Leaves.
type layer struct{ num, den sumprover.Table }

// factors are the layer's tables for the sum-check of the layer above.
func (l layer) factors() []sumprover.Table {
	t := make([]sumprover.Table, 0, 4)
	for _, x := range []sumprover.Table{l.num, l.den} {
		if x.Stride == 1 { // all ones: half as many stand for both
			t = append(t, x, x)
			continue
		}
		for bit := range 2 {
			y := sumprover.Table{Stride: 2}
			if n := x.Base.Len(); n > 0 {
				y.Base = x.Base.Slice(bit, n)
			} else {
				y.Ext = x.Ext.Slice(bit, x.Ext.Len())
			}
			t = append(t, y)
		}
	}
	return t
}

// buffers of one proof.
type buffers struct {
	q      *device.Queue
	tr     *transcript.Transcript
	layers []layer
	owned  []interface{ Free() }
}

func alloc[T any](r *buffers, n int) (device.Buffer[T], error) {
	b, err := device.Alloc[T](r.q, n)
	r.owned = append(r.owned, b)
	return b, err
}

func (r *buffers) free() {
	for _, b := range r.owned {
		b.Free()
	}
}

// Prove proves the tree of 2^n leaves. It does not check that the fractions sum
// to zero; if they do not, Verify says so. The claim is on the leaves. tr must be
// where the verifier's transcript is when it calls logup.Verify; FromHost of package
// transcript/prover takes one there from the host. Leaves that do not fit n are a
// logup.ErrDepth. Prove waits for the device to read the proof. It takes
// 2^n*32 bytes for the tree, and on the CPU 2^n*20 more for the last layer.
func Prove(q *device.Queue, tr *transcript.Transcript, n int, leaves Leaves) (*logup.Proof, *logup.Claim, error) {
	return prove(q, tr, n, leaves, defaultSizes)
}

func prove(q *device.Queue, tr *transcript.Transcript, n int, leaves Leaves, s sizes) (*logup.Proof, *logup.Claim, error) {
	if err := leaves.check(n); err != nil {
		return nil, nil, err
	}
	out, err := device.Alloc[m31.QM31](q, Elements(n))
	if err != nil {
		return nil, nil, fmt.Errorf("logup: proof: %w", err)
	}
	defer out.Free()
	if err := run(q, tr, n, leaves, out, s); err != nil {
		return nil, nil, err
	}
	host, err := out.Read(q)
	if err != nil {
		return nil, nil, fmt.Errorf("logup: read the proof: %w", err)
	}
	return Decode(n, host)
}

// Elements is the length of what Run leaves for a tree of 2^n leaves. The last
// n elements are the claim's point.
func Elements(n int) int { return words(n) + points(n) }

// Run is Prove on the device alone: what Decode makes the proof of is left in
// out, of Elements(n). It does not wait for the device.
func Run(q *device.Queue, tr *transcript.Transcript, n int, leaves Leaves, out device.Buffer[m31.QM31]) error {
	if err := leaves.check(n); err != nil {
		return err
	}
	if out.Len() != Elements(n) {
		return fmt.Errorf("%w: %d elements for the proof, want %d", logup.ErrDepth, out.Len(), Elements(n))
	}
	return run(q, tr, n, leaves, out, defaultSizes)
}

func run(q *device.Queue, tr *transcript.Transcript, n int, leaves Leaves, out device.Buffer[m31.QM31], s sizes) error {
	if err := errors.Join(tr.Use(q), leaves.Base.Use(q), leaves.Ext.Use(q), leaves.Den.Use(q), out.Use(q)); err != nil {
		return fmt.Errorf("logup: %w", err)
	}
	r := &buffers{q: q, tr: tr}
	defer r.free()
	words := words(n)
	if !q.OnHost() {
		d := &onDevice{sizes: s, q: q, tr: tr, n: n, words: out.Slice(0, words), points: out.Slice(words, out.Len())}
		return d.run(r, leaves)
	}
	if err := r.build(n, leaves); err != nil {
		return fmt.Errorf("logup: tree: %w", err)
	}
	return r.prove(n, out.Slice(0, words), out.Slice(words, out.Len()))
}

// Decode is the proof of a tree of 2^n leaves, and the claim on the leaves, from
// what Run has left. The proof shares its memory.
func Decode(n int, host []m31.QM31) (*logup.Proof, *logup.Claim, error) {
	if n < 0 || n > logup.MaxVars || len(host) != Elements(n) {
		return nil, nil, fmt.Errorf("%w: %d, and %d elements", logup.ErrDepth, n, len(host))
	}
	proof := &logup.Proof{P: host[0], Q: host[1], Layers: make([]*sumcheck.Proof, n)}
	claim := &logup.Claim{P: host[0], Q: host[1], Point: []m31.QM31{}}
	at := host[2:words(n)]
	for k := range n {
		layer := &sumcheck.Proof{Rounds: at[: 3*k : 3*k], Evals: at[3*k : 3*k+4 : 3*k+4]}
		proof.Layers[k], at = layer, at[3*k+4:]
	}
	if n > 0 {
		claim.Point = host[len(host)-n:]
		claim.P, claim.Q = merge(proof.Layers[n-1].Evals, claim.Point[n-1])
	}
	return proof, claim, nil
}

// merge is the claim on a layer from its sum-check's evaluations.
func merge(e []m31.QM31, tau m31.QM31) (p, q m31.QM31) {
	return e[0].Add(tau.Mul(e[1].Sub(e[0]))), e[2].Add(tau.Mul(e[3].Sub(e[2])))
}

// build fills r.layers, root first, on the CPU.
func (r *buffers) build(n int, leaves Leaves) error {
	r.layers = make([]layer, n+1)
	r.layers[n] = layer{sumprover.Table{Base: leaves.Base, Ext: leaves.Ext}, sumprover.Ext(leaves.Den)}
	if leaves.Base.Len()+leaves.Ext.Len() == 0 {
		ones, err := alloc[m31.Element](r, max(1, 1<<n/2))
		if err != nil {
			return err
		}
		if err := ones.Fill(r.q, 1); err != nil {
			return err
		}
		r.layers[n].num = sumprover.Table{Base: ones, Stride: 1}
	}
	for k := n - 1; k >= 0; k-- {
		p, err := alloc[m31.QM31](r, 1<<k)
		if err != nil {
			return err
		}
		q, err := alloc[m31.QM31](r, 1<<k)
		if err != nil {
			return err
		}
		r.layers[k] = layer{sumprover.Ext(p), sumprover.Ext(q)}
		if err := add(r.q, p, q, r.layers[k+1]); err != nil {
			return err
		}
	}
	return nil
}

// prove runs the protocol on the CPU: words receives the root and each layer's messages
// and evaluations, points each layer's point followed by tau.
func (r *buffers) prove(n int, words, points device.Buffer[m31.QM31]) error {
	root := words.Slice(0, 2)
	if err := copyRoot(r.q, root, r.layers[0]); err != nil {
		return fmt.Errorf("logup: root: %w", err)
	}
	if err := r.tr.Absorb(device.View[m31.Element](root)); err != nil {
		return fmt.Errorf("logup: root: %w", err)
	}
	small, err := alloc[m31.QM31](r, 6)
	if err != nil {
		return fmt.Errorf("logup: challenges: %w", err)
	}
	one := m31.OneQM31()
	if err := small.Slice(0, 2).CopyFrom(r.q, []m31.QM31{one, one}); err != nil {
		return fmt.Errorf("logup: coefficients: %w", err)
	}
	// drawn receives tau of the layer before and lambda.
	coeffs, value, drawn := small.Slice(0, 3), small.Slice(3, 4), small.Slice(4, 6)
	c := claimed{evals: root}
	words = words.Slice(2, words.Len())
	for k := range n {
		out := sumprover.Output{Rounds: words.Slice(0, 3*k), Evals: words.Slice(3*k, 3*k+4), Point: points.Slice(0, k)}
		in := sumprover.Instance{Shape: logup.LayerShape(k), Tables: r.layers[k+1].factors(), Point: c.point, Coeffs: coeffs}
		if err := r.layer(in, c, value, drawn, out); err != nil {
			return fmt.Errorf("logup: layer %d: %w", k, err)
		}
		c = claimed{evals: out.Evals, point: points.Slice(0, k+1)}
		words, points = words.Slice(3*k+4, words.Len()), points.Slice(k+1, points.Len())
	}
	if n == 0 {
		return nil
	}
	return r.tr.Challenge(c.point.Slice(n-1, n)) // the last tau
}

// claimed is what a layer's claim comes from: the root, or the evaluations that
// ended the layer above, to be merged at tau, the point's last coordinate.
type claimed struct{ evals, point device.Buffer[m31.QM31] }

// layer draws tau and lambda, forms the claim on a layer, and proves it.
func (r *buffers) layer(in sumprover.Instance, c claimed, value, drawn device.Buffer[m31.QM31], out sumprover.Output) error {
	if k := c.point.Len(); k == 0 {
		drawn = drawn.Slice(1, 2) // no tau before the root
	}
	if err := r.tr.Challenge(drawn); err != nil {
		return err
	}
	claim(value, c, drawn, in.Coeffs.Slice(2, 3))
	return sumprover.Run(r.q, r.tr, []sumprover.Instance{in}, value, out)
}
