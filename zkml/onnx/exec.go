package onnx

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Run evaluates the model on its inputs and returns the elements of every value, indexed like Model.Values. Each operation is computed
// from float32 operands with sums in float64, and its result rounded to float32; integers are exact. No operation here depends on
// fused multiply-add, so sums agree on all machines.
func (m *Model) Run(inputs []*Tensor) ([]*Tensor, error) {
	out := make([]*Tensor, len(m.Values))
	err := m.Visit(inputs, func(id int, t *Tensor) error {
		out[id] = t
		return nil
	})
	if err != nil {
		return nil, err
	}
	for id := range m.Values {
		if out[id] == nil {
			out[id] = m.Values[id].Const
		}
	}
	return out, nil
}

// RunOne is Run for a model with one input, with float64 in and out; constants are left out.
func (m *Model) RunOne(x []float64) ([][]float64, error) {
	if len(m.Inputs) != 1 {
		return nil, fmt.Errorf("one input given, the model has %d", len(m.Inputs))
	}
	out := make([][]float64, len(m.Values))
	return out, m.Visit([]*Tensor{m.Values[m.Inputs[0]].Tensor(x)}, func(id int, t *Tensor) error {
		out[id] = t.Float64s()
		return nil
	})
}

// Visit is Run for models whose values do not fit memory together: it shows every input and every result once, in order. The tensors may
// be kept but not changed.
func (m *Model) Visit(inputs []*Tensor, visit func(id int, t *Tensor) error) error {
	if err := m.checkInputs(inputs); err != nil {
		return err
	}
	values := make([]*Tensor, len(m.Values))
	left := make([]int, len(m.Values))
	for id, uses := range m.Uses() {
		left[id] = len(uses)
	}
	for i, id := range m.Inputs {
		values[id] = inputs[i]
		if err := visit(id, inputs[i]); err != nil {
			return err
		}
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		operands := make([]*Tensor, len(n.Inputs))
		for k, id := range n.Inputs {
			if operands[k] = m.Values[id].Const; operands[k] == nil {
				operands[k] = values[id]
			}
		}
		out, err := n.evaluate(operands, &m.Values[n.Output])
		if err != nil {
			return fmt.Errorf("node %s (%s): %w", Quote(n.Name), n.Origin, err)
		}
		values[n.Output] = out
		if err := visit(n.Output, out); err != nil {
			return err
		}
		for _, id := range n.Inputs {
			if left[id]--; left[id] == 0 {
				values[id] = nil
			}
		}
	}
	return nil
}

// checkInputs checks counts, kinds and ranges of the inputs' elements.
func (m *Model) checkInputs(inputs []*Tensor) error {
	if len(inputs) != len(m.Inputs) {
		return fmt.Errorf("%d inputs given, the model has %d", len(inputs), len(m.Inputs))
	}
	for i, id := range m.Inputs {
		v, t := &m.Values[id], inputs[i]
		if t == nil || t.Len() != elements(v.Shape) {
			n := 0
			if t != nil {
				n = t.Len()
			}
			return fmt.Errorf("model input %s: %d values, expected %d for shape %v", Quote(v.Name), n, elements(v.Shape), v.Shape)
		}
		if v.Int != (t.Ints != nil) {
			return fmt.Errorf("model input %s: real numbers and integers are mixed up", Quote(v.Name))
		}
		for k, x := range t.Real {
			if !finite(x) {
				return fmt.Errorf("model input %s, element %d is %g", Quote(v.Name), k, x)
			}
		}
		for k, x := range t.Ints {
			if x < v.Lo || x > v.Hi {
				return fmt.Errorf("model input %s, element %d is %d, expected %d to %d", Quote(v.Name), k, x, v.Lo, v.Hi)
			}
		}
	}
	return nil
}

func finite(x float32) bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }

// evaluate computes one node into a tensor of the given value's shape.
func (n *Node) evaluate(in []*Tensor, v *Value) (*Tensor, error) {
	if n.Op == OpReshape {
		return &Tensor{Shape: v.Shape, Real: in[0].Real, Ints: in[0].Ints}, nil
	}
	out := v.blank(elements(v.Shape))
	switch n.Op {
	case OpEinsum:
		newContraction(n.Attr.Labels, in, v.Shape).run(in, out)
	case OpAdd, OpSub, OpMul, OpDiv, OpMin, OpMax:
		evaluatePair(n.Op, in, out)
	case OpUnary:
		evaluateUnary(&n.Attr, in[0].Real, out.Real)
	case OpSelect:
		evaluateSelect(in, out)
	case OpRearrange:
		evaluateRearrange(&n.Attr, in[0], out)
	case OpConcat:
		evaluateConcat(n.Attr.Axis, in, out)
	case OpReduceSum, OpReduceMax:
		evaluateReduce(n.Op, n.Attr.Axes, in[0], out)
	case OpSoftmax:
		evaluateSoftmax(n.Attr.Axes, in[0], out.Real)
	case OpNorm:
		evaluateNorm(&n.Attr, in[0], out.Real)
	case OpEmbed:
		evaluateEmbed(in[0].Ints, in[1], out)
	case OpQuantise:
		evaluateQuantise(&n.Attr, in[0], out.Ints)
	case OpDequantise:
		evaluateDequantise(&n.Attr, in[0], out.Real)
	case OpArgMax:
		evaluateArgMax(&n.Attr, in[0], out.Ints)
	case OpTable:
		evaluateTable(n.Attr.Table, in, out)
	default:
		return nil, fmt.Errorf("operation %s has no evaluation", n.Op)
	}
	return out, n.checkFinite(in, out.Real)
}

// checkFinite refuses NaN, and infinities that do not come from an operand: a mask of minus infinity may pass through sums, selections
// and rearrangements until a Softmax ends it.
func (n *Node) checkFinite(in []*Tensor, out []float32) error {
	var nan, infinite atomic.Bool
	parallel(len(out), 1<<14, func(lo, hi int) {
		for _, x := range out[lo:hi] {
			if x-x != 0 {
				if math.IsNaN(float64(x)) {
					nan.Store(true)
				}
				infinite.Store(true)
			}
		}
	})
	if nan.Load() {
		return errors.New("the result is not a number")
	}
	if !infinite.Load() {
		return nil
	}
	switch n.Op {
	case OpAdd, OpSub, OpSelect, OpRearrange, OpConcat, OpMin, OpMax, OpReduceMax:
		for _, t := range in {
			if slices.ContainsFunc(t.Real, func(x float32) bool { return !finite(x) }) {
				return nil
			}
		}
		if n.Op == OpRearrange && math.IsInf(n.Attr.Fill, 0) {
			return nil
		}
	}
	return errors.New("the result is not finite in float32")
}

// parallel calls f on ranges that cover [0, n), on all processors when n exceeds the grain.
func parallel(n, grain int, f func(lo, hi int)) {
	workers := min(runtime.GOMAXPROCS(0), (n+grain-1)/grain)
	if workers <= 1 {
		f(0, n)
		return
	}
	// A few ranges for each worker even out their speeds.
	step := max(grain, (n+4*workers-1)/(4*workers))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for {
				lo := int(next.Add(int64(step))) - step
				if lo >= n {
					return
				}
				f(lo, min(lo+step, n))
			}
		})
	}
	wait.Wait()
}
